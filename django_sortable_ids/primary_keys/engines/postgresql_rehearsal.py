"""Changes temporary tables without rows, and creates the views of them, before anything is written.

The temporary tables have the names of those that they are copied from, and are found before them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import DatabaseError, transaction

from ...db import tables
from ...db.queries import rows
from ..changes import Table
from .postgresql_views import View, misfit

PATTERN_INDEXES = """
SELECT DISTINCT i.indexrelid::regclass::text
FROM pg_index i CROSS JOIN unnest(i.indclass::oid[]) AS class
JOIN pg_opclass ON pg_opclass.oid = class
JOIN pg_attribute ON attrelid = i.indrelid AND attnum = ANY (i.indkey::smallint[])
WHERE i.indrelid = to_regclass(%s) AND attname = %s AND opcname LIKE '%%pattern_ops'
    AND i.indnatts = 1
"""
_LIKE = "INCLUDING CONSTRAINTS INCLUDING GENERATED INCLUDING INDEXES INCLUDING STATISTICS"


def rehearse(
    connection: Any,
    changed: Iterable[Table],
    types: Callable[[Table], Iterable[tuple[str, str]]],
    views: Iterable[View],
) -> Iterator[str]:
    """What fails. ``types`` are the columns of a table that change, each with its new type."""
    found: list[str] = []
    with transaction.atomic(connection.alias):
        for table in changed:
            if error := _failure(connection, _copied(connection, table, types(table))):
                found.append(f"{table.name} can't be changed: {error}")
        for view in views:
            sql = f"CREATE TEMPORARY VIEW {view.name} AS {view.query}"
            is_found = "." not in view.name
            if is_found and (error := _failure(connection, [sql])):
                found.append(misfit(view, error))
        transaction.set_rollback(True, connection.alias)
    yield from found


def _copied(connection: Any, table: Table, types: Iterable[tuple[str, str]]) -> Iterator[str]:
    quote = connection.ops.quote_name
    name = quote(tables.split(connection, table.name)[1])
    yield f"CREATE TEMPORARY TABLE {name} (LIKE {quote(table.name)} {_LIKE})"
    types = list(types)
    # The same as before the real change, whose types may not have such indexes.
    for column, _ in types:
        for (index,) in rows(connection, PATTERN_INDEXES, [f"pg_temp.{name}", column]):
            yield f"DROP INDEX {index}"
    changes = (f"ALTER {quote(column)} TYPE {kind} USING NULL" for column, kind in types)
    yield f"ALTER TABLE pg_temp.{name} {', '.join(changes)}"


def _failure(connection: Any, statements: Iterable[str]) -> DatabaseError | None:
    try:
        with transaction.atomic(connection.alias), connection.cursor() as cursor:
            for sql in statements:
                cursor.execute(sql)
    except DatabaseError as error:
        return error
    return None
