"""Short waits for locks: a statement that waits for one makes every later writer wait behind it."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import OperationalError, transaction

from ..transactions import error_number, sqlstate
from .errors import BackfillError

POSTGRESQL_WAIT = "500ms"
MYSQL_WAIT = 1
"""In seconds: neither server takes less than one."""
TRIES = 60
PAUSE = 1.0
"""Seconds between two tries, in which the others go on."""

_MYSQL_ERRORS = (1205, 1213)  # lock wait timeout, deadlock
_POSTGRESQL_ERRORS = ("55P03", "40P01")  # lock_not_available, deadlock_detected


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
    """A context in which MariaDB and MySQL refuse NULL, which they turn into zeros otherwise."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@sql_mode")
        mode = cursor.fetchone()[0]
    return _session(
        connection, sql_mode=f"{mode},STRICT_ALL_TABLES" if mode else "STRICT_ALL_TABLES"
    )


def _is_about_locks(error: OperationalError) -> bool:
    return sqlstate(error) in _POSTGRESQL_ERRORS or error_number(error) in _MYSQL_ERRORS
