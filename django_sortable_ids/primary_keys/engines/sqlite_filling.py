"""Fills a new table of SQLite before its automatic indexes.

An index is built from sorted rows in a fraction of the time that their insertion in another order
takes. SQLite can't add the index of PRIMARY KEY or UNIQUE to a table. So a table without these
constraints gets the rows and the same indexes, and then exchanges its pages with the new table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any, NamedTuple

from ...db.queries import value

_FILLING = "filling__"
_ROOTS = "filled_roots"
_INDEXES = "SELECT name, origin FROM pragma_index_list(?) WHERE name LIKE 'sqlite_autoindex_%'"
_INDEXED = 'SELECT name, "desc", coll FROM pragma_index_xinfo(?) WHERE key ORDER BY seqno'
_COLUMNS = 'SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?) ORDER BY cid'
_IS_PLAIN = "SELECT wr OR strict FROM pragma_table_list(?)"


class Index(NamedTuple):
    name: str
    columns: list[tuple[str, int, str]]
    """The name, whether it descends, and the collation of each."""


class Filling(NamedTuple):
    """The table that is filled for an empty one."""

    table: str
    """The empty one."""
    columns: list[str]
    """Their definitions."""
    indexes: list[Index]

    @property
    def name(self) -> str:
        return _FILLING + self.table

    def create(self, execute: Callable[[str], None]) -> None:
        execute(f"CREATE TABLE {_quoted(self.name)} ({', '.join(self.columns)})")

    def exchange(self, execute: Callable[[str], None]) -> None:
        """Add the indexes, and give the pages to the empty table."""
        for index in self.indexes:
            columns = ", ".join(
                f"{_quoted(name)} COLLATE {_quoted(collation)} {'DESC' if descends else 'ASC'}"
                for name, descends, collation in index.columns
            )
            execute(
                f"CREATE UNIQUE INDEX {_quoted(_FILLING + index.name)} "
                f"ON {_quoted(self.name)} ({columns})"
            )
        execute(
            f"CREATE TEMPORARY TABLE {_ROOTS} AS SELECT a.name, b.rootpage "
            f"FROM main.sqlite_master a JOIN main.sqlite_master b "
            f"ON a.name = '{_FILLING}' || b.name OR b.name = '{_FILLING}' || a.name "
            f"WHERE {_text(self.table)} IN (a.tbl_name, b.tbl_name)"
        )
        execute("PRAGMA writable_schema = ON")
        try:
            execute(
                f"UPDATE main.sqlite_master SET rootpage = (SELECT r.rootpage FROM {_ROOTS} r "
                f"WHERE r.name = sqlite_master.name) WHERE name IN (SELECT name FROM {_ROOTS})"
            )
        finally:
            # The definitions are read again.
            execute("PRAGMA writable_schema = RESET")
        execute(f"DROP TABLE temp.{_ROOTS}")
        execute(f"DROP TABLE {_quoted(self.name)}")


def filling_of(connection: Any, table: str, definition: str) -> Filling | None:
    """How to fill the empty table with this CREATE TABLE; None if it is filled directly, because it
    has no automatic indexes, or because the connection or the table doesn't allow it."""
    if not _can_write_schema(connection):
        return None
    try:
        with closing(sqlite3.connect(":memory:")) as other:
            other.execute(definition)
            columns = other.execute(_COLUMNS, [table]).fetchall()
            indexes = other.execute(_INDEXES, [table]).fetchall()
            is_plain = other.execute(_IS_PLAIN, [table]).fetchone() == (0,)
            found = [Index(name, other.execute(_INDEXED, [name]).fetchall()) for name, _ in indexes]
    except sqlite3.Error:
        # Its collations or functions are those of the connection.
        return None
    is_computed = any(hidden for *_, hidden in columns)
    if not found or is_computed or not is_plain:
        return None
    has_index = any(origin == "pk" for _, origin in indexes)
    return Filling(table, list(_defined(columns, has_rowid_key=not has_index)), found)


def _defined(columns: list[Any], *, has_rowid_key: bool) -> Iterator[str]:
    for name, kind, is_not_null, place, _ in columns:
        words = [_quoted(name), kind]
        if place and has_rowid_key:
            words.append("PRIMARY KEY")
        elif is_not_null:
            words.append("NOT NULL")
        yield " ".join(filter(None, words))


def _can_write_schema(connection: Any) -> bool:
    """Not if the connection is defensive, as that of a Python of macOS may be."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA writable_schema = ON")
    is_allowed = bool(value(connection, "PRAGMA writable_schema"))
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA writable_schema = OFF")
    return is_allowed


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _text(name: str) -> str:
    doubled = name.replace("'", "''")
    return f"'{doubled}'"
