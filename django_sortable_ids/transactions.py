"""Short transactions of our own, beside the caller's."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import DatabaseError, connections, transaction

Result = TypeVar("Result")

TRIES = 20
_FIRST_PAUSE = 0.01
"""Seconds; each pause is up to twice as long as the one before."""

# Serialization failure and deadlock of PostgreSQL.
_SQLSTATES = {"40001", "40P01"}
# Deadlock, by which Galera refuses a commit too, and "Record has changed since last read".
_MYSQL_ERRORS = {1213, 1020}


def in_transaction(using: str) -> bool:
    """Whether the caller may still roll back what is written now."""
    connection = connections[using]
    return connection.in_atomic_block or not connection.get_autocommit()


def apart(work: Callable[[], Result], using: str) -> Result:
    """What ``work`` gives, committed whatever becomes of the caller's transaction.

    ``work`` runs in a transaction of ``using``, on a second connection where the caller is in one,
    and again where other transactions were in its way.
    """
    for attempt in range(TRIES):
        try:
            with _free_connection(using), transaction.atomic(using=using):
                return work()
        except DatabaseError as error:
            if attempt == TRIES - 1 or not is_conflict(error):
                raise
        time.sleep(random.random() * min(1, _FIRST_PAUSE * 2**attempt))
    raise AssertionError("the last try returns or raises")


def is_conflict(error: DatabaseError) -> bool:
    """Whether other transactions were in the way, so that the same one may pass now."""
    cause = error.__cause__
    sqlstate = getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)
    return sqlstate in _SQLSTATES or (bool(error.args) and error.args[0] in _MYSQL_ERRORS)


@contextmanager
def _free_connection(using: str) -> Iterator[None]:
    """Puts a new connection in the place of this thread's, unless that one is in no transaction."""
    callers = connections[using]
    if not in_transaction(using):
        yield
        return
    connections[using] = callers.copy()
    try:
        yield
    finally:
        connections[using].close()
        connections[using] = callers
