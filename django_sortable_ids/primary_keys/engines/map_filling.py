"""Fills a map of keys: the rows are sorted by their times, and get ids in that order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connections, transaction

from ...backfill.engines import engine_of
from ...backfill.planning import preflight
from ...backfill.sources.every_row import EveryRow
from ...backfill.writing.at_once import NewIDs, SortedRows
from ...errors import BackfillError
from ..changes.maps import NEW_KEY, OLD_KEY

_NEXT = "sortable_ids_next"
"""The function of SQLite that returns the next id of a page."""
_ROWS = 10_000
"""In one INSERT."""
_UNSORTED = "sorted_rows_with_ids"


def fill(target: EveryRow, map_table: str, *, is_checked: bool) -> None:
    """Write an id for every row of the target into the empty table ``map_table``.

    ``is_checked`` says that the times of its source were checked already. Raises ``BackfillError``
    for a row without a usable time.
    """
    with SortedRows(target) as rows:
        _check(target, rows, is_checked)
        ids = NewIDs(target, rows)
        if connections[target.using].vendor == "sqlite":
            _fill_sqlite(target, map_table, rows, ids)
        else:
            _fill_mysql(target, map_table, rows, ids)


def _check(target: EveryRow, rows: SortedRows, is_checked: bool) -> None:
    """The first and the last time show whether all are there and in the scheme's range."""
    ends = rows.ends
    if ends is not None:
        preflight.check_rows(
            target,
            rows.count,
            engine_of(target.using),
            may_be_misread=not is_checked,
            are_in_range=_are_in_range(target, ends),
        )


def _are_in_range(target: EveryRow, ends: Sequence[Any]) -> bool:
    if None in ends or target.time_range is None:
        return False
    start, end = target.time_range
    return all(start <= target.at(each) < end for each in ends)


def _fill_sqlite(target: EveryRow, map_table: str, rows: SortedRows, ids: NewIDs) -> None:
    """The map is written in the order of its key, because a row at a random place takes several
    times as long as sorting it."""
    connection: Any = connections[target.using]
    quote = connection.ops.quote_name
    (key,) = rows.key_columns
    with transaction.atomic(target.using), connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {_UNSORTED} (old_key, new_key)")
        for page in rows.places():
            with _next_of(connection, ids.stored(page)):
                cursor.execute(
                    f"INSERT INTO {_UNSORTED} SELECT {quote(key)}, {_NEXT}() FROM {rows.table} "
                    f"WHERE rowid BETWEEN %s AND %s ORDER BY rowid",
                    [page.first, page.last],
                )
        cursor.execute(
            f"INSERT INTO {quote(map_table)} ({OLD_KEY}, {NEW_KEY}) "
            f"SELECT old_key, new_key FROM {_UNSORTED} ORDER BY old_key"
        )
        cursor.execute(f"DROP TABLE {_UNSORTED}")


@contextmanager
def _next_of(connection: Any, stored: Sequence[Any]) -> Iterator[None]:
    """``_NEXT`` returns one of these after the other."""
    create = connection.connection.create_function
    create(_NEXT, 0, iter(stored).__next__)
    try:
        yield
    finally:
        create(_NEXT, 0, None)


def _fill_mysql(target: EveryRow, map_table: str, rows: SortedRows, ids: NewIDs) -> None:
    connection: Any = connections[target.using]
    quote = connection.ops.quote_name
    sql = f"INSERT INTO {quote(map_table)} ({OLD_KEY}, {NEW_KEY}) VALUES "
    for page in rows.pages():
        # In the order of the key, a page of the table is read and written once.
        pairs = sorted(zip((key for (key,) in page.keys), ids.stored(page), strict=True))
        with transaction.atomic(target.using), connection.cursor() as cursor:
            for start in range(0, len(pairs), _ROWS):
                listed = [f"({key},{_literal(new)})" for key, new in pairs[start : start + _ROWS]]
                cursor.execute(sql + ",".join(listed))


def _literal(stored: Any) -> str:
    """An id in SQL: the driver takes several times as long to write one."""
    if isinstance(stored, int):
        return str(stored)
    text = stored.hex() if isinstance(stored, bytes) else str(stored)
    if not text.replace("-", "").isalnum() or not text.isascii():
        raise BackfillError(f"{text!r} is no id")
    return f"x'{text}'" if isinstance(stored, bytes) else f"'{text}'"
