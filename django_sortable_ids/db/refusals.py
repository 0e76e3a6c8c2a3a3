"""What a database refuses, in words for people, with what to do next."""

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
        "Name one that can, not a replica, or let it be written to",
        frozenset({"25006"}),
        frozenset({1290, 1792, 1836, 3948}),
        frozenset({sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}),
    ),
    _Refusal(
        "the database has no room left",
        "Make room for it",
        frozenset({"53100"}),
        frozenset({3, 1021, 1114}),
        frozenset({sqlite3.SQLITE_FULL}),
    ),
    _Refusal(
        "a row has a value that the session refuses, in a column that is not filled",
        "Correct it, or let sql_mode allow it (ALLOW_INVALID_DATES)",
        frozenset(),
        frozenset({1292}),
        frozenset(),
    ),
    _Refusal(
        "the user of the database lacks a right",
        "GRANT it SELECT and UPDATE on the table, and all on those of django_sortable_ids",
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
        "others hold a lock that it waited for",
        "Look for an ALTER TABLE, or a transaction that has been open for long",
        frozenset({"55P03"}),
        frozenset({1205}),
        frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}),
    ),
)
TOO_SLOW = (
    "a statement took longer than the session lets it, of a few rows too",
    "Raise its time limit (statement_timeout, max_statement_time, max_execution_time), or make an "
    "index that begins with the creation time",
)
_STOPPED = ("the database stopped it", "See that it can be reached")

# Of MariaDB and MySQL: the server's own that aren't about a statement, and those of its clients.
_SERVER_ERRORS = {1040, 1047, 1053, 1203}
_CLIENT_ERRORS = 2000


@contextmanager
def explained(again: str) -> Iterator[None]:
    """Turn what the database refuses into a ``CommandError``; ``again`` is the command for later.

    What it has no words for, an error of this app maybe, is raised as it is.
    """
    try:
        yield
    except (DatabaseError, InterfaceError) as error:
        found = _explanation(error)
        if found is None:
            raise
        what, advice = found
        said = " ".join(str(error).split())
        raise CommandError(
            f"{what}: {said}. What was committed before is kept. {advice}. Continue with: {again}"
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
    return _STOPPED if _is_of_server(error) else None


def _sqlstate(error: Error) -> str | None:
    """psycopg knows none of a connection that was refused."""
    if re.search(r'FATAL:\s+database ".*" does not exist', str(error)):
        return "3D000"
    return sqlstate(error)


def _is_of_server(error: Error) -> bool:
    """Whether the connection or the server is the cause, and not what was said to it."""
    number = error_number(error)
    if isinstance(number, int):
        is_passing = isinstance(error, DatabaseError) and (is_conflict(error) or is_timeout(error))
        return is_passing or number >= _CLIENT_ERRORS or number in _SERVER_ERRORS
    if sqlite_code(error) == sqlite3.SQLITE_ERROR:
        return False
    return isinstance(error, OperationalError | InterfaceError)
