"""Checks of the actual columns and servers: an adopted table may differ from its model.

Run by ``check --database`` and by ``migrate``. A table that doesn't exist yet is fine, and Django
reports a server that doesn't answer.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.core.checks import WARNING, CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connections, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils.text import capfirst

from .. import conf
from ..db import tables, value
from ..fields import SortableIDField
from ..fields.of_model import usable_fields
from ..fields.storage import TextStorage, UUIDStorage, mariadb_sorts
from ..schema import stored_values
from ..schemes import TimeScheme
from . import message
from .definitions import check_generic_relations

_FIX_OF_TIMES = (
    "Find out who generated them. If all count from another epoch, set epoch_ms=. If their rows "
    "have such times, add 'sortable_ids.W011' to SILENCED_SYSTEM_CHECKS."
)
_FIX_OF_MOVE = (
    "If the times that the move took are right, add 'sortable_ids.W011' to SILENCED_SYSTEM_CHECKS. "
    "If not, undo the move by `manage.py migrate {app}` with the name of the migration before it, "
    "and move the key with other times, by --created-from."
)
_NO_DETAILS = SimpleNamespace(collation=None)
Pending = Callable[[], set[str]]
"""The apps with pending migrations, which are read when they are first asked for."""


def check_databases(
    app_configs: Any = None, databases: Sequence[str] | None = None, **_: Any
) -> list[CheckMessage]:
    """Problems in the databases with these aliases; for None, no database is queried."""
    return [problem for alias in databases or () for problem in _check_database(alias)]


def _check_database(alias: str) -> list[CheckMessage]:
    from ..migrating.unrecorded import pending_apps  # imports the backfill
    from ..models import BackfillRun

    pending = cache(partial(pending_apps, connections[alias]))
    try:
        problems = _problems(connections[alias], pending)
    except DatabaseError:
        return []
    is_refused = any(problem.is_serious() for problem in problems)
    if is_refused and BackfillRun._meta.app_label in pending():
        for problem in problems:  # `migrate` of this app must run, and mends none of them.
            problem.level = min(problem.level, WARNING)
    return problems


def _problems(connection: BaseDatabaseWrapper, pending: Pending) -> list[CheckMessage]:
    alias = connection.alias
    models = [model for model in apps.get_models() if router.allow_migrate_model(alias, model)]
    fields = usable_fields(models)
    from ..migrating.unrecorded import unrecorded_changes  # imports the backfill

    unrecorded = unrecorded_changes(connection)
    stopped = {name.lower() for change in unrecorded for name in change.fields}
    present = [field for field in fields if str(field).lower() not in stopped]
    keep = stored_values.KEEP_DEFAULT
    return [
        *_check_server(connection, fields),
        *_check_columns(connection, present, pending),
        *(
            message("W009", alias=alias, found=change.summary, command=change.command)
            for change in unrecorded
        ),
        *(
            message("E019", model._meta.auto_created, reason=capfirst(reason), fix=keep)
            for model, reason in stored_values.automatic_keys(connection)
        ),
        *(wrong for model in models for wrong in check_generic_relations(model, connection)),
        *_check_moved_keys(connection, pending),
    ]


def _check_moved_keys(connection: BaseDatabaseWrapper, pending: Pending) -> Iterator[CheckMessage]:
    """Keys that were moved, of models with a key that the table doesn't have."""
    moved = _moved(connection)
    for model in apps.get_models():
        key, table = model._meta.pk, model._meta.db_table
        is_moved = model._meta.label in moved and not isinstance(key, SortableIDField)
        if not is_moved or tables.kind(connection, table) != "table":
            continue
        column = tables.column_info(connection, table, str(key.column))
        is_key = tables.names_of(connection, table, str(key.column), primary_key=True)
        is_alike = column and tables.family(column.kind) == tables.family(key.db_type(connection))
        app_label = model._meta.app_label
        if not (is_key and is_alike) and app_label not in pending():
            yield message("E021", key, app=app_label)


def _moved(connection: BaseDatabaseWrapper) -> set[str]:
    from ..primary_keys import notes  # imports the backfill

    moves = (note for note in notes.written(connection) if not note.identity["backwards"])
    return {label for note in moves for label in notes.models_of(note)}


# Servers


def _check_server(
    connection: BaseDatabaseWrapper, fields: Sequence[SortableIDField]
) -> Iterator[CheckMessage]:
    if not connection.features.can_return_columns_from_insert:
        for field in fields:
            if field.primary_key and not field.generates_ids:
                yield message("E004", field, server=connection.display_name)
    if connection.vendor != "mysql":
        return
    yield from _check_mariadb(connection, fields)
    flush = value(connection, "SELECT @@innodb_flush_log_at_trx_commit")
    with suppress(ImproperlyConfigured):  # check_definitions reports it
        if flush != 1 and conf.worker() == conf.LEASE:
            yield message("W010", alias=connection.alias, value=flush)
    timed = any(isinstance(field.scheme, TimeScheme) for field in fields)
    needs_zones = settings.USE_TZ or settings.TIME_ZONE != "UTC"
    if timed and needs_zones and not connection.features.has_zoneinfo_database:
        yield message("W004", alias=connection.alias)


def _check_mariadb(
    connection: BaseDatabaseWrapper, fields: Sequence[SortableIDField]
) -> Iterator[CheckMessage]:
    native = [field for field in fields if isinstance(field.stored(connection), UUIDStorage)]
    if not native or not connection.features.has_native_uuid_field:
        return
    sorts_correctly = stored_values.sorts_uuids(connection)
    for field in native:
        if not mariadb_sorts(field.scheme):
            yield message("E005", field, title=field.scheme.title)
        elif not sorts_correctly:
            version = ".".join(map(str, connection.get_database_version()))
            yield message("E006", field, version=version)


# Columns


def _check_columns(
    connection: BaseDatabaseWrapper, fields: Sequence[SortableIDField], pending: Pending
) -> Iterator[CheckMessage]:
    @cache
    def columns(table: str) -> dict[str, Any]:
        if tables.kind(connection, table) != "table":
            return {}
        if connection.vendor == "sqlite":  # which has no widths
            return dict.fromkeys(tables.columns(connection, table), _NO_DETAILS)
        return tables.description(connection, table)

    for field in fields:
        name = tables.folded(connection, str(field.column))
        with suppress(DatabaseError):  # The user may have no right to read the table.
            column = columns(field.model._meta.db_table).get(name)
            problems = [] if column is None else [*_check_column(connection, field, column)]
            if problems and field.model._meta.app_label not in pending():
                yield from problems


def _check_column(
    connection: BaseDatabaseWrapper, field: SortableIDField, column: Any
) -> Iterator[CheckMessage]:
    stored = field.stored(connection)
    narrow = stored_values.too_narrow(connection, stored, column)
    if narrow:
        yield message("E008", field, found=narrow[0], needed=narrow[1], title=field.scheme.title)
    if isinstance(stored, TextStorage) and not stored_values.sorts(field, connection):
        collation = "collation, the database's default,"
        if column.collation:
            collation = f"collation {column.collation}"
        yield message("E007", field, collation=collation)
    values: list[Any] = []
    if not narrow:
        # The table may lack the key: its other problems are reported all the same.
        with suppress(DatabaseError), transaction.atomic(connection.alias):
            values = stored_values.values_of(field, connection)
    wrong, fix = stored_values.misfit(values, field, connection), ""
    if wrong and field.primary_key and field.model._meta.label in _moved(connection):
        # Times of a column, no other scheme: a warning, so that `migrate` can undo the move.
        wrong = stored_values.misfit(values, field, connection, late_share=1)
        fix = _FIX_OF_MOVE.format(app=field.model._meta.app_label)
    if wrong:
        found, advice = wrong
        yield message("E009", field, found=found, fix=advice or _fix_of_values(field, values))
    elif few := stored_values.unlikely(values, field, connection):
        yield message("W011", field, found=few, fix=fix or _FIX_OF_TIMES)


def _fix_of_values(field: SortableIDField, values: list[Any]) -> str:
    are_uuids = field.scheme.value_type is UUID and not isinstance(values[0], int)
    hint = " To read UUIDs of other versions, set accept_other_versions=True." * are_uuids
    ways = (
        "add a second field of the new scheme, fill it with `manage.py backfill_ids ... "
        "--convert-from`, and swap the two with SwapSortableID"
    )
    if field.primary_key:
        move = "manage.py backfill_ids --primary-key"
        ways = (
            f"move it by `{move}`. If you are moving it, continue with `{move} --write-migration`"
        )
    return f"Restore the field that generated them in the model; then {ways}.{hint}"
