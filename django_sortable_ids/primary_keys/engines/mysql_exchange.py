"""Exchanges tables of MariaDB or MySQL with new ones: at one instant, after steps that are repeated
without harm, and before others. Here is also the session in which it happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db.backends.utils import truncate_name

from ...db import tables
from ...db.locks import session_variables, with_short_lock_timeout
from ...db.queries import row, rows, value
from ...errors import BackfillError

_VARIABLES: dict[str, Any] = {
    # Values that the tables contain are copied as they are; others are refused.
    "sql_mode": "STRICT_ALL_TABLES,NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES",
    "sql_quote_show_create": 1,
    # Tables are dropped that others still refer to; each value of a new key is one of the map.
    "foreign_key_checks": 0,
    # INSERT ... SELECT ... ORDER BY of MySQL writes TIMESTAMPs as local times, which occur twice
    # when summer time ends.
    "time_zone": "+00:00",
    # Rows are sorted by their new keys.
    "sort_buffer_size": 64 << 20,
}
_OF_MARIADB = {"max_statement_time": 0}
_OF_MYSQL = {"information_schema_stats_expiry": 0}
NEW, OLD = "sortable_ids_new__", "sortable_ids_old__"
_NEW_TABLES = """
SELECT table_name FROM information_schema.tables
WHERE table_schema = DATABASE() AND LEFT(table_name, %s) = %s ORDER BY table_name
"""
WAIT = 10
"""Seconds for another process that moves keys, as a killed one may do for a moment."""
_LONGEST = 54
"""Of the name of a new table. MySQL appends ``_chk_1`` to it, and a name has at most 64
characters."""
_CONSTRAINED = """
SELECT 1 FROM information_schema.table_constraints
WHERE table_schema = DATABASE() AND table_name = %s AND constraint_name = %s
    AND constraint_type = %s
"""


def prefixed(prefix: str, table: str) -> str:
    """The name of the new table until it is used, or of the old one until it is dropped."""
    return truncate_name(f"{prefix}{table}", _LONGEST, 8)


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


def unused(connection: Any) -> list[str]:
    """The plain names of new tables, while no process moves keys of this database. Only a move
    whose note began needs them still."""
    if holder(connection) is not None:
        return []
    return [name for (name,) in rows(connection, _NEW_TABLES, [len(NEW), NEW])]


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


class Steps(NamedTuple):
    """What the exchange needs to know; the note has it as JSON. All names are plain."""

    tables: list[list[str]]
    """Table, new table, and the name of the old table until it is dropped."""
    foreign_keys: list[list[str]]
    """Table, name and text of those from and to these tables."""
    checks: list[list[str]]
    """The same of those that the new tables don't have."""
    checksums: dict[str, int | None]
    """Of the rows that the new tables have, by table: it is the server's ``CHECKSUM TABLE``."""


def is_before_exchange(connection: Any, new: str, old: str) -> bool:
    """Whether a table still has its own name, by the two others of its step."""
    return bool(tables.kind(connection, new) and not tables.kind(connection, old))


def exchange(editor: Any, steps: Steps) -> None:
    """Exchange the tables. Whatever stops it: run again, it continues."""
    connection, quote = editor.connection, editor.quote_name

    def has(*constraint: str) -> bool:
        return value(connection, _CONSTRAINED, constraint) is not None

    renames = []
    for table, new, old in steps.tables:
        if is_before_exchange(connection, new, old):
            renames.append((table, old))
        if tables.kind(connection, new):
            renames.append((new, table))
    if renames:
        # They would follow the old tables to their new names.
        for table, name, _ in steps.foreign_keys:
            if has(table, name, "FOREIGN KEY"):
                execute(editor, f"ALTER TABLE {quote(table)} DROP FOREIGN KEY {quote(name)}")
        pairs = (f"{quote(present)} TO {quote(later)}" for present, later in renames)
        execute(editor, f"RENAME TABLE {', '.join(pairs)}")
    for _, _, old in steps.tables:
        execute(editor, f"DROP TABLE IF EXISTS {quote(old)}")
    for constraints, kind in ((steps.checks, "CHECK"), (steps.foreign_keys, "FOREIGN KEY")):
        missing: dict[str, list[str]] = {}
        for table, name, text in constraints:
            if not has(table, name, kind):
                missing.setdefault(table, []).append(f"ADD {text}")
        for table, changes in missing.items():
            execute(editor, f"ALTER TABLE {quote(table)} {', '.join(changes)}")
