"""Short waits for locks: a statement that waits for one makes every later writer wait behind it."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.db import Error, OperationalError, connections, transaction

from ..errors import BackfillError
from .transactions import error_number, sqlstate

POSTGRESQL_WAIT = "500ms"
MYSQL_WAIT = 1
"""In seconds: neither server takes less than one."""
TRIES = 60
PAUSE = 1.0
"""Seconds between two tries, in which the others go on."""

_SPELLINGS = {
    *("", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "NO_FIELD_OPTIONS", "MYSQL323", "MYSQL40"),
    *("ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL"),
}
"""Modes that change how SHOW CREATE TABLE writes, or how a text is read."""
_MYSQL_ERRORS = (1205, 1213)  # lock wait timeout, deadlock
_POSTGRESQL_ERRORS = ("55P03", "40P01")  # lock_not_available, deadlock_detected


_LIMIT = {
    "mysql": ("SELECT @@lock_wait_timeout", "SET SESSION lock_wait_timeout = %s", 1),
    "postgresql": (
        "SELECT setting::bigint FROM pg_settings WHERE name = 'lock_timeout'",
        "SELECT set_config('lock_timeout', %s::text, false)",
        1000,
    ),
}
"""How to read and write how long a session waits for the lock of a table, and how many of its units
are a second. To PostgreSQL 0 means for ever.
"""


@contextmanager
def bounded_waits(using: str, seconds: float) -> Iterator[None]:
    """Let the session wait for the lock of a table for no longer, if it waited longer."""
    connection = connections[using]
    if connection.vendor not in _LIMIT:
        yield
        return
    read, write, units = _LIMIT[connection.vendor]
    most = max(1, math.ceil(seconds)) * units
    with connection.cursor() as cursor:
        cursor.execute(read)
        before = cursor.fetchone()[0]
        cursor.execute(write, [min(before or most, most)])
    session = connection.connection
    try:
        yield
    finally:
        if connection.connection is session:
            with suppress(Error), connection.cursor() as cursor:
                cursor.execute(write, [before])


def with_short_waits(connection: Any, action: Callable[[], None]) -> None:
    """Do it, in one transaction where the engine has such for DDL, and again while it can't get
    its lock in a moment.

    Raises ``BackfillError`` where others hold the table through all the tries.
    """
    for attempt in range(TRIES):
        if attempt:
            time.sleep(PAUSE)
        try:
            with _short_waits(connection):
                return action()
        except OperationalError as error:
            if not _is_about_locks(error):
                raise
            last = error
    raise BackfillError(
        f"others have held the table for all of {TRIES} tries ({last}): look for a transaction "
        f"that has been open for long, and run it again; it goes on where it stopped"
    )


@contextmanager
def _short_waits(connection: Any) -> Iterator[None]:
    if connection.vendor == "mysql":
        with _session(connection, lock_wait_timeout=MYSQL_WAIT):
            yield
        return
    with transaction.atomic(using=connection.alias):
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{POSTGRESQL_WAIT}'")
        yield


@contextmanager
def _session(connection: Any, **variables: Any) -> Iterator[None]:
    """Variables of the session on MariaDB and MySQL, which are put back behind."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(f'@@{name}' for name in variables)}")
        before = cursor.fetchone()
        try:
            for name, value in variables.items():
                cursor.execute(f"SET SESSION {name} = %s", [value])
            yield
        finally:
            for name, value in zip(variables, before, strict=True):
                cursor.execute(f"SET SESSION {name} = %s", [value])


def strict(connection: Any) -> Any:
    """A context in which MariaDB and MySQL refuse NULL, which they turn into zeros otherwise, and
    in which SHOW CREATE TABLE spells a table in one way only and can be read back."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@sql_mode")
        modes = set(cursor.fetchone()[0].split(",")) - _SPELLINGS
    wanted = ",".join(sorted(modes | {"STRICT_ALL_TABLES"}))
    return _session(connection, sql_mode=wanted, sql_quote_show_create=1)


def _is_about_locks(error: OperationalError) -> bool:
    return sqlstate(error) in _POSTGRESQL_ERRORS or error_number(error) in _MYSQL_ERRORS
