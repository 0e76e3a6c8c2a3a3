"""The columns of history tables that copy the field of the old key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import models
from django.db.migrations.state import ProjectState

from ...backfill.engines.mysql_tables import kept_assignments
from ...db import tables
from ..changes.moved import KeyCopy, source_of
from . import columns, fills


def add(editor: Any, before: ProjectState, after: ProjectState, copies: Iterable[KeyCopy]) -> None:
    """Add these columns, unless a killed run has, and copy the keys into them. A column that was
    added before the migration was edited is dropped first."""
    for each in copies:
        model = before.apps.get_model(each.model)
        _drop_another(editor, model, each)
        if each.old is not None:
            meta = after.apps.get_model(each.model)._meta
            copied, old = (meta.get_field(name) for name in (each.name, each.old_name))
            if not editor.collect_sql:
                identity = {"column": str(old.column), "field": source_of(each.old)}
                fills.remember_copy(each, identity, editor.connection.alias)
            _add(editor, model, copied, old)


def _drop_another(editor: Any, model: Any, copy: KeyCopy) -> None:
    """Drop a column that was added for another field, if it is there."""
    known = fills.copied(copy, editor.connection.alias)
    if known is None or (copy.old is not None and known["field"] == source_of(copy.old)):
        return
    if tables.has_column(editor.connection, model._meta.db_table, known["column"]):
        field = models.IntegerField(null=True, db_column=known["column"])
        field.set_attributes_from_name(copy.old_name)
        field.model = model
        columns.drop(editor, field)


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
