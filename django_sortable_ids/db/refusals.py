"""Database errors, explained for people, with what to do next."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from django.core.management.base import CommandError
from django.db import DatabaseError, Error, InterfaceError, OperationalError

from .transactions import (
    error_number,
    is_conflict,
    is_statement_timeout,
    is_timeout,
    sqlite_code,
    sqlstate,
)


class _Refusal(NamedTuple):
    what: str
    advice: str
    sqlstates: frozenset[str]
    """Of PostgreSQL."""
    numbers: frozenset[int]
    """Of MariaDB and MySQL."""
    codes: frozenset[int]
    """Of SQLite."""


_REFUSALS = (
    _Refusal(
        "the database can't be written to",
        "Name a writable database instead of a replica, or allow writes to this one",
        frozenset({"25006"}),
        frozenset({1290, 1792, 1836, 3948}),
        frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}),
    ),
    _Refusal(
        "the database has no space left",
        "Free some space",
        frozenset({"53100"}),
        frozenset({3, 1021, 1114}),
        frozenset({sqlite3.SQLITE_FULL}),
    ),
    _Refusal(
        "the session's sql_mode refuses a value in another column of a row",
        "Correct the value, or allow it by sql_mode (ALLOW_INVALID_DATES)",
        frozenset(),
        frozenset({1292}),
        frozenset(),
    ),
    _Refusal(
        "the database user lacks a privilege",
        "GRANT it SELECT and UPDATE on the table, and ALL on the tables of django_sortable_ids",
        frozenset({"42501"}),
        frozenset({1044, 1045, 1142, 1143, 1227, 1370}),
        frozenset({sqlite3.SQLITE_AUTH}),
    ),
    _Refusal(
        "the database does not exist",
        "Create it, or correct its NAME in DATABASES",
        frozenset({"3D000"}),
        frozenset({1049}),
        frozenset(),
    ),
    _Refusal(
        "a lock was not free in time",
        "Look for an ALTER TABLE or a long transaction that holds it",
        frozenset({"55P03"}),
        frozenset({1205}),
        frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}),
    ),
)
TOO_SLOW = (
    "a statement exceeded the session's time limit, even for a few rows",
    "Raise the limit (statement_timeout, max_statement_time, max_execution_time), or create an "
    "index that begins with the creation time",
)
_STOPPED = ("the database interrupted the command", "Check that it can be reached")

# MariaDB and MySQL: server errors that no statement caused, and the first number of client errors.
_SERVER_ERRORS = {1040, 1047, 1053, 1203}
_CLIENT_ERRORS = 2000


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
    if isinstance(error, DatabaseError) and is_statement_timeout(error):
        return TOO_SLOW
    for each in _REFUSALS:
        if (
            _sqlstate(error) in each.sqlstates
            or error_number(error) in each.numbers
            or sqlite_code(error) in each.codes
        ):
            return each.what, each.advice
    return _STOPPED if _is_server_error(error) else None


def _sqlstate(error: Error) -> str | None:
    # psycopg gives no SQLSTATE for a refused connection.
    if re.search(r'FATAL:\s+database ".*" does not exist', str(error)):
        return "3D000"
    return sqlstate(error)


def _is_server_error(error: Error) -> bool:
    """Whether the connection or the server caused the error, and not the statement."""
    number = error_number(error)
    if isinstance(number, int):
        is_transient = isinstance(error, DatabaseError) and (
            is_conflict(error) or is_timeout(error)
        )
        return is_transient or number >= _CLIENT_ERRORS or number in _SERVER_ERRORS
    if sqlite_code(error) == sqlite3.SQLITE_ERROR:
        return False
    return isinstance(error, OperationalError | InterfaceError)
