"""Kinds of database errors, by the codes of the engines."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Set
from typing import NamedTuple

from django.db import Error


class Kind(NamedTuple):
    """Called with an error: whether the error is of this kind."""

    sqlstates: Set[str] = frozenset()
    """Of PostgreSQL."""
    numbers: Set[int] = frozenset()
    """Of MariaDB and MySQL."""
    codes: Set[int] = frozenset()
    """Of SQLite: primary result codes."""

    def __call__(self, error: Error) -> bool:
        return (
            sqlstate(error) in self.sqlstates
            or error_number(error) in self.numbers
            or sqlite_code(error) in self.codes
        )

    def __or__(self, other: Kind) -> Kind:
        return Kind(
            self.sqlstates | other.sqlstates,
            self.numbers | other.numbers,
            self.codes | other.codes,
        )


_DEADLOCK = Kind({"40P01"}, {1213})
"""Also a commit that Galera refuses."""
_LOCK_WAIT = Kind({"55P03"}, {1205})

is_conflict = _DEADLOCK | Kind({"40001"}, {1020})
"""Another transaction caused the error, so a retry may succeed. These are serialization failures of
PostgreSQL and "Record has changed since last read" of MariaDB."""
is_table_locked = _LOCK_WAIT | _DEADLOCK
"""A server gave no lock for DDL."""
is_lock_timeout = _LOCK_WAIT | Kind(codes={sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
is_statement_timeout = Kind({"57014"}, {1969, 3024})
"""A statement exceeded the session's limit for its run time: ``statement_timeout``,
``max_statement_time`` of MariaDB, ``max_execution_time`` of MySQL."""
is_interrupted = Kind(codes={sqlite3.SQLITE_INTERRUPT})
"""The progress handler of SQLite stopped the statement."""
is_timeout = is_statement_timeout | is_lock_timeout
is_leaving = Kind(numbers={1047, 1053})
"""The server shuts down, or its node has left the cluster: "WSREP has not yet prepared node"."""
is_duplicate = Kind({"23505"}, {1062})
is_denied = Kind({"42501"}, {1044, 1045, 1142, 1143, 1227, 1370}, {sqlite3.SQLITE_AUTH})
"""The database user lacks a privilege."""


def sqlstate(error: Error) -> str | None:
    """The SQLSTATE of PostgreSQL; None for other engines."""
    cause = error.__cause__
    # psycopg gives none for a refused connection.
    if re.search(r'FATAL:\s+database ".*" does not exist', str(error)):
        return "3D000"
    return getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)


def sqlite_code(error: Error) -> int:
    """The primary result code of SQLite; 0 for other engines."""
    # The low byte of an extended result code.
    return int(getattr(error.__cause__, "sqlite_errorcode", 0)) & 0xFF


def error_number(error: Error) -> object:
    """The error number of MariaDB and MySQL; meaningless for other engines."""
    return error.args[0] if error.args else None
