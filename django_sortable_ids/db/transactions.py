"""Short transactions that are independent of the caller's, retries, and limits of a session.

Locks are requested with a short timeout, because later writers queue after a waiting DDL.
"""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from threading import Thread
from typing import Any, TypeVar

from django.db import (
    DatabaseError,
    Error,
    InterfaceError,
    OperationalError,
    connections,
    transaction,
)

from ..errors import BackfillError
from . import value
from .errors import Kind, is_conflict, is_leaving, is_table_locked

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
        original = connections[using]
        if fresh or in_transaction(using):
            _connect_again(using)
        try:
            _commit_each_statement(using)
            with transaction.atomic(using=using):
                return work()
        finally:
            if connections[using] is not original:
                connections[using].close()
                connections[using] = original

    return retried(transact)


def retried(
    work: Callable[[], Result],
    is_transient: Kind = is_conflict,
    tries: int = TRIES,
    pause: float | None = None,
) -> Result:
    """The result of ``work``, which is retried after transient errors: ``tries`` times in all,
    after ``pause`` seconds, or after random pauses that grow."""
    for attempt in range(tries - 1):
        try:
            return work()
        except DatabaseError as error:
            if not is_transient(error):
                raise
        growing = random.random() * min(1, _FIRST_PAUSE * 2**attempt)
        time.sleep(growing if pause is None else pause)
    return work()


def in_a_thread(work: Callable[[], Result], using: str) -> Result:
    """Run ``work`` in a thread with its own connection, which is closed afterwards.

    Returns or raises what ``work`` does. For code that may run in an event loop, where Django
    forbids queries, or in a forked process whose connection belongs to its parent.
    """
    done: Future[Result] = Future()

    def run() -> None:
        try:
            _connect_again(using)
            _commit_each_statement(using)
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


def _connect_again(using: str) -> None:
    """Replace the connection of this thread by a new one, outside of a pool: all connections of the
    pool may be in transactions that wait for this one."""
    connections[using] = connections[using].copy()
    connections[using].settings_dict["OPTIONS"].pop("pool", None)


def _commit_each_statement(using: str) -> None:
    """Turn autocommit on, also where the project turns it off: nobody would commit here."""
    if not connections[using].get_autocommit():
        connections[using].set_autocommit(True)


# Limits of a session

_SHORT_WAITS: dict[str, dict[str, Any]] = {
    "mysql": {"lock_wait_timeout": 1},  # s; the least that both servers accept
    "postgresql": {"lock_timeout": 500},  # ms
}
LOCK_TRIES = 60
LOCK_PAUSE = 1.0
"""Seconds between two tries, in which other transactions can proceed."""

_SPELLINGS = {
    *("", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "NO_FIELD_OPTIONS", "MYSQL323", "MYSQL40"),
    *("ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL"),
}
"""SQL modes that change the output of SHOW CREATE TABLE, or how string literals are parsed."""

_READ = {
    "mysql": "SELECT @@{}",
    "postgresql": "SELECT setting::bigint FROM pg_settings WHERE name = '{}'",
}
_WRITE = {"mysql": "SET SESSION {} = %s", "postgresql": "SELECT set_config('{}', %s::text, {})"}
"""On PostgreSQL, a transaction that is open already sets them only until it ends."""


def lift_statement_limit(connection: Any) -> None:
    """Let a statement of this session take as long as it takes, such as the count of a table."""
    _set(connection, {_statement_limit(connection): 0})


def without_statement_limit(connection: Any) -> Any:
    """A context in which a statement of this session may take as long as it takes."""
    names = [_statement_limit(connection)] if connection.vendor in _WRITE else []
    return session_variables(connection, **dict.fromkeys(names, 0))


@contextmanager
def session_limits(using: str, lock_seconds: float = 60.0) -> Iterator[None]:
    """Lift the session's limit for the time of a statement, and lower that for table locks to
    ``lock_seconds``, if it is longer."""
    connection = connections[using]
    if connection.vendor not in _WRITE:
        yield
        return
    # PostgreSQL's is in milliseconds, and 0 is no limit.
    is_mysql = connection.vendor == "mysql"
    lock = "lock_wait_timeout" if is_mysql else "lock_timeout"
    most = max(1, math.ceil(lock_seconds)) * (1 if is_mysql else 1000)
    present = value(connection, _READ[connection.vendor].format(lock))
    limits = {lock: min(present or most, most), _statement_limit(connection): 0}
    with session_variables(connection, **limits):
        yield


def _statement_limit(connection: Any) -> str:
    if connection.vendor == "postgresql":
        return "statement_timeout"
    return "max_statement_time" if connection.mysql_is_mariadb else "max_execution_time"


def _set(connection: Any, variables: Mapping[str, Any]) -> None:
    with connection.cursor() as cursor:
        for name, wanted in variables.items():
            write = _WRITE[connection.vendor].format(name, connection.in_atomic_block)
            cursor.execute(write, [wanted])


def with_short_lock_timeout(editor: Any, action: Callable[[], None]) -> None:
    """Run ``action`` with a short lock timeout, and retry it after each timeout.

    It runs in one transaction, except on MariaDB and MySQL, which commit DDL at once. Raises
    ``BackfillError`` if every try times out.
    """
    connection, reported = editor.connection, list[Any]()

    def attempt() -> None:
        is_mysql, wait = connection.vendor == "mysql", _SHORT_WAITS.get(connection.vendor, {})
        try:
            with (
                nullcontext() if is_mysql else transaction.atomic(using=connection.alias),
                session_variables(connection, **wait),
            ):
                action()
        except OperationalError as error:
            if is_table_locked(error) and error.args not in reported:
                reported.append(error.args)
                print(f"Waiting for a lock: {error}", file=sys.stderr)
            raise

    try:
        retried(attempt, is_table_locked, LOCK_TRIES, LOCK_PAUSE)
    except OperationalError as error:
        if not is_table_locked(error):
            raise
        raise BackfillError(
            f"could not lock the table in {LOCK_TRIES} tries ({error}). End any long transaction, "
            f"which pg_stat_activity or information_schema.innodb_trx lists, and run the command "
            f"again; it continues where it stopped"
        ) from error


@contextmanager
def session_variables(connection: Any, **variables: Any) -> Iterator[None]:
    """Set variables of a server's session, and restore them afterwards if it still exists."""
    read = _READ.get(connection.vendor, "")
    before = {name: value(connection, read.format(name)) for name in variables}
    session = connection.connection
    try:
        _set(connection, variables)
        yield
    finally:
        if connection.connection is session:
            with suppress(Error):
                _set(connection, before)


def strict(connection: Any) -> Any:
    """A context in which MariaDB and MySQL refuse NULL instead of storing zeros, and in which SHOW
    CREATE TABLE has only one form, which can be parsed and executed."""
    modes = set(value(connection, "SELECT @@sql_mode").split(",")) - _SPELLINGS
    wanted = ",".join(sorted(modes | {"STRICT_ALL_TABLES"}))
    return session_variables(connection, sql_mode=wanted, sql_quote_show_create=1)
