"""Runs what is said to the database about a batch."""

import re
from typing import Any


def execute(connection: Any, sql: str, parameters: dict[str, Any]) -> int:
    """How many rows an UPDATE of a batch has changed."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The planner would read the whole table for the join of every batch.
            cursor.execute("SET LOCAL enable_hashjoin = off")
            cursor.execute("SET LOCAL enable_mergejoin = off")
        cursor.execute(sql, parameters)
        return _written_rows(connection, cursor)


def _written_rows(connection: Any, cursor: Any) -> int:
    """How many rows the last UPDATE has changed.

    Django has MariaDB and MySQL count those that matched, of which some are looked up in vain.
    """
    if connection.vendor != "mysql":
        return int(cursor.rowcount)
    # "Rows matched: 12  Changed: 11  Warnings: 0", in the language of the server. MariaDB adds
    # "Inserted: 11" for a table with a history.
    _, changed, *_ = re.findall(r"\d+", connection.connection.info())
    return int(changed)


def named_rows(cursor: Any) -> list[dict[str, Any]]:
    """What a statement gave whose columns differ between versions of a server, by their names."""
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
