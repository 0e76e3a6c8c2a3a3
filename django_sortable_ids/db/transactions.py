"""Short transactions that are independent of the caller's, retries, and error codes."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import Any, TypeVar

from django.db import DatabaseError, Error, InterfaceError, connections, transaction

Result = TypeVar("Result")

TRIES = 20
_FIRST_PAUSE = 0.01
"""Seconds; the longest first pause. The limit doubles at each retry, up to one second."""

# Serialization failure and deadlock of PostgreSQL.
_SQLSTATES = {"40001", "40P01"}
# Deadlock, also for a commit that Galera refuses, and "Record has changed since last read".
_MYSQL_ERRORS = {1213, 1020}

# statement_timeout of PostgreSQL; MariaDB's max_statement_time and MySQL's max_execution_time.
_STATEMENT_TIMEOUT_SQLSTATES = {"57014"}
_STATEMENT_TIMEOUT_MYSQL_ERRORS = {1969, 3024}
# These and lock_timeout, innodb_lock_wait_timeout.
_TIMEOUT_SQLSTATES = _STATEMENT_TIMEOUT_SQLSTATES | {"55P03"}
_TIMEOUT_MYSQL_ERRORS = _STATEMENT_TIMEOUT_MYSQL_ERRORS | {1205}
_SQLITE_TIMEOUTS = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}

# Server shutdown, and a node that has left its cluster: "WSREP has not yet prepared node".
_AWAY_MYSQL_ERRORS = {1053, 1047}


def is_in_memory(using: str) -> bool:
    """Whether this is an in-memory SQLite database, of which each connection has its own."""
    connection: Any = connections[using]
    return bool(connection.vendor == "sqlite" and connection.is_in_memory_db())


def in_transaction(using: str) -> bool:
    """Whether the caller can still roll back what is written now."""
    connection = connections[using]
    return connection.in_atomic_block or not connection.get_autocommit()


def apart(work: Callable[[], Result], using: str, *, fresh: bool = False) -> Result:
    """The result of ``work``, committed even if the caller's transaction is rolled back.

    ``work`` runs in its own transaction on ``using``, and again after a conflict with another
    transaction. It gets a second connection if the caller is in a transaction, or with ``fresh``.
    """

    def transact() -> Result:
        with _free_connection(using, fresh), transaction.atomic(using=using):
            return work()

    return retried(transact)


def retried(work: Callable[[], Result]) -> Result:
    """The result of ``work``, which is retried after conflicts with other transactions."""
    for attempt in range(TRIES):
        try:
            return work()
        except DatabaseError as error:
            if attempt == TRIES - 1 or not is_conflict(error):
                raise
        time.sleep(random.random() * min(1, _FIRST_PAUSE * 2**attempt))
    raise AssertionError("the last try returns or raises")


def in_a_thread(work: Callable[[], Result], using: str) -> Result:
    """Run ``work`` in a thread with its own connection, which is closed afterwards.

    Returns or raises what ``work`` does. For code that may run in an event loop, where Django
    forbids queries, or in a forked process whose connection belongs to its parent.
    """
    done: Future[Result] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)
        finally:
            connections[using].close()

    thread = Thread(target=run, name="sortable-ids", daemon=True)
    thread.start()
    thread.join()
    return done.result()


def is_conflict(error: DatabaseError) -> bool:
    """Whether another transaction caused the error, so a retry may succeed."""
    return sqlstate(error) in _SQLSTATES or error_number(error) in _MYSQL_ERRORS


def is_timeout(error: DatabaseError) -> bool:
    """Whether a statement exceeded the session's limit for lock waits or for its run time."""
    return (
        sqlstate(error) in _TIMEOUT_SQLSTATES
        or error_number(error) in _TIMEOUT_MYSQL_ERRORS
        or sqlite_code(error) in _SQLITE_TIMEOUTS
    )


def is_statement_timeout(error: DatabaseError) -> bool:
    """Whether a statement exceeded the session's limit for its run time."""
    return (
        sqlstate(error) in _STATEMENT_TIMEOUT_SQLSTATES
        or error_number(error) in _STATEMENT_TIMEOUT_MYSQL_ERRORS
    )


def is_lost(error: Error, using: str) -> bool:
    """Whether the connection was lost, so the outcome of its commit is unknown."""
    connection = connections[using]
    return (
        isinstance(error, InterfaceError)
        or error_number(error) in _AWAY_MYSQL_ERRORS
        or connection.connection is None
        or not connection.is_usable()
    )


def sqlstate(error: Error) -> str | None:
    """The SQLSTATE of PostgreSQL; None for other engines."""
    cause = error.__cause__
    return getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None)


def sqlite_code(error: Error) -> int:
    """The primary result code of SQLite; 0 for other engines."""
    # The low byte of an extended result code.
    return int(getattr(error.__cause__, "sqlite_errorcode", 0)) & 0xFF


def error_number(error: Error) -> object:
    """The error number of MariaDB and MySQL; meaningless for other engines."""
    return error.args[0] if error.args else None


@contextmanager
def _free_connection(using: str, fresh: bool) -> Iterator[None]:
    """Replace this thread's connection if it is in a transaction, or with ``fresh``."""
    callers = connections[using]
    if not fresh and not in_transaction(using):
        yield
        return
    connections[using] = callers.copy()
    try:
        yield
    finally:
        connections[using].close()
        connections[using] = callers
