"""Database errors, explained for people, with what to do next."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError
from django.db import DatabaseError, Error, InterfaceError, OperationalError

from .error_codes import (
    Kind,
    error_number,
    is_conflict,
    is_denied,
    is_leaving,
    is_lock_timeout,
    is_statement_timeout,
    is_timeout,
    sqlite_code,
)

TOO_SLOW = (
    "a statement exceeded the session's time limit, even for a few rows",
    "Raise the limit (statement_timeout, max_statement_time, max_execution_time), or create an "
    "index that begins with the creation time",
)
_REFUSALS = (
    (is_statement_timeout, *TOO_SLOW),
    (
        Kind(
            {"25006"},
            {1290, 1792, 1836, 3948},
            {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM},
        ),
        "the database can't be written to",
        "Name a writable database instead of a replica, or allow writes to this one",
    ),
    (
        Kind({"53100"}, {3, 1021, 1114}, {sqlite3.SQLITE_FULL}),
        "the database has no space left",
        "Free some space",
    ),
    (
        Kind(numbers={1292}),
        "the session's sql_mode refuses a value in another column of a row",
        "Correct the value, or allow it by sql_mode (ALLOW_INVALID_DATES)",
    ),
    (
        is_denied,
        "the database user lacks a privilege",
        "GRANT it SELECT and UPDATE on the table, and ALL on the tables of django_sortable_ids",
    ),
    (
        Kind({"3D000"}, {1049}),
        "the database does not exist",
        "Create it, or correct its NAME in DATABASES",
    ),
    (
        is_lock_timeout,
        "a lock was not free in time",
        "Look for an ALTER TABLE or a long transaction that holds it",
    ),
)
_STOPPED = ("the database interrupted the command", "Check that it can be reached")

_is_refused_by_server = is_conflict | is_timeout | is_leaving | Kind(numbers={1040, 1203})
_CLIENT_ERRORS = 2000
"""The first number of client errors of MariaDB and MySQL."""


@contextmanager
def explained(again: str) -> Iterator[None]:
    """Turn database errors into ``CommandError``; ``again`` is the command that continues.

    An error without an explanation here is raised unchanged: it may be a bug of this app.
    """
    try:
        yield
    except (DatabaseError, InterfaceError) as error:
        explanation = _explanation(error)
        if explanation is None:
            raise
        what, advice = explanation
        text = " ".join(str(error).split())
        raise CommandError(
            f"{what}: {text}. What was committed before is kept. {advice}. Continue with: {again}"
        ) from error


def _explanation(error: Error) -> tuple[str, str] | None:
    for is_so, what, advice in _REFUSALS:
        if is_so(error):
            return what, advice
    return _STOPPED if _is_server_error(error) else None


def _is_server_error(error: Error) -> bool:
    """Whether the connection or the server caused the error, and not the statement."""
    number = error_number(error)
    if isinstance(number, int):
        return number >= _CLIENT_ERRORS or _is_refused_by_server(error)
    if sqlite_code(error) == sqlite3.SQLITE_ERROR:
        return False
    return isinstance(error, OperationalError | InterfaceError)
