"""Ids for the rows of a table that nobody else uses, which are sorted once, into a temporary
table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connections
from django.db.models import F

from ...errors import BackfillError
from ...functions.time_columns import TextColumn
from ...schemes import OutOfRange
from ..sources.base import Row
from ..sources.target import Target
from .minting import Position, ascending_counts, mint_counted

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


class Page(NamedTuple):
    places: Sequence[Any]
    """As the driver returns them: ``SortedRows.place`` converts one."""
    keys: Sequence[Sequence[Any]]
    """As they are stored."""


class SortedRows:
    """The place and the key of each row that a run would give an id, in order. The temporary table
    is dropped at the end of the context."""

    table = _TABLE

    def __init__(self, target: Target) -> None:
        self._target = target
        self._connection: Any = connections[target.using]
        self._number = "rowid" if self._connection.vendor == "sqlite" else "n"

    def __enter__(self) -> SortedRows:
        target, vendor = self._target, self._connection.vendor
        keys = [field.attname for field in target.key_fields]
        place = target.source.selected_place
        rows = target.missing.annotate(**{_PLACE: F(place) if isinstance(place, str) else place})
        rows = rows.order_by(*target.source.order).values_list(_PLACE, *keys)
        compiler = rows.query.get_compiler(target.using)
        sql, parameters = compiler.as_sql()
        self._convert = compiler.get_converters([compiler.select[0][0]])
        self._apply = compiler.apply_converters
        self._drop()
        self._execute(_CREATED[vendor].format(_TABLE, sql), parameters)
        if vendor == "postgresql":
            self._execute(f"CREATE UNIQUE INDEX ON {_TABLE} (n)")
            self._execute(f"ANALYZE {_TABLE}")
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    @property
    def ends(self) -> tuple[Any, Any] | None:
        sql = f"SELECT {_PLACE} FROM {_TABLE} ORDER BY {self._number} {{}} LIMIT 1"
        found = [
            self.place(place)
            for order in ("ASC", "DESC")
            for (place,) in self._execute(sql.format(order))
        ]
        return (found[0], found[1]) if found else None

    @property
    def count(self) -> int:
        return int(self._execute(f"SELECT COUNT(*) FROM {_TABLE}")[0][0])

    def pages(self) -> Iterator[Page]:
        columns = "*" if self._number == "n" else "rowid, *"
        sql = f"SELECT {columns} FROM {_TABLE} WHERE {self._number} > %s ORDER BY 1 LIMIT %s"
        last, size = 0, _PAGE
        while numbered := self._execute(sql, [last, size]):
            places = self._whole_ticks([row[1] for row in numbered], size)
            if not places:
                size *= 2
                continue
            kept = numbered[: len(places)]
            last, size = kept[-1][0], _PAGE
            yield Page(places, [row[2:] for row in kept])

    def place(self, found: Any) -> Any:
        """A place that the driver returned, as the target has it."""
        return next(iter(self._apply([(found,)], self._convert)))[0] if self._convert else found

    def _whole_ticks(self, places: list[Any], size: int) -> list[Any]:
        """Without those of the last tick, if there may be more of it."""
        if len(places) < size:
            return places
        start, _ = self._target.tick_of(self.place(places[-1]))
        count = len(places)
        while count and self._target.source.at(self.place(places[count - 1])) >= start:
            count -= 1
        return places[:count]

    def _drop(self) -> None:
        temporary = "TEMPORARY " if self._connection.vendor == "mysql" else ""
        self._execute(f"DROP {temporary}TABLE IF EXISTS {_TABLE}")

    def _execute(self, sql: str, parameters: Any = None) -> list[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return list(cursor.fetchall()) if cursor.description else []


class NewIDs:
    """Ids for pages, one after the other."""

    def __init__(self, target: Target, rows: SortedRows) -> None:
        self._target = target
        self._rows = rows
        self._connection: Any = connections[target.using]
        self._is_text = isinstance(target.source.times, TextColumn)
        self._position: Position | None = None

    def stored(self, page: Page) -> list[Any]:
        """The ids of a page as the database stores them.

        Raises ``BackfillError``, naming a row, if an id can't be generated.
        """
        target = self._target
        places: list[Any] = []
        counts: list[int] = []
        for place, same in groupby(page.places):
            places.append(place if self._is_text else self._rows.place(place))
            counts.append(len(list(same)))
        ticks = target.scheme.ticks(list(target.source.microseconds(places)))
        counted = ascending_counts(zip(ticks, counts, strict=True), self._position)
        last = page.keys[-1]
        numbers = self._minted(
            counted, (self._rows.place(page.places[-1]), last[0] if len(last) == 1 else last)
        )
        return target.field.stored(self._connection).all_to_db(numbers, self._connection)

    def _minted(self, counted: list[tuple[int, int]], last: Row) -> list[int]:
        rows = sum(count for _, count in counted)
        # If possible, with room in the last tick: local times may go back into it.
        for more in (rows, 0):
            try:
                numbers, self._position = mint_counted(
                    self._target.scheme, counted, self._position, more
                )
            except OutOfRange as error:
                if not more:
                    named = self._target.source.named(last)
                    raise BackfillError(f"stopped at {named}: {error}") from error
            else:
                break
        return numbers
