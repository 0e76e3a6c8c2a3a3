"""Replaces texts of a column by one statement, whatever the number of its rows and of the texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..backfill.engines.mysql_statements import kept_assignments
from ..db import tables
from ..db.queries import row, rows

_FOUND, _NEW = "moving_found_texts", "moving_new_texts"
_LONGEST = 255
"""Characters of the texts that are replaced: longer ones are no keys."""
_TYPES = {
    "sqlite": "text",
    "postgresql": 'varchar({length}) COLLATE "C"',
    "mysql": "varchar({length}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
}
_REST = """
SELECT f.moving_old FROM {found} f LEFT JOIN {new} n ON n.moving_old = f.moving_old
WHERE f.moving_old > %s AND n.moving_old IS NULL ORDER BY f.moving_old
"""
_AMBIGUOUS = """
SELECT n.moving_next FROM {new} n JOIN {found} f ON f.moving_old = n.moving_next
WHERE n.moving_next <> n.moving_old ORDER BY n.moving_next LIMIT 1
"""
_KNOWN = """
INSERT INTO {{new}} SELECT {old}, {next} FROM {values} p {join} {{found}} f ON f.moving_old = {old}
WHERE {next} IS NOT NULL
"""
# The server would have to sort or to read one of the tables again in any other order.
_JOINS = {"sqlite": "CROSS JOIN", "postgresql": "JOIN", "mysql": "STRAIGHT_JOIN"}
_UPDATES = {
    "sqlite": (
        "UPDATE {table} SET {column} = "
        "(SELECT n.moving_next FROM {new} n WHERE n.moving_old = {text}) "
        "WHERE {condition} AND {text} IN (SELECT moving_old FROM {new})"
    ),
    "postgresql": (
        "UPDATE {table} t SET {column} = n.moving_next::{kind} FROM {new} n "
        "WHERE n.moving_old = {text} AND {condition}"
    ),
    # Without STRAIGHT_JOIN, the server may read the whole table for each new text.
    "mysql": (
        "UPDATE {table} t STRAIGHT_JOIN {new} n ON n.moving_old = {text} "
        "SET t.{column} = n.moving_next{kept} WHERE {condition}"
    ),
}


class TextMap:
    """Temporary tables with the texts of a column, and with the new text of some of them.

    ``condition`` is SQL, and says which rows are read and written. Use it as a context, in a
    transaction.
    """

    def __init__(self, connection: Any, table: str, column: str, condition: str) -> None:
        self._connection = connection
        quote = connection.ops.quote_name
        about = tables.column_info(connection, table, column)
        self._names = {
            "table": quote(table),
            "column": quote(column),
            "condition": condition,
            "new": quote(_NEW),
            "found": quote(_FOUND),
            "text": self._compared(quote(column)),
            "kind": "text" if about is None else about.kind,
            "kept": kept_assignments(connection, table, "t."),
        }

    def __enter__(self) -> TextMap:
        self._drop()
        kind = _TYPES[self._connection.vendor].format(length=_LONGEST)
        key = f"moving_old {kind} NOT NULL PRIMARY KEY"
        length = "LENGTH" if self._connection.vendor == "sqlite" else "CHAR_LENGTH"
        self._run(f"CREATE TEMPORARY TABLE {{found}} ({key})")
        self._run(f"CREATE TEMPORARY TABLE {{new}} ({key}, moving_next {kind} NOT NULL)")
        self._run(
            f"INSERT INTO {{found}} SELECT DISTINCT {{text}} FROM {{table}} WHERE {{condition}} "
            f"AND {{column}} IS NOT NULL AND {length}({{text}}) <= {_LONGEST}"
        )
        self._analyze("{found}")
        return self

    def __exit__(self, kind: Any, error: Any, where: Any) -> None:
        # A transaction that failed takes no statement, and its end drops what it has created.
        if kind is None or self._connection.vendor != "postgresql":
            self._drop()

    def rest(self, size: int) -> Iterator[list[str]]:
        """The texts of the column that have no new one yet, at most ``size`` at once."""
        after = ""
        while found := rows(self._connection, self._sql(f"{_REST} LIMIT {size}"), [after]):
            texts = [text for (text,) in found]
            yield texts
            after = texts[-1]

    def add_all(self, values: str, old: str, new: str) -> None:
        """Texts to replace: all that a table has, as expressions of its columns. Rows are named
        ``p``."""
        quoted = self._connection.ops.quote_name(values)
        old, new = map(self._compared, (old, new))
        join = _JOINS[self._connection.vendor]
        self._run(_KNOWN.format(values=quoted, old=old, next=new, join=join))

    def add(self, new: Mapping[str, str]) -> None:
        """Texts to replace, each with the new one."""
        with self._connection.cursor() as cursor:
            cursor.executemany(self._sql("INSERT INTO {new} VALUES (%s, %s)"), list(new.items()))

    def ambiguous(self) -> str | None:
        """A new text that the column already contains, of another row."""
        found = row(self._connection, self._sql(_AMBIGUOUS))
        return found and str(found[0])

    def apply(self) -> None:
        """Replace them: each row once."""
        self._analyze("{new}")
        with self._connection.cursor() as cursor:
            cursor.execute(self._sql(_UPDATES[self._connection.vendor]), ())

    def _compared(self, text: str) -> str:
        """A text, to be compared with those of the temporary tables."""
        match self._connection.vendor:
            case "mysql":
                return f"CONVERT({text} USING utf8mb4) COLLATE utf8mb4_bin"
            case "postgresql":
                return f'{text}::text COLLATE "C"'
        return f"CAST({text} AS text)"

    def _drop(self) -> None:
        is_mysql = self._connection.vendor == "mysql"
        for name in ("{found}", "{new}"):
            self._run(f"DROP {'TEMPORARY ' if is_mysql else ''}TABLE IF EXISTS {name}")

    def _analyze(self, name: str) -> None:
        if self._connection.vendor == "postgresql":
            self._run(f"ANALYZE {name}")

    def _run(self, sql: str) -> None:
        with self._connection.cursor() as cursor:
            cursor.execute(self._sql(sql))

    def _sql(self, sql: str) -> str:
        return sql.format(**self._names)
