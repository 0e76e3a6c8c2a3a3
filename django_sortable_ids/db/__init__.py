"""What a database answers to SQL; its tables and columns, locks, errors and transactions."""

from __future__ import annotations

from typing import Any


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
        return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]
