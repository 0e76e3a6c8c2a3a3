"""SQL that Django has no expression for, and its rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import DatabaseError, connections, transaction

from .errors import is_interrupted, is_statement_timeout


def rows(connection: Any, sql: str, parameters: Any = None) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def row(connection: Any, sql: str, parameters: Any = None) -> Any:
    """The first row; None if there is none."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()


def value(connection: Any, sql: str, parameters: Any = None) -> Any:
    """The first value of the first row; None if there is no row."""
    first = row(connection, sql, parameters)
    return first[0] if first else None


def named_rows(connection: Any, sql: str, parameters: Any = None) -> list[dict[str, Any]]:
    """Rows as dicts, for statements whose columns differ between server versions."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


_STEPS = 1_000
"""SQLite looks at the clock each time that it has run so many instructions: some hundred rows."""


class Select(NamedTuple):
    sql: str
    params: Sequence[Any]


def scalars(using: str, selects: Sequence[Select], seconds: float | None) -> Sequence[Any] | None:
    """The value of each select, as the driver returns it; None if they took longer than that.

    None as ``seconds`` means no limit. The caller's transaction can continue in both cases.
    """
    connection: Any = connections[using]
    sql = "SELECT " + ", ".join(f"({select.sql})" for select in selects)
    params = [param for select in selects for param in select.params]
    found: Sequence[Any]
    if seconds is None:
        found = row(connection, sql, params)
        return found
    if seconds <= 0:
        return None
    try:
        found = _WITHIN[connection.vendor](connection, sql, params, seconds)
    except DatabaseError as error:
        if is_statement_timeout(error) or is_interrupted(error):
            return None
        raise
    return found


_SET_TIMEOUT = """
SELECT current_setting('statement_timeout'), set_config('statement_timeout', least(
    %s, nullif((extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::int, 0)
)::text, true)
"""
"""Sets the milliseconds of the transaction, unless they are fewer; returns what was set before."""


def _on_postgresql(connection: Any, sql: str, params: Sequence[Any], seconds: float) -> Any:
    # Without a transaction there is no local setting; within one, a savepoint survives the error.
    with transaction.atomic(using=connection.alias):
        before, _ = row(connection, _SET_TIMEOUT, [max(1, int(seconds * 1000))])
        found = row(connection, sql, params)
        row(connection, "SELECT set_config('statement_timeout', %s, true)", [before])
    return found


def _on_mysql(connection: Any, sql: str, params: Sequence[Any], seconds: float) -> Any:
    if connection.mysql_is_mariadb:
        limited = f"SET STATEMENT max_statement_time={max(seconds, 0.001):.3f} FOR {sql}"
    else:
        hint = f"SELECT /*+ MAX_EXECUTION_TIME({max(1, int(seconds * 1000))}) */ "
        limited = hint + sql.removeprefix("SELECT ")
    return row(connection, limited, params)


def _on_sqlite(connection: Any, sql: str, params: Sequence[Any], seconds: float) -> Any:
    connection.ensure_connection()
    driver, end = connection.connection, time.monotonic() + seconds
    driver.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    try:
        return row(connection, sql, params)
    finally:
        driver.set_progress_handler(None, 0)


_WITHIN = {"postgresql": _on_postgresql, "mysql": _on_mysql, "sqlite": _on_sqlite}
