"""Checks before a backfill writes anything: rows, times, keys, side effects."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import connections
from django.db.models import Count, IntegerField, Max, Min

from ..db.tables import begins_an_index, constraints, description, folded
from ..errors import BackfillError
from ..fields import LexicalSequenceField, SortableIDField
from ..fields.values.storage import UUIDStorage
from ..schema.stored_values import sorts, too_narrow
from .engines.base import Engine
from .sources.target import Target


def check_rows(
    target: Target,
    missing: int,
    engine: Engine,
    *,
    may_be_misread: bool,
    are_in_range: bool = False,
) -> None:
    """Raise ``BackfillError``, naming a row, if one of the ``missing`` rows can't get an id.

    ``are_in_range`` says that all of them have a time, in the scheme's range.
    """
    _check_periods(target)
    _check_unique(target)
    _check_numbers(target)
    _check_columns(target)
    engine.check_session(target)
    if may_be_misread:
        engine.check(target)
    target.source.check(target, missing, are_in_range=are_in_range)


def warnings(target: Target) -> Iterator[str]:
    """Facts that may surprise, but don't stop the backfill."""
    source = target.source
    if source.order != ("pk",) and source.indexed is not None and not _is_indexed(target):
        yield (
            f"no index begins with {source.field.column}, so each batch sorts the table; with many "
            f"rows, create one first"
        )
    yield from source.warnings(target)


def _check_periods(target: Target) -> None:
    field = target.field
    if isinstance(field, LexicalSequenceField) and field.scheme.template.is_dated:
        raise BackfillError(
            f"{target.label} counts in periods (template={field.scheme.template.text!r}), which "
            f"backfill_ids can't: assign the numbers in your own code, with "
            f"take(1, {target.using!r}, day)[0] of the field; nothing was written."
        )


def _check_unique(target: Target) -> None:
    """The rows are written by their keys, and a model may name columns that repeat."""
    columns = [str(field.column) for field in target.key_fields]
    connection = connections[target.using]
    of_key = {folded(connection, column) for column in columns}
    for each in constraints(connection, target.model._meta.db_table).values():
        of_index = {column and folded(connection, column) for column in each["columns"]}
        if (each["unique"] or each["primary_key"]) and of_index and of_index <= of_key:
            return
    names = [field.attname for field in target.key_fields]
    groups = target.rows.order_by().values(*names).annotate(sortable_ids_rows=Count("*"))
    if repeated := groups.filter(sortable_ids_rows__gt=1).first():
        raise BackfillError(
            f"{repeated.pop('sortable_ids_rows'):,} rows of {target.model._meta.label} have the "
            f"primary key {', '.join(map(str, repeated.values()))}, and no unique index is on "
            f"{', '.join(columns)}: set primary_key=True on the field that identifies the rows; "
            f"nothing was written."
        )


def _check_numbers(target: Target) -> None:
    """Django answers a query for a number beyond the range of its field without the database."""
    for field in target.key_fields:
        if not isinstance(field, IntegerField) or isinstance(field, SortableIDField):
            continue
        kind = field.get_internal_type()
        least, most = connections[target.using].ops.integer_field_range(kind)
        ends = target.rows.order_by().aggregate(least=Min(field.name), most=Max(field.name))
        for key in ends.values():
            if key is not None and not least <= key <= most:
                raise BackfillError(
                    f"{target.model._meta.label} {key}: a {kind} holds {least} to {most}, so "
                    f"Django finds no row with this key: set a field in the model that holds it, "
                    f"such as BigAutoField or PositiveBigIntegerField; nothing was written."
                )


def _check_columns(target: Target) -> None:
    """What ``check --database`` says of the column of the new ids, and of that of the old ones."""
    connection = connections[target.using]
    for field in (target.field, target.source.field):
        if not isinstance(field, SortableIDField):
            continue
        stored, table = field.stored(connection), field.model._meta.db_table
        if not sorts(field, connection):
            reason = (
                f"the collation of {field} does not sort ids by their bytes: alter the column to "
                f"the collation C on PostgreSQL, ascii_bin on MariaDB and MySQL, BINARY on SQLite"
            )
            if isinstance(stored, UUIDStorage):
                reason = (
                    f"MariaDB's type uuid rejects some ids of {field}, or does not sort them by "
                    f"their time: use storage='binary'"
                )
            raise BackfillError(f"{reason}; nothing was written.")
        column = description(connection, table).get(folded(connection, str(field.column)))
        if column and (narrow := too_narrow(connection, stored, column)):
            found, needed = narrow
            raise BackfillError(
                f"the column of {field} holds {found}, but a {field.scheme.title} needs {needed}: "
                f"widen it, or set storage= to the storage that it has; nothing was written."
            )


def _is_indexed(target: Target) -> bool:
    connection, field = connections[target.using], target.source.field
    return begins_an_index(connection, field.model._meta.db_table, str(field.column))


def check_side_effects(target: Target, engine: Engine) -> tuple[str, ...]:
    """Warnings; raise ``BackfillError``, naming each side effect, unless the target allows them."""
    effects, warnings = engine.side_effects(target)
    if effects and not target.allow_triggers:
        raise BackfillError(
            f"filling {target.label} changes more than its ids: {'; '.join(effects)}. Disable "
            f"this during the backfill, or allow it with --allow-triggers (in a migration: "
            f"allow_triggers=True of AddSortableID); nothing was written."
        )
    return (*(f"allowed side effect: {each}" for each in effects), *warnings)
