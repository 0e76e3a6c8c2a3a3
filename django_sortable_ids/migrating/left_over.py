"""What a move of primary keys leaves in the database if it is stopped before it changes a key: the
next move uses it or replaces it, and who wants no move drops it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.apps.registry import Apps
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader

from ..db import tables
from ..operations import MigratePrimaryKey
from ..primary_keys.changes import deleted, maps
from ..primary_keys.engines import mysql_exchange
from .unrecorded_moves import command, of_migration

Planned = list[tuple[Migration, bool]]


def notice(
    connection: BaseDatabaseWrapper, apps: Apps, plan: Planned, loader: MigrationLoader
) -> str | None:
    """A message with the statements that drop what is left over; None if nothing is. ``apps`` has
    the models of the recorded migrations."""
    commands, statements = [], []
    for name, migration in _not_planned(plan, loader):
        found = [
            sql
            for operation in of_migration(migration)
            for sql in _of_operation(connection, apps, operation)
        ]
        if found:
            commands.append(f"`{command(*name, connection.alias)}` continues it.")
            statements += found
    is_planned = any(True for migration, _ in plan for _ in of_migration(migration))
    if connection.vendor == "mysql" and not is_planned:
        quote = connection.ops.quote_name
        statements += [f"DROP TABLE {quote(name)}" for name in mysql_exchange.unused(connection)]
    if not statements:
        return None
    return "\n".join(
        [
            "A move of primary keys was stopped before it changed any of them.",
            *commands,
            "If you don't want it, drop what it left over:",
            *(f"    {sql};" for sql in dict.fromkeys(statements)),
        ]
    )


def _not_planned(
    plan: Planned, loader: MigrationLoader
) -> Iterator[tuple[tuple[str, str], Migration]]:
    """The migrations that are neither recorded nor in the plan."""
    planned = {(migration.app_label, migration.name) for migration, _ in plan}
    for name, migration in sorted(loader.graph.nodes.items()):
        if name not in planned and name not in loader.applied_migrations:
            yield name, migration


def _of_operation(
    connection: BaseDatabaseWrapper, apps: Apps, operation: MigratePrimaryKey
) -> Iterator[str]:
    quote = connection.ops.quote_name
    for key in operation.keys:
        table = _table(apps, key.model)
        yield from _column(connection, table, key.next_name)
        for each in (deleted.table_of(table), maps.table_of(table)) if table else ():
            if tables.kind(connection, each):
                yield f"DROP TABLE {quote(each)}"
    for copy in operation.copies:
        if copy.old is not None:
            column = copy.old.db_column or copy.old_name
            yield from _column(connection, _table(apps, copy.model), column)


def _table(apps: Apps, model: str) -> str:
    """Empty if the model does not exist yet."""
    try:
        return str(apps.get_model(model)._meta.db_table)
    except LookupError:
        return ""


def _column(connection: Any, table: str, column: str) -> Iterator[str]:
    quote = connection.ops.quote_name
    if not table or not tables.has_column(connection, table, column):
        return
    if connection.vendor == "sqlite":
        # Other databases drop the indexes with the column.
        for index in tables.names_of(connection, table, column, index=True):
            yield f"DROP INDEX {quote(index)}"
    yield f"ALTER TABLE {quote(table)} DROP COLUMN {quote(column)}"
