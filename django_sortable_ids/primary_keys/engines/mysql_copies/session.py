"""The session of MariaDB and MySQL in which tables are copied, and the names of the copies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.backends.utils import truncate_name

from ....db import tables
from ....db.locks import session_variables, with_short_lock_timeout
from ....db.queries import row, rows, value
from ....errors import BackfillError

_VARIABLES: dict[str, Any] = {
    # Values that the tables contain are copied as they are; others are refused.
    "sql_mode": "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES",
    "sql_quote_show_create": 1,
    "foreign_key_checks": 0,
    # INSERT ... SELECT ... ORDER BY of MySQL writes TIMESTAMPs as local times, which occur twice
    # when summer time ends.
    "time_zone": "+00:00",
    # Rows are sorted by their new keys.
    "sort_buffer_size": 64 << 20,
}
_OF_MARIADB = {"max_statement_time": 0}
_OF_MYSQL = {"information_schema_stats_expiry": 0}
_NEW = "sortable_ids_new__"
_COPIES = """
SELECT table_name FROM information_schema.tables
WHERE table_schema = DATABASE() AND LEFT(table_name, %s) = %s ORDER BY table_name
"""
WAIT = 10
"""Seconds for another process that moves keys, as a killed one may do for a moment."""
_LONGEST = 54
"""Of the name of a copy. MySQL appends ``_chk_1`` to it, and a name has at most 64 characters."""


def copy_name(connection: Any, table: str) -> str:
    """The plain name of the new table, until it is used."""
    return _named(connection, _NEW, table)


def old_name(connection: Any, table: str) -> str:
    """The plain name of the old table, until it is dropped."""
    return _named(connection, "sortable_ids_old__", table)


def _named(connection: Any, prefix: str, table: str) -> str:
    return truncate_name(f"{prefix}{plain(connection, table)}", _LONGEST, 8)


def plain(connection: Any, table: str) -> str:
    """The name without a schema, as the server spells it."""
    return tables.folded_table(connection, tables.split(connection, table)[1])


@contextmanager
def alone(connection: Any) -> Iterator[None]:
    """No other process moves keys of this database. Raises ``BackfillError`` if one does.

    A killed process holds its lock until the server notices, after the statement that it runs.
    """
    lock = _lock(connection)
    if value(connection, "SELECT GET_LOCK(%s, %s)", [lock, WAIT]) != 1:
        raise BackfillError(
            f"another process moves keys of this database, or a killed one's statement still runs: "
            f"wait until connection {holder(connection)} ends (SHOW PROCESSLIST), and migrate again"
        )
    try:
        yield
    finally:
        row(connection, "SELECT RELEASE_LOCK(%s)", [lock])


def holder(connection: Any) -> int | None:
    """The id of the connection that moves keys of this database; None if none does."""
    found: int | None = value(connection, "SELECT IS_USED_LOCK(%s)", [_lock(connection)])
    return found


def unused_copies(connection: Any) -> list[str]:
    """The plain names of copies, while no process moves keys of this database. Only a move whose
    note began needs them still."""
    if holder(connection) is not None:
        return []
    return [name for (name,) in rows(connection, _COPIES, [len(_NEW), _NEW])]


def _lock(connection: Any) -> str:
    return f"move {value(connection, 'SELECT DATABASE()')}"[:_LONGEST]


@contextmanager
def copying(connection: Any) -> Iterator[None]:
    """A session that copies every value unchanged."""
    own = _OF_MARIADB if connection.mysql_is_mariadb else _OF_MYSQL
    with session_variables(connection, **_VARIABLES, **own):
        yield


def execute(editor: Any, sql: str) -> None:
    """Run DDL, with a short lock timeout and retries."""
    with_short_lock_timeout(editor, lambda: editor.execute(sql, None))


def definition_of(connection: Any, table: str) -> str:
    """The SHOW CREATE TABLE of a plain name, within ``copying``."""
    return str(row(connection, f"SHOW CREATE TABLE {connection.ops.quote_name(table)}")[1])


def exists(connection: Any, table: str) -> bool:
    """Whether the database has a table of that plain name."""
    sql = (
        "SELECT 1 FROM information_schema.tables "
        "WHERE table_schema = DATABASE() AND table_name = %s"
    )
    return value(connection, sql, [table]) is not None
