"""Writes ids of times that are not in a column of the table."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from ...errors import BackfillError
from ...fields import LexicalSequenceField
from ...schemes import OutOfRange
from ...sequences import counters
from ..engines.base import Engine
from ..sources.derived import Derived
from ..target import Row
from .batch import NOTHING, Batch, Cursor, Written
from .minting import Position, ascending, mint
from .reading import SortedPages
from .writer import Writer


class DerivedWriter(Writer):
    """Generates the ids in Python and writes them by key, so that rows may be in any order."""

    target: Derived

    def __init__(self, target: Derived, engine: Engine) -> None:
        super().__init__(target, engine)
        self._pages = SortedPages(target) if target.needs_sort else None
        self._left: dict[Row, int] = {}
        """For a place, the counted number of later rows of its tick."""

    def next(self, cursor: Cursor | None, size: int) -> Batch:
        rows = self._rows(cursor, size)
        if not rows:
            return NOTHING
        stored, position = self._ids(rows, cursor)
        keys = [self.target.stored_key(pk) for _, pk in rows]
        place, pk = rows[-1]

        def write() -> Written:
            return Written(
                self._statements.send(keys, stored, []), Cursor(place, pk, position), rows[-1]
            )

        return Batch(rows, len(rows), write)

    def stopped(self, row: Row, error: Exception) -> BackfillError:
        return super().stopped((self.target.at(row[0]), row[1]), error)

    def _computing_ids(self) -> None:
        return None

    def _rows(self, cursor: Cursor | None, size: int) -> Sequence[Row]:
        if self._pages:
            return self._pages.after(cursor.place if cursor else None, size)
        return self.target.read(self.pending.all(cursor)[:size])

    def _ids(self, rows: Sequence[Row], cursor: Cursor | None) -> tuple[list[Any], Position | None]:
        """The values for the column, and the position where the next batch continues."""
        field, count = self.target.field, len(rows)
        with self.naming(rows[-1]):
            if isinstance(field, LexicalSequenceField):
                ids = counters.take(field, field.scheme, count, self.target.using)
                return self._stored(ids), None
            position = cursor.position if cursor else None
            ticks = ascending(self._ticks(rows), position)
            more = self._more_in_tick(rows, cursor, ticks)
            try:
                # Leave room for as many rows that may be inserted later.
                numbers, position = mint(self._scheme, ticks, position, more + count)
            except OutOfRange:
                numbers, position = mint(self._scheme, ticks, position, more)
            return field.stored(self._connection).all_to_db(numbers, self._connection), position

    def _ticks(self, rows: Sequence[Row]) -> list[int]:
        ticks: list[int] = []
        for place, same in groupby(place for place, _ in rows):
            ticks += [self._tick(place)] * len(list(same))
        return ticks

    def _tick(self, place: Any) -> int:
        return self._scheme.tick(self.target.at(place))

    def _more_in_tick(
        self, rows: Sequence[Row], cursor: Cursor | None, ticks: Sequence[int]
    ) -> int:
        """How many rows after these share the last tick; a large tick is counted only once."""
        known = self._left.get(cursor.place, 0) if cursor else 0
        if known > len(rows) and ticks[0] == ticks[-1]:
            left = known - len(rows)
        else:
            left = self._count_later(rows[-1], ticks[-1])
        before = {cursor.place: known} if cursor else {}
        self._left = {**before, rows[-1]: left}
        return left

    def _count_later(self, last: Row, tick: int) -> int:
        if self._pages:
            count = self._pages.count_while(last, lambda place: self._tick(place) <= tick)
            if count is not None:
                return count
        scheme = self._scheme
        at = scheme.created_at(scheme.from_trusted(scheme.layout.join(tick, 0)))
        end = scheme.tick_span(max(at, self.target.at(last[0])))[1]
        later = self.target.after(*last) & self.target.between(None, end)
        return self.target.missing.filter(later).count()
