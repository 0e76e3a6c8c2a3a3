"""What MariaDB and MySQL can't move, found before any row is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.db import Error

from ....db import tables
from ....db.queries import row, rows
from . import triggers
from .copy import Copy
from .definition import default_of, is_computed
from .session import exists, old_name, plain

if TYPE_CHECKING:
    from ...changes import Table
    from ..base import KeyEngine

_STORED = """
SELECT engine, table_type, create_options FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = %s
"""
_FROM_OTHERS = """
SELECT DISTINCT table_schema, table_name, constraint_name, referenced_table_name
FROM information_schema.key_column_usage
WHERE table_schema <> DATABASE() AND referenced_table_schema = DATABASE()
"""
_ON_CLUSTER = (
    "primary keys can't be moved on a Galera cluster (wsrep_on is ON): stop all nodes but one, "
    "start that one with --wsrep-on=OFF, migrate, and start the cluster from it"
)
_TEMPORARY = "sortable_ids_temporary"


class Problems:
    """Use it within ``session.copying``."""

    def __init__(self, engine: KeyEngine) -> None:
        self._engine = engine
        self._connection = engine.connection

    def found(self) -> Iterator[str]:
        """Each problem, with what to do."""
        # Those of a session may be off on a server that is part of a cluster.
        for scope in ("GLOBAL", "SESSION"):
            sql = f"SHOW {scope} VARIABLES LIKE 'wsrep_on'"
            if row(self._connection, sql) == ("wsrep_on", "ON"):
                yield _ON_CLUSTER
                return
        yield from self._foreign_keys()
        yield from self._generic()
        for table in self._engine.change.tables:
            yield from self._of_table(table)

    def rehearsed(self) -> Iterator[str]:
        """Make each copy without rows, and drop it: what fails."""
        yield from self._temporary_tables()
        for table in self._engine.change.tables:
            copy = Copy(self._engine, table)
            try:
                copy.create()
                copy.add_indexes()
                yield from triggers.problems(self._engine.editor, copy.name, copy.copy)
            except Error as error:
                yield f"{copy.name}: a copy with the new columns can't be made: {error}"
            copy.drop()

    def _temporary_tables(self) -> Iterator[str]:
        """Keys in texts are replaced with the help of such tables."""
        if not any(tables.kind(self._connection, each.table) for each in self._engine.change.texts):
            return
        try:
            with self._connection.cursor() as cursor:
                cursor.execute(f"CREATE TEMPORARY TABLE {_TEMPORARY} (a int)")
                cursor.execute(f"DROP TEMPORARY TABLE {_TEMPORARY}")
        except Error as error:
            yield (
                f"keys in columns of texts can't be replaced: {error}. Grant CREATE TEMPORARY "
                f"TABLES to the database user, and migrate again"
            )

    def _foreign_keys(self) -> Iterator[str]:
        changed = {plain(self._connection, each.name) for each in self._engine.change.tables}
        for schema, table, name, referenced in rows(self._connection, _FROM_OTHERS):
            if tables.folded_table(self._connection, referenced) in changed:
                yield (
                    f"{schema}.{table} of another database has the foreign key {name} to "
                    f"{referenced}: drop it, and add it again after the migration"
                )

    def _generic(self) -> Iterator[str]:
        """Their values are replaced in one transaction with the note."""
        for reference in self._engine.change.texts:
            if tables.kind(self._connection, reference.table):
                yield from self._not_stored(plain(self._connection, reference.table))

    def _of_table(self, table: Table) -> Iterator[str]:
        schema, name = tables.split(self._connection, table.name)
        if schema is not None:
            yield f"{table.name} is in another database: move its keys with a connection to that"
            return
        if problems := list(self._not_stored(name)):
            yield from problems
            return
        old = old_name(self._connection, name)
        if exists(self._connection, old):
            yield (
                f"{old} exists, which has the rows of {name} before a move that was stopped: look "
                f"whether they are needed, and rename or drop it"
            )
        yield from self._in_definition(table, name)
        yield from self._in_triggers(table, name)

    def _not_stored(self, name: str) -> Iterator[str]:
        engine, kind, options = row(self._connection, _STORED, [name]) or ("", "", "")
        if kind != "BASE TABLE":
            yield f"{name} is a {kind or 'missing table'}, not a plain table"
        elif engine != "InnoDB":
            yield (
                f"{name} is stored by {engine}, which has no transactions: run "
                f"`ALTER TABLE {name} ENGINE = InnoDB`, and migrate again"
            )
        elif "partitioned" in options:
            yield f"{name} has partitions: remove them (REMOVE PARTITIONING), and migrate again"

    def _in_definition(self, table: Table, name: str) -> Iterator[str]:
        definition = Copy(self._engine, table).definition()
        if definition.has_option("DATA", "DIRECTORY"):
            yield f"{name} has a DATA DIRECTORY, which a copy would not have"
        gone = {table.key.next.lower()} if table.key else set()
        for used in sorted({*definition.dependents({*map(str.lower, table.changed), *gone})}):
            yield (
                f"{name}: an expression depends on {used}, whose values change: remove it, "
                f"migrate, and add it again"
            )
        for index in (each for one in gone for each in definition.indexes_with(one)):
            yield f"{name}: index {index} contains {', '.join(gone)}, which is dropped: drop it"
        if table.key and not table.key.before.has_db_default():
            own = definition.columns[table.key.column.lower()]
            if default := default_of(own):
                yield (
                    f"{name}.{table.key.column} has the DEFAULT {default}, which the new key would "
                    f"lose: run `ALTER TABLE {name} ALTER COLUMN {table.key.column} DROP DEFAULT`"
                )
        for column in table.columns:
            found = definition.columns[column.name.lower()]
            if is_computed(found):
                yield f"{name}.{column.name} is computed: drop it, and add it after the migration"
            elif default := default_of(found):
                yield (
                    f"{name}.{column.name} has the DEFAULT {default}, which is no new key: run "
                    f"`ALTER TABLE {name} ALTER COLUMN {column.name} DROP DEFAULT`"
                )

    def _in_triggers(self, table: Table, name: str) -> Iterator[str]:
        if not table.key:
            return
        quoted = self._engine.quote(table.key.next)
        try:
            found = triggers.of_table(self._connection, name)
        except Error as error:
            yield f"{name}: its triggers could not be read: {error}"
            return
        for trigger in found:
            words = trigger["sql"].replace(quoted, table.key.next).lower()
            if any(f"{each}.{table.key.next.lower()}" in words for each in ("new", "old")):
                yield (
                    f"{name}: trigger {trigger['name']} uses {table.key.next}, which is dropped: "
                    f"drop it"
                )
