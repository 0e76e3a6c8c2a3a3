"""The columns of history tables that copy the field of the old key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.migrations.state import ProjectState

from ...backfill.engines.mysql_tables import kept_assignments
from ...db import tables
from ..changes.moved import KeyCopy
from . import columns


def add(editor: Any, before: ProjectState, after: ProjectState, copies: Iterable[KeyCopy]) -> None:
    """Add these columns, unless a killed run has, and copy the keys into them."""
    for each in copies:
        if each.old is not None:
            model = after.apps.get_model(each.model)
            fields = [model._meta.get_field(name) for name in (each.name, each.old_name)]
            _add(editor, before.apps.get_model(each.model), *fields)


def _add(editor: Any, model: Any, copied: Any, field: Any) -> None:
    table, connection = model._meta.db_table, editor.connection
    if not tables.has_column(connection, table, field.column):
        deferred = list(editor.deferred_sql)
        columns.add(editor, model, field)
        # Indexes are created at once: a killed run would forget those that are deferred.
        editor.deferred_sql[:] = deferred
    known = {each.lower() for each in tables.constraints(connection, table)}
    for statement in editor._field_indexes_sql(model, field):
        if str(statement.parts["name"]).strip('"`').lower() not in known:
            editor.execute(statement)
    quoted, old, key = map(editor.quote_name, (table, field.column, copied.column))
    kept = kept_assignments(connection, table)
    editor.execute(f"UPDATE {quoted} SET {old} = {key}{kept} WHERE {old} IS NULL", ())


def drop(editor: Any, state: ProjectState, copies: Iterable[KeyCopy]) -> None:
    """Drop these columns, unless a killed run has."""
    for field in _fields(state, copies):
        if tables.has_column(editor.connection, field.model._meta.db_table, field.column):
            columns.drop(editor, field)


def _fields(state: ProjectState, copies: Iterable[KeyCopy]) -> Iterator[Any]:
    for each in copies:
        if each.old is not None:
            yield state.apps.get_model(each.model)._meta.get_field(each.old_name)
