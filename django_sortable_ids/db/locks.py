"""Limits of a session. Locks are requested with a short timeout, because later writers queue after
a waiting DDL."""

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from django.db import Error, OperationalError, connections, transaction

from ..errors import BackfillError
from .errors import is_table_locked
from .queries import rows, value
from .transactions import retried

POSTGRESQL_WAIT = "500ms"
MYSQL_WAIT = 1
"""Seconds; the least that both servers accept."""
TRIES = 60
PAUSE = 1.0
"""Seconds between two tries, in which other transactions can proceed."""

_SPELLINGS = {
    *("", "ANSI_QUOTES", "NO_BACKSLASH_ESCAPES", "NO_FIELD_OPTIONS", "MYSQL323", "MYSQL40"),
    *("ANSI", "DB2", "MAXDB", "MSSQL", "ORACLE", "POSTGRESQL"),
}
"""SQL modes that change the output of SHOW CREATE TABLE, or how string literals are parsed."""

_OPEN = {
    "mysql": """
SELECT trx_mysql_thread_id, TIMESTAMPDIFF(SECOND, trx_started, NOW()),
    COALESCE(LEFT(trx_query, 60), 'idle')
FROM information_schema.innodb_trx WHERE trx_mysql_thread_id <> CONNECTION_ID()
ORDER BY trx_started LIMIT 3""",
    "postgresql": """
SELECT pid, EXTRACT(EPOCH FROM clock_timestamp() - xact_start)::int,
    concat_ws(', ', application_name, state, LEFT(query, 60))
FROM pg_stat_activity
WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
ORDER BY xact_start LIMIT 3""",
}
_READ = {
    "mysql": "SELECT @@{}",
    "postgresql": "SELECT setting::bigint FROM pg_settings WHERE name = '{}'",
}
_WRITE = {"mysql": "SET SESSION {} = %s", "postgresql": "SELECT set_config('{}', %s::text, false)"}


def lift_statement_limit(connection: Any) -> None:
    """Let a statement of this session take as long as it takes, such as the count of a table."""
    _set(connection, {_statement_limit(connection): 0})


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
    now = value(connection, _READ[connection.vendor].format(lock))
    limits = {lock: min(now or most, most), _statement_limit(connection): 0}
    with session_variables(connection, **limits):
        yield


def _statement_limit(connection: Any) -> str:
    if connection.vendor == "postgresql":
        return "statement_timeout"
    return "max_statement_time" if connection.mysql_is_mariadb else "max_execution_time"


def _set(connection: Any, variables: Mapping[str, Any]) -> None:
    with connection.cursor() as cursor:
        for name, wanted in variables.items():
            cursor.execute(_WRITE[connection.vendor].format(name), [wanted])


def with_short_lock_timeout(editor: Any, action: Callable[[], None]) -> None:
    """Run ``action`` with a short lock timeout, and retry it after each timeout.

    It runs in one transaction, except on MariaDB and MySQL, which commit DDL at once. Raises
    ``BackfillError`` if every try times out.
    """
    told: list[str] = []

    def attempt() -> None:
        try:
            with _short_lock_timeout(editor.connection):
                action()
        except OperationalError as error:
            if not told and is_table_locked(error):
                told.append(_holders(editor.connection))
                print("Waiting for a lock:", *told, file=sys.stderr)
            raise

    try:
        retried(attempt, is_table_locked, TRIES, PAUSE)
    except OperationalError as error:
        if not is_table_locked(error):
            raise
        raise BackfillError(
            f"could not lock the table in {TRIES} tries ({error}): {told[0]}. End any long "
            f"transaction and run the command again; it continues where it stopped"
        ) from error


def _holders(connection: Any) -> str:
    """The oldest transactions of others, one of which holds the lock."""
    found: list[Any] = []
    with suppress(KeyError, Error):  # Not every user may ask.
        found = rows(connection, _OPEN[connection.vendor])
    told = (f"connection {pid} for {age:,} s ({query})" for pid, age, query in found)
    return "open transactions of others: " + (", ".join(told) or "none that this user may see")


@contextmanager
def _short_lock_timeout(connection: Any) -> Iterator[None]:
    if connection.vendor == "mysql":
        with session_variables(connection, lock_wait_timeout=MYSQL_WAIT):
            yield
        return
    with transaction.atomic(using=connection.alias):
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{POSTGRESQL_WAIT}'")
        yield


@contextmanager
def session_variables(connection: Any, **variables: Any) -> Iterator[None]:
    """Set variables of a server's session, and restore them afterwards if it still exists."""
    read = _READ[connection.vendor]
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
