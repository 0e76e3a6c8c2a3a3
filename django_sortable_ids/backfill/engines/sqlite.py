"""SQLite: ids from Python are written one by one, which is fast without a server."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import DateField, DateTimeField
from django.utils.functional import cached_property

from ...db import tables
from ...errors import BackfillError
from ..target import Target
from . import sqlite_times
from .base import Engine
from .statements import Statements


class SQLiteStatements(Statements):
    @cached_property
    def sent(self) -> str:
        """An UPDATE of one row that has no id yet; its parameters are the id and the key."""
        is_row = " AND ".join(f"{key} = %s" for key in self._keys)
        where = f"{is_row} AND {self._column} IS NULL"
        return f"UPDATE {self._table} SET {self._set('%s')} WHERE {where}"

    def send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        rows = [(value, *key) for key, value in zip(keys, stored, strict=True)]
        with self.connection.cursor() as cursor:
            cursor.executemany(self.sent, rows)
            return int(cursor.rowcount)


class SQLite(Engine):
    sending = SQLiteStatements
    rows_per_second = (40_000.0, 200_000.0)
    writes_first = True
    adds_not_null = False

    def check(self, target: Target) -> None:
        self._check_commit(target.model._meta.db_table)
        sqlite_times.check(target)
        if isinstance(target.source, DateField) and not isinstance(target.source, DateTimeField):
            sqlite_times.check_days(target)

    def _check_commit(self, table: str) -> None:
        """Refuse a table in a file that SQLite attached if it can't be committed together with the
        cursor of the run."""
        connection = self.connection
        attached = tables.sqlite_schema(connection, table)
        if attached in ("main", None):
            return
        with connection.cursor() as cursor:
            for schema in ("main", attached):
                cursor.execute(f"PRAGMA {connection.ops.quote_name(schema)}.journal_mode")
                if cursor.fetchone()[0] == "wal":
                    raise BackfillError(
                        f"{table} is in a file that SQLite attached as {attached}, and {schema} is "
                        f"in WAL mode, in which SQLite doesn't commit two files together: a crash "
                        f"might keep ids without the progress of the run. Make that file a "
                        f"database of its own in DATABASES, or set journal_mode=DELETE for both"
                    )

    def side_effects(self, target: Target) -> Iterator[str]:
        """The triggers of the table that SQLite compiles into the UPDATE."""
        connection = self.connection
        with connection.cursor() as cursor:
            compiled = _compiled_triggers(connection, cursor, self.statements(target).sent)
            # The compiled triggers may include those of other tables, fired by this table's.
            table = target.model._meta.db_table
            schema = connection.ops.quote_name(tables.sqlite_schema(connection, table) or "main")
            cursor.execute(
                f"SELECT name FROM (SELECT * FROM {schema}.sqlite_master UNION ALL SELECT * FROM "
                f"sqlite_temp_master) WHERE type = 'trigger' AND tbl_name = %s COLLATE NOCASE "
                f"ORDER BY name",
                [tables.split(connection, table)[1]],
            )
            for (name,) in cursor.fetchall():
                if name in compiled:
                    yield f"the trigger {name}"


def _compiled_triggers(connection: Any, cursor: Any, sql: str) -> set[str]:
    """SQLite calls its authorizer for each step of a program, with the name of its trigger."""
    triggers = set()

    def allow(*action: Any) -> int:
        triggers.add(action[-1])
        return sqlite3.SQLITE_OK

    connection.connection.set_authorizer(allow)
    try:
        cursor.execute(f"EXPLAIN {sql}", [None] * sql.count("%s"))
    finally:
        connection.connection.set_authorizer(None)
    return triggers - {None}
