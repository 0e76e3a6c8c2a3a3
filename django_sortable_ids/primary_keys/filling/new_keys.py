"""Gives every row the value that its key will get: in a column of its own, or in a map."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.db.migrations.operations import AddField
from django.db.migrations.state import ProjectState
from django.db.models import QuerySet

from ...backfill.planning import plan
from ...backfill.sources import every_row, find
from ...backfill.supervising import run
from ...backfill.target import Target
from ...backfill.writing import at_once
from ...db import tables
from ...models import BackfillRun, MoveNote
from ...schema.constraints import redefined
from ..changes import deleted, maps
from ..changes.graph import rendered
from ..changes.moved import KeyCopy, MovedKey
from ..engines import map_filling
from . import columns, fills

BATCH = 100_000
"""Rows in a transaction. Nobody else uses the tables, so nobody waits."""


def with_next_keys(state: ProjectState, moved: Sequence[MovedKey], vendor: str) -> ProjectState:
    """The state with a field or a map for the new keys of each model, and with the tables of keys
    of deleted rows."""
    filled = rendered(state)
    mapped = [each for each in moved if maps.is_mapped(each, filled.apps, vendor)]
    for key in moved:
        if key in mapped:
            continue
        unlike = ("primary_key", "serialize", "blank", "db_column")
        field = redefined(key.field, *unlike, null=True)
        AddField(key.model_key[1], key.next_name, field).state_forwards(key.model_key[0], filled)
    maps.add_models(filled, mapped, state)
    deleted.add_models(filled, moved, state)
    return filled


def add_columns(
    editor: Any, state: ProjectState, filled: ProjectState, moved: Iterable[MovedKey]
) -> None:
    """Add the columns of these fields, unless a killed run has. What was filled before the
    migration was edited is dropped first."""
    for key in moved:
        is_of_another = fills.is_of_another(key, editor.connection.alias)
        if is_of_another:
            _drop_deleted(editor, filled, key)
        if maps.model_of(filled.apps, key):
            _drop_column(editor, state, filled, key)
            if not editor.collect_sql:
                fills.remember(key, editor.connection.alias)
            continue
        _drop_map(editor, filled, key)
        model = filled.apps.get_model(key.model)
        field = model._meta.get_field(key.next_name)
        if is_of_another and _has_column(editor, field):
            columns.drop(editor, field)
        if not _has_column(editor, field):
            if not editor.collect_sql:
                forget([key], editor.connection.alias)
                fills.remember(key, editor.connection.alias)
            columns.add(editor, state.apps.get_model(key.model), field)


def _drop_column(editor: Any, state: ProjectState, filled: ProjectState, key: MovedKey) -> None:
    """Drop the column of a key that is mapped now."""
    table = filled.apps.get_model(key.model)._meta.db_table
    if tables.has_column(editor.connection, table, key.next_name):
        unmapped = with_next_keys(state, [key], "").apps.get_model(key.model)
        columns.drop(editor, unmapped._meta.get_field(key.next_name))


def _drop_map(editor: Any, filled: ProjectState, key: MovedKey) -> None:
    """Drop the map of a key that has a column now."""
    table = maps.table_of(filled.apps.get_model(key.model)._meta.db_table)
    if tables.kind(editor.connection, table):
        editor.execute(f"DROP TABLE {editor.quote_name(table)}")


def _drop_deleted(editor: Any, filled: ProjectState, key: MovedKey) -> None:
    table = editor.quote_name(deleted.model_of(filled.apps, key)._meta.db_table)
    editor.execute(f"DROP TABLE IF EXISTS {table}")


def _has_column(editor: Any, field: Any) -> bool:
    return tables.has_column(editor.connection, field.model._meta.db_table, str(field.column))


def fill_new_keys(
    moved: Iterable[MovedKey], filled: ProjectState, using: str, *, allow_triggers: bool
) -> None:
    """Fill the columns that ``add_columns`` added, by the same backfill as ``backfill_ids``, and
    the empty maps.

    Raises ``BackfillError`` for rows without a usable time.
    """
    checked: set[tuple[str, str]] = set()
    for key in moved:
        model = filled.apps.get_model(key.model)
        if (mapped := maps.model_of(filled.apps, key)) is not None:
            _fill_map(key, model, mapped, using, checked)
            continue
        field = model._meta.get_field(key.next_name)
        rows: QuerySet[Any] = QuerySet(model, using=using)
        missing = rows.filter(**{f"{key.next_name}__isnull": True})
        if not missing.exists():
            continue
        target = replace(
            find.of_source(model, field, key.given, using),
            on_null=key.on_null,
            on_out_of_range=key.on_out_of_range,
            allow_triggers=allow_triggers,
        )
        fill(target)


def _fill_map(
    key: MovedKey, model: Any, mapped: Any, using: str, checked: set[tuple[str, str]]
) -> None:
    """``checked`` are the tables and columns whose times were checked."""
    assert key.created_from is not None
    field = mapped._meta.get_field(maps.NEW_KEY)
    target = every_row.target_of(model, field, key.created_from, using)
    source = target.source.model._meta.db_table, str(target.source.column)
    map_filling.fill(target, mapped._meta.db_table, is_checked=source in checked)
    checked.add(source)


def fill(target: Target) -> None:
    """Fill a table that nobody else uses."""
    planned = plan.build(target, BATCH)
    if at_once.can_fill(target):
        at_once.fill(target)
    # Also the rows that the policies for times handle after all others.
    if target.without_id.exists():
        run.execute(planned)


def described(moved: Iterable[MovedKey], filled: ProjectState) -> Iterator[str]:
    """What ``fill_new_keys`` does, whose statements depend on the rows."""
    for key in moved:
        meta = filled.apps.get_model(key.model)._meta
        if mapped := maps.model_of(filled.apps, key):
            yield f"{mapped._meta.db_table} gets the new keys of {meta.db_table}"
        else:
            column = f"{meta.db_table}.{meta.get_field(key.next_name).column}"
            yield f"{column} gets new keys, {BATCH:,} rows in a transaction"


def forget(moved: Sequence[MovedKey], using: str, copies: Iterable[KeyCopy] = ()) -> None:
    """Delete the records of these backfills, whose columns are gone or stay."""
    labels = [f"{key.model}.{key.next_name}" for key in moved]
    labels += [deleted.label_of(key) for key in moved]
    labels += [*map(fills.target_of, moved), *map(fills.target_of, copies)]
    for records in (BackfillRun, MoveNote):
        records.objects.using(using).filter(target__in=labels).delete()
