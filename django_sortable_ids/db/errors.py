"""Database errors: their kinds by the codes of the engines, and what they mean for people."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from operator import or_
from typing import NamedTuple

from django.core.management.base import CommandError
from django.db import DatabaseError, Error, InterfaceError, OperationalError


class Kind(NamedTuple):
    """Called with an error: whether the error is of this kind."""

    sqlstates: Set[str] = frozenset()
    """SQLSTATE codes of PostgreSQL."""
    numbers: Set[int] = frozenset()
    """Error numbers of MariaDB and MySQL."""
    codes: Set[int] = frozenset()
    """Primary result codes of SQLite."""

    def __call__(self, error: Error) -> bool:
        cause = error.__cause__
        sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
        return (
            sqlstate in self.sqlstates
            or error_number(error) in self.numbers
            or sqlite_code(error) in self.codes
        )

    def __or__(self, other: Kind) -> Kind:
        return Kind(*map(or_, self, other))


_DEADLOCK = Kind({"40P01"}, {1213})
"""A deadlock, or a commit that Galera refuses."""
_LOCK_WAIT = Kind({"55P03"}, {1205})

is_conflict = _DEADLOCK | Kind({"40001"}, {1020})
"""Another transaction caused the error, so a retry may succeed. These are serialization failures of
PostgreSQL and "Record has changed since last read" of MariaDB."""
is_table_locked = _LOCK_WAIT | _DEADLOCK
"""A server gave no lock for DDL."""
is_lock_timeout = _LOCK_WAIT | Kind(codes={sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
is_statement_timeout = Kind({"57014"}, {1317, 1969, 3024})
"""A statement was cancelled, as by KILL QUERY, or exceeded the session's limit for its run time:
``statement_timeout``, ``max_statement_time`` of MariaDB, ``max_execution_time`` of MySQL."""
is_interrupted = Kind(codes={sqlite3.SQLITE_INTERRUPT})
"""The progress handler of SQLite stopped the statement."""
is_leaving = Kind(numbers={1047, 1053, 1180})
"""The server shuts down, or its node leaves the cluster (1180: during a commit)."""
is_duplicate = Kind({"23505"}, {1062})
is_denied = Kind({"42501"}, {1044, 1142, 1143, 1227, 1370}, {sqlite3.SQLITE_AUTH})
"""The database user lacks a privilege."""
_MISSING = Kind({"42P01", "42703"}, {1054, 1146})


def is_missing(error: Error) -> bool:
    """A table or a column doesn't exist. SQLite has no code for this."""
    return _MISSING(error) or str(error).startswith("no such ")


def sqlite_code(error: Error) -> int:
    """The primary result code of SQLite; 0 for other engines."""
    # The low byte of an extended result code.
    return int(getattr(error.__cause__, "sqlite_errorcode", 0)) & 0xFF


def error_number(error: Error) -> object:
    """The error number of MariaDB and MySQL; meaningless for other engines."""
    return error.args[0] if error.args else None


# For people.

_REFUSALS = (
    (
        is_statement_timeout,
        "a statement was cancelled, or exceeded a limit that this command lifts for its session",
        "Look for what else ends statements: a pooler, or a program that watches them",
    ),
    (
        Kind(
            {"25006"},
            {1290, 1792, 1836, 3948},
            {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM},
        ),
        "the database can't be opened, or can't be written to",
        "Correct its path, name a writable database instead of a replica, or allow writes to it",
    ),
    (
        Kind({"53100"}, {3, 1021, 1114}, {sqlite3.SQLITE_FULL}),
        "the database has no space left",
        "Free some space",
    ),
    (
        is_denied,
        "the database user lacks a privilege",
        "GRANT it SELECT and UPDATE on the table, and ALL on the tables of django_sortable_ids; a "
        "move of keys needs ALL on its tables, and PostgreSQL that the user owns them",
    ),
    (
        is_missing,
        "a table or a column doesn't exist",
        "If it was renamed or dropped, undo that, or change the model in the same way",
    ),
    (
        is_lock_timeout,
        "a lock was not free in time",
        "Look for an ALTER TABLE or a long transaction that holds it",
    ),
    (Kind({"P0001"}, {1644}), "a trigger refused the rows", "Disable it until the command ends"),
)
_STOPPED = ("the database refused or interrupted the command", "Check that it can be reached")

_is_refused_by_server = (
    is_conflict
    | is_statement_timeout
    | is_lock_timeout
    | is_leaving
    | Kind(numbers={1040, 1045, 1049, 1203})
)
_CLIENT_ERRORS = 2000
"""The first number of client errors of MariaDB and MySQL."""


@contextmanager
def explained(again: str, progress: Callable[[], str] | None = None) -> Iterator[None]:
    """Turn database errors into ``CommandError``; ``again`` is the command that continues, and
    ``progress`` says what was done before an error.

    An error without an explanation here may be a bug of this app: it is raised with a note.
    """
    try:
        yield
    except (DatabaseError, InterfaceError) as error:
        what, advice = next((texts for is_so, *texts in _REFUSALS if is_so(error)), _STOPPED)
        state = progress() if progress else "What was committed before is kept"
        if (what, advice) == _STOPPED and not _is_server_error(error):
            if not hasattr(error, "__notes__"):  # of an inner block, which knows more
                error.add_note(f"{state}. Continue with: {again}")
            raise
        text = " ".join(str(error).split())
        raise CommandError(f"{what}: {text}. {state}. {advice}. Continue with: {again}") from error


def _is_server_error(error: Error) -> bool:
    """Whether the connection or the server caused the error, and not the statement."""
    number = error_number(error)
    if isinstance(number, int):
        return number >= _CLIENT_ERRORS or _is_refused_by_server(error)
    is_of_statement = sqlite_code(error) == sqlite3.SQLITE_ERROR
    return not is_of_statement and isinstance(error, OperationalError | InterfaceError)
