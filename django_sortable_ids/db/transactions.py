"""Short transactions that are independent of the caller's, and retries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from threading import Thread
from typing import Any, TypeVar

from django.db import DatabaseError, Error, InterfaceError, connections, transaction

from .errors import Kind, is_conflict, is_leaving

Result = TypeVar("Result")

TRIES = 20
_FIRST_PAUSE = 0.01
"""Seconds; the longest first pause. The limit doubles at each retry, up to one second."""


def is_in_memory(using: str) -> bool:
    """Whether this is an in-memory SQLite database, of which each connection has its own."""
    connection: Any = connections[using]
    return bool(connection.vendor == "sqlite" and connection.is_in_memory_db())


def in_transaction(using: str) -> bool:
    """Whether the caller can still roll back what is written now."""
    connection = connections[using]
    return connection.in_atomic_block or not connection.get_autocommit()


def savepoint(using: str) -> Any:
    """A savepoint of the caller's transaction, so that an error leaves that usable; without one,
    nothing: no transaction is started."""
    return transaction.atomic(using=using) if in_transaction(using) else nullcontext()


def apart(work: Callable[[], Result], using: str, *, fresh: bool = False) -> Result:
    """The result of ``work``, committed even if the caller's transaction is rolled back.

    ``work`` runs in its own transaction on ``using``, and again after a conflict with another
    transaction. It gets a second connection if the caller is in a transaction, or with ``fresh``.
    """

    def transact() -> Result:
        with _free_connection(using, fresh), transaction.atomic(using=using):
            return work()

    return retried(transact)


def retried(
    work: Callable[[], Result],
    is_transient: Kind = is_conflict,
    tries: int = TRIES,
    pause: float | None = None,
) -> Result:
    """The result of ``work``, which is retried after transient errors: ``tries`` times in all,
    after ``pause`` seconds, or after random pauses that grow."""
    for attempt in range(tries):
        try:
            return work()
        except DatabaseError as error:
            if attempt == tries - 1 or not is_transient(error):
                raise
        growing = random.random() * min(1, _FIRST_PAUSE * 2**attempt)
        time.sleep(growing if pause is None else pause)
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


def is_lost(error: Error, using: str) -> bool:
    """Whether the connection was lost, so the outcome of its commit is unknown."""
    connection = connections[using]
    return (
        isinstance(error, InterfaceError)
        or is_leaving(error)
        or connection.connection is None
        or not connection.is_usable()
    )


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
