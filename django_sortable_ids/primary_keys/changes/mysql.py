"""MariaDB and MySQL commit each DDL statement: the rows of each table are copied into one LIKE it
with other columns, and one RENAME TABLE exchanges all of them.

1. Each table gets a new one LIKE it, without foreign keys. Key columns, and columns that refer to
   them, get other types. The rows are copied, with the new keys from the maps.
2. Rows without a key in the map, and tables and maps that were written since step 1 began, are
   refused.
3. One transaction replaces keys in texts, and begins the note, with the foreign keys as SQL.
4. Foreign keys are dropped, RENAME TABLE exchanges the tables, the old ones are dropped, and
   checks and foreign keys come back.

After a stop before the note, new tables are created and filled again; after it, step 4 continues.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain
from typing import Any

from django.db import Error, transaction
from django.utils.functional import cached_property

from ...backfill.engines.mysql_statements import SEES_TRIGGERS, stored_as
from ...db import row, rows, tables, value
from ...db.errors import error_number
from ...db.transactions import with_short_lock_timeout
from ...errors import BackfillError
from ...fields import SortableIDField
from ...schema.table_definition import dependents
from .change import Key
from .engine import ForeignKey, KeyEngine, Program
from .mysql_tables import (
    NEW,
    OLD,
    NewTable,
    ServerTable,
    Steps,
    collation_of,
    copying,
    exchange,
    plain,
    prefixed,
)
from .texts import replace_values

_FOREIGN_KEYS = """
SELECT constraint_name, table_name, column_name, referenced_table_name, referenced_column_name
FROM information_schema.key_column_usage
WHERE table_schema = DATABASE() AND referenced_table_schema = DATABASE()
ORDER BY table_name, constraint_name, ordinal_position
"""
_WRITTEN = """
SELECT update_time FROM information_schema.tables
WHERE table_schema = DATABASE() AND table_name = %s
"""
_PROGRAMS = """
SELECT 'trigger', trigger_name, NULLIF(action_statement, ''), event_object_table
FROM information_schema.triggers WHERE event_object_schema = DATABASE()
UNION ALL SELECT 'view', table_name, NULLIF(view_definition, ''), NULL
FROM information_schema.views WHERE table_schema = DATABASE()
UNION ALL SELECT LOWER(routine_type), routine_name, NULLIF(routine_definition, ''), NULL
FROM information_schema.routines
WHERE routine_schema = DATABASE() AND routine_type IN ('FUNCTION', 'PROCEDURE')
UNION ALL SELECT 'event', event_name, NULLIF(event_definition, ''), NULL
FROM information_schema.events WHERE event_schema = DATABASE()
ORDER BY 1, 2
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
_NEEDS_SUPER = 1419
"""The error of a server with a binary log, before it looks at the privilege TRIGGER."""
WAIT = 10
"""Seconds for another process that moves keys, as a killed one may do for a moment."""


@contextmanager
def alone(connection: Any) -> Iterator[None]:
    """Lets no other process copy or exchange the tables of a move; ``BackfillError`` if one does.

    A killed process holds its lock until the server notices, after the statement that it runs.
    """
    lock = f"move {value(connection, 'SELECT DATABASE()')}"[:64]
    if value(connection, "SELECT GET_LOCK(%s, %s)", [lock, WAIT]) != 1:
        holder = value(connection, "SELECT IS_USED_LOCK(%s)", [lock])
        raise BackfillError(
            f"another process moves keys of this database, or a killed one's statement still runs: "
            f"wait until connection {holder} ends (SHOW PROCESSLIST), and migrate again"
        )
    try:
        yield
    finally:
        with suppress(Error):  # A lost connection has released it.
            row(connection, "SELECT RELEASE_LOCK(%s)", [lock])


class MySQLKeys(KeyEngine):
    locks = "these tables for a moment at the end, and stops if others have written until then"
    programs_sql = _PROGRAMS

    def execute(self, sql: str) -> None:
        """Run DDL, with a short lock timeout and retries."""
        with_short_lock_timeout(self.editor, lambda: self.editor.execute(sql, None))

    def foreign_keys(self) -> Iterator[ForeignKey]:
        columns: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
        for name, table, column, parent, referenced in rows(self.connection, _FOREIGN_KEYS):
            child, parent = (tables.folded_table(self.connection, end) for end in (table, parent))
            columns.setdefault((name, child, parent), []).append((column, referenced))
        for (name, table, parent), pairs in columns.items():
            own_columns, referenced_columns = zip(*pairs, strict=True)
            yield ForeignKey(name, table, own_columns, parent, referenced_columns)

    def problems(self) -> Iterator[str]:
        # The variable of a session may be off on a server that is part of a cluster.
        for scope in ("GLOBAL", "SESSION"):
            sql = f"SHOW {scope} VARIABLES LIKE 'wsrep_on'"
            if row(self.connection, sql) == ("wsrep_on", "ON"):
                yield _ON_CLUSTER
                return
        for schema, table, name, referenced in rows(self.connection, _FROM_OTHERS):
            if tables.folded_table(self.connection, referenced) in self._replaced:
                yield (
                    f"{schema}.{table} of another database has the foreign key {name} to "
                    f"{referenced}: drop it, and add it again after the migration"
                )
        for program in filter(self._is_replaced, super().programs()):
            yield (
                f"{program.table} has the trigger {program.name}, and is replaced by a table "
                f"without it: drop the trigger, migrate, and create it again"
            )
        # Texts are replaced in one transaction with the note.
        for text in self.change.texts:
            yield from self._not_stored(plain(self.connection, text.table))
        with copying(self.connection):
            for new in self._new_tables():
                yield from self._problems_of(new)

    def _problems_of(self, new: NewTable) -> Iterator[str]:
        table, name = new.table, new.name
        if tables.split(self.connection, table.name)[0] is not None:
            yield f"{table.name} is in another database: move its keys with a connection to that"
            return
        if problems := list(self._not_stored(name)):
            yield from problems
            return
        old = prefixed(OLD, name)
        if tables.kind(self.connection, old):
            yield (
                f"{old} exists, which has the rows of {name} before a move that was stopped: look "
                f"whether they are needed, and rename or drop it"
            )
        dropped = {*map(str.lower, table.dropped)}
        keys: dict[str, object] = {column: column for column in dropped}
        keys |= {column.name.lower(): column.key for column in table.changed}
        expressions = (dependents(element.expressions, keys) for element in new.old.elements)
        for used in sorted({*chain.from_iterable(expressions)}):
            yield (
                f"{name}: an expression depends on {used}, whose values change: remove it, "
                f"migrate, and add it again"
            )
        for element in new.old.elements:
            gone = dropped & {*element.columns}
            if element.is_index and gone and len(element.columns) > 1:
                which = ", ".join(gone)
                yield f"{name}: index {element.name} contains {which}, which is dropped: drop it"
        no_default = (None, "NULL" if self.connection.mysql_is_mariadb else None)
        of_table = collation_of(self.connection, name)
        for column in table.changed:
            changed, is_key = column.name, column is table.key
            info = new.old.columns[changed.lower()]
            own = getattr(column.key.before, "db_collation", None)
            is_plain = own is None and not isinstance(column.key.before, SortableIDField)
            if is_plain and info.collation not in (None, of_table):
                yield (
                    f"{name}.{changed} has the collation {info.collation}, and new columns of the "
                    f"table {of_table}. Run this, which changes no row, and then the command "
                    f"again: ALTER TABLE {self.quote(name)} COLLATE {info.collation}"
                )
            if is_key and column.before.has_db_default():
                continue
            if info.is_computed:
                yield f"{name}.{changed} is computed: drop it, and add it after the migration"
            elif info.default not in no_default:
                reason = "the new key would lose" if is_key else "is no new key"
                yield (
                    f"{name}.{changed} has the DEFAULT {info.default}, which {reason}: run ALTER "
                    f"TABLE {self.quote(name)} ALTER {self.quote(changed)} DROP DEFAULT"
                )

    def _not_stored(self, name: str) -> Iterator[str]:
        engine, options, kind = stored_as(self.connection, name) or ("", "", "")
        if kind != "BASE TABLE":
            yield f"{name} is a {kind or 'missing table'}, not a plain table"
        elif engine != "InnoDB":
            yield (
                f"{name} is stored by {engine}, and keys are moved in InnoDB only. Run this, and "
                f"then the command again: ALTER TABLE {self.quote(name)} ENGINE = InnoDB"
            )
        elif "partitioned" in options:
            yield f"{name} has partitions: remove them (REMOVE PARTITIONING), and run this again"

    def programs(self) -> Iterator[Program]:
        """The programs without the triggers of changed tables, which ``problems`` refuses."""
        yield from (program for program in super().programs() if not self._is_replaced(program))

    def _is_replaced(self, program: Program) -> bool:
        table = program.table and tables.folded_table(self.connection, program.table)
        return table in self._replaced

    @cached_property
    def _replaced(self) -> set[str]:
        return {plain(self.connection, table.name) for table in self.change.tables}

    def rehearse(self) -> Iterator[str]:
        with alone(self.connection), copying(self.connection):
            for new in self._new_tables():
                try:
                    new.create()
                    in_copy = ServerTable(self.connection, new.new_name).parts
                    for part in sorted(new.old.parts - in_copy):
                        yield f"{new.name}: a table LIKE it would lose {part}: remove that"
                    new.alter()
                    new.apply(new.later_indexes())
                    yield from self._refusals_of_triggers(new)
                except Error as error:
                    yield f"{new.name}: a copy with the new columns can't be made: {error}"
                finally:
                    self.drop_table(new.new_name)

    def _refusals_of_triggers(self, new: NewTable) -> Iterator[str]:
        """Refuses a user who may not create triggers, and so sees none. A role may give the right,
        so it is tried."""
        # A crash of MariaDB may leave the name of a trigger in use.
        name, table = map(self.quote, (f"sortable_ids_{secrets.token_hex(8)}", new.new_name))
        try:
            self.execute(f"CREATE TRIGGER {name} BEFORE INSERT ON {table} FOR EACH ROW SET @a = 1")
            self.execute(f"DROP TRIGGER {name}")
        except Error as error:
            rights = rows(self.connection, SEES_TRIGGERS, [None, None, new.name])
            if error_number(error) != _NEEDS_SUPER or not rights:
                yield (
                    f"{new.name}: this user may not see its triggers: {error}. Grant TRIGGER, and "
                    f"run this again"
                )

    def last_counted(self, key: Key) -> int | None:
        table = ServerTable(self.connection, plain(self.connection, key.table))
        return table.next_number - 1 or None

    def move(self) -> None:
        with alone(self.connection), copying(self.connection):
            new_tables = self._new_tables()
            read = [table.name for table in new_tables]
            # Another process that begins the same move would fill the maps again.
            read += [key.map.table for key in self.change.keys]
            before = {name: (self._checksum(name), self._written(name)) for name in read}
            for new in new_tables:
                new.create()
                new.alter()
                new.fill()
            self.refuse_unfilled()
            steps = self._steps(new_tables)
            for table, (checksum, written) in before.items():
                now = steps.checksums.get(table) or self._checksum(table)
                if now != checksum or self._written(table) not in (None, written):
                    raise BackfillError(
                        f"{table} was written during the migration. No key was moved: stop the "
                        f"application, and migrate again"
                    )
            with transaction.atomic(self.connection.alias):
                self._replace_in(new_tables)
                self.note.begin(steps._asdict(), self.all_counted())
            if self.change.texts:  # It takes time to replace them.
                self._refuse_written_since(steps)
            self._complete(steps)

    def resume(self) -> bool:
        if self.note.steps is not None:
            with alone(self.connection), copying(self.connection):
                # Another process may have completed it before this one had the lock.
                if saved := self.note.steps:
                    steps = Steps(**saved)
                    self._refuse_written_since(steps)
                    self._complete(steps)
        return super().resume()

    def _refuse_written_since(self, steps: Steps) -> None:
        """The application may run, and have written to the tables that the exchange would drop."""
        for table, checksum in steps.checksums.items():
            new = prefixed(NEW, table)
            if tables.kind(self.connection, new) and self._checksum(table) != checksum:
                raise BackfillError(
                    f"{table} was written since its rows were copied, and {new} was not, which "
                    f"takes its place. Nothing is lost yet: stop the application, give {table} the "
                    f"rows that it had (keep the others in another table), and migrate again"
                )

    def _complete(self, steps: Steps) -> None:
        exchange(self, steps)
        self.note.complete({}, self.with_old_keys())

    def _new_tables(self) -> list[NewTable]:
        return [NewTable(self, table) for table in self.change.tables]

    def _checksum(self, table: str) -> int | None:
        """The checksum of all rows, in any order."""
        checksum: int | None = row(self.connection, f"CHECKSUM TABLE {self.quote(table)}")[1]
        return checksum

    def _written(self, table: str) -> Any:
        """When it was written last; None if the server has closed the table since. It also tells
        of a write that another one takes back before the checksum is compared."""
        return value(self.connection, _WRITTEN, [table])

    def _replace_in(self, new_tables: list[NewTable]) -> None:
        """Texts are replaced where they stay: in the new tables."""
        names = {table.name: table.new_name for table in new_tables}
        texts = (
            text._replace(table=names.get(plain(self.connection, text.table), text.table))
            for text in self.change.texts
        )
        try:
            replace_values(self.connection, replace(self.change, texts=tuple(texts)))
        except BackfillError as error:
            message = str(error)
            for name, new in names.items():
                message = message.replace(new, name)
            raise BackfillError(message) from error

    def _steps(self, new_tables: list[NewTable]) -> Steps:
        names = [table.name for table in new_tables]
        referring = {
            (key.table, key.name) for key in self.foreign_keys() if key.referenced_table in names
        }
        olds = {table.name: table.old for table in new_tables}
        olds |= {
            name: ServerTable(self.connection, name) for name, _ in referring if name not in olds
        }
        return Steps(
            checksums={name: self._checksum(name) for name in names},
            foreign_keys=[
                [table, name, text]
                for table, old in sorted(olds.items())
                for name, text in old.constraints("FOREIGN").items()
                if table in names or (table, name) in referring
            ],
            checks=[
                [table, name, text]
                for table in names
                for name, text in olds[table].constraints("CHECK").items()
                if not self.connection.mysql_is_mariadb
            ],
        )

    def options_like(self, table: str) -> str:
        return f" COLLATE {collation_of(self.connection, table)}"
