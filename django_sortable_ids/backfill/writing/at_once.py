"""Fills a table that nobody else uses: its rows are sorted once, into a temporary table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django.db import connections, transaction
from django.db.models import F

from ...errors import BackfillError
from ...schemes import OutOfRange, TimeScheme
from ..engines import engine_of
from ..sources.columns import Days, OtherColumn
from ..target import Row, Target
from .minting import Position, ascending, mint
from .reading import unix

_PAGE = 100_000
"""Rows in a transaction."""
_PLACE = "sorted_place"
_TABLE = "sorted_rows"
_CREATED = {
    # The numbers are those of the rows as they are inserted.
    "mysql": "CREATE TEMPORARY TABLE {} (n BIGINT AUTO_INCREMENT PRIMARY KEY) {}",
    "postgresql": "CREATE TEMPORARY TABLE {} AS SELECT row_number() OVER () AS n, s.* FROM ({}) s",
    "sqlite": "CREATE TEMPORARY TABLE {} AS {}",
}


def can_fill(target: Target) -> bool:
    """Whether the rows have times in a column, and get generated ids."""
    is_column = type(target) in (Target, OtherColumn, Days)
    return is_column and isinstance(target.field.scheme, TimeScheme)


def fill(target: Target) -> None:
    """Give an id to every row that a run would, page by page. A page ends with the last row of a
    tick, so that a fill that was stopped continues with the next tick.

    Raises ``BackfillError``, naming a row, if an id can't be generated.
    """
    writer = _Writer(target)
    try:
        for page in writer.pages():
            with transaction.atomic(target.using):
                writer.write(page)
    finally:
        writer.drop()


class _Writer:
    def __init__(self, target: Target) -> None:
        self._target = target
        self._connection: Any = connections[target.using]
        self._statements = engine_of(target.using).statements(target, with_times=False)
        self._position: Position | None = None
        keys = [field.attname for field in target.key_fields]
        place = target.selected_place
        rows = target.missing.annotate(**{_PLACE: F(place) if isinstance(place, str) else place})
        rows = rows.order_by(*target.order).values_list(_PLACE, *keys)
        compiler = rows.query.get_compiler(target.using)
        sql, parameters = compiler.as_sql()
        self._convert = compiler.get_converters([compiler.select[0][0]])
        self._apply = compiler.apply_converters
        vendor = self._connection.vendor
        self.drop()
        self._execute(_CREATED[vendor].format(_TABLE, sql), parameters)
        self._number = "rowid" if vendor == "sqlite" else "n"
        if vendor == "postgresql":
            self._execute(f"CREATE UNIQUE INDEX ON {_TABLE} (n)")
            self._execute(f"ANALYZE {_TABLE}")

    def pages(self) -> Iterator[list[Any]]:
        """Place and stored key of each row."""
        columns = "*" if self._number == "n" else "rowid, *"
        sql = f"SELECT {columns} FROM {_TABLE} WHERE {self._number} > %s ORDER BY 1 LIMIT %s"
        last, size = 0, _PAGE
        while numbered := self._execute(sql, [last, size]):
            rows = list(self._apply([row[1:] for row in numbered], self._convert))
            kept = self._without_last_tick(rows) if len(rows) == size else rows
            if not kept:
                size *= 2
                continue
            yield kept
            last, size = numbered[len(kept) - 1][0], _PAGE

    def _without_last_tick(self, rows: list[Any]) -> list[Any]:
        start, _ = self._target.tick_of(rows[-1][0])
        count = len(rows)
        while count and self._target.at(rows[count - 1][0]) >= start:
            count -= 1
        return rows[:count]

    def write(self, rows: list[Any]) -> None:
        target, scheme = self._target, self._target.scheme
        microseconds: list[int] = []
        for place, same in groupby(row[0] for row in rows):
            microseconds += [unix(target.at(place))] * len(list(same))
        ticks = ascending(scheme.ticks(microseconds), self._position)
        numbers = self._minted(ticks, (rows[-1][0], rows[-1][1]))
        stored = target.field.stored(self._connection).all_to_db(numbers, self._connection)
        self._statements.send([row[1:] for row in rows], stored, [])

    def _minted(self, ticks: list[int], last: Row) -> list[int]:
        scheme = self._target.scheme
        # If possible, with room in the last tick: local times may go back into it.
        for more in (len(ticks), 0):
            try:
                numbers, self._position = mint(scheme, ticks, self._position, more)
            except OutOfRange as error:
                if not more:
                    named = self._target.named(last)
                    raise BackfillError(f"stopped at {named}: {error}") from error
            else:
                break
        return numbers

    def drop(self) -> None:
        temporary = "TEMPORARY " if self._connection.vendor == "mysql" else ""
        self._execute(f"DROP {temporary}TABLE IF EXISTS {_TABLE}")

    def _execute(self, sql: str, parameters: Any = None) -> list[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return list(cursor.fetchall()) if cursor.description else []
