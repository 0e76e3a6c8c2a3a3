"""The rows without an id after a row, in the order of creation times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.db.models import Q, QuerySet

from .batch import Cursor, Span
from .sources.base import Row
from .sources.target import SORTED_AT_ONCE, Target

_LOOKS = 5
"""How often the last of some rows is read again when another transaction changes it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The first and the last of the next rows, and how many there are, at most."""

    first: Row
    last: Row
    size: int
    more_in_tick: int
    """Number of rows after the last one that share its tick."""
    continues_time: bool
    """Whether all of its rows have the time of the previous batch."""


class PendingRows:
    """The rows of a target without an id after a cursor; a cursor of None is before all rows."""

    def __init__(self, target: Target, *, finds_ends_by_time: bool) -> None:
        self._target, self._source = target, target.source
        self._in_memory = RowsInMemory(target) if target.source.needs_sort else None
        self._left: dict[tuple[Any, Any], int] = {}
        """For a row, the counted number of later rows of its tick."""
        self._of_one_time: Row | None = None
        """The last row of a batch whose rows share one time: there may be more of them."""
        self._is_dense = finds_ends_by_time
        """Whether nearly all rows are without an id, and checking each of them is slow."""

    def after(self, cursor: Cursor | None) -> QuerySet[Any, Any]:
        missing = self._target.missing
        return missing.filter(self._source.after(*cursor.row)) if cursor else missing

    def following(self, cursor: Cursor | None, size: int) -> QuerySet[Any, Any]:
        """A queryset whose first ``size`` rows are the next ones, as far as there are some."""
        if cursor and cursor.row == self._of_one_time:
            same_time = self._source.compared("exact", cursor.row[0]) & Q(pk__gt=cursor.row[1])
            of_that_time = self._target.missing.filter(same_time)
            if of_that_time[size - 1 : size].exists():
                return of_that_time
        return self.after(cursor)

    def next_rows(self, cursor: Cursor | None, size: int) -> list[Row]:
        """The next ``size`` rows, or as many as there are, by one sort for many calls if no index
        has their order."""
        if self._in_memory:
            return self._in_memory.after(cursor.row if cursor else None, size)
        rows = self._target.read(self.following(cursor, size)[:size])
        return _unchanged(self._target, rows, locks=True) if self._source.comes_last else rows

    def bounds(self, cursor: Cursor | None, size: int) -> Bounds | None:
        """The next rows, with the last one locked: the next batch continues at its id."""
        rows = self.following(cursor, size)
        for _ in range(_LOOKS):
            if (first := self._target.first(rows)) is None:
                return None
            first_tick = self._target.checked_tick(first)
            last = self._last_of_dense(first, size) if self._is_dense else None
            count = size
            if last is None and (last := self._target.first(rows[size - 1 : size])) is None:
                last, count = self._target.first(rows.reverse()), rows.count()
            if last and self._lock(last):
                ticks = [first_tick, self._target.checked_tick(last)]
                left = self.left(cursor, last, ticks, count)
                continues_time = False
                if cursor and cursor.row == self._of_one_time:
                    continues_time = cursor.row[0] == first[0] == last[0]
                return Bounds(first, last, count, left, continues_time)
        return None

    def _last_of_dense(self, first: Row, size: int) -> Row | None:
        """The last one of the first ``size`` rows, if hardly any row has an id: read from the index
        on the time alone."""
        if size < 2:
            return None
        rows = self._target.rows.order_by(*self._source.order)
        if self._target.time_range:
            # Rows with an id, or rows for --on-out-of-range, may have a time without a tick.
            rows = rows.filter(self._source.between(*self._target.time_range))
        end = self._target.first(rows.filter(self._source.after(*first))[size - 2 : size - 1])
        # The last row may be an excluded one, whose time has no tick.
        if end is None or self._source.at(end[0]) < self._target.tick_of(first[0])[1]:
            return None
        missing = self._target.missing.filter(self._source.until(*end))
        return self._target.first(missing.reverse())

    def last_of(self, span: Span) -> Row | None:
        """The last row without an id of the span's last tick, locked; None if there is none."""
        start = self._target.tick_of(span.last[0])[0]
        of_tick = self._source.between(start, None) & self._source.compared("gte", span.first[0])
        of_tick &= self._source.until(*span.last)
        missing = self._target.missing.filter(of_tick).reverse()
        for _ in range(_LOOKS):
            last = self._target.first(missing)
            if last is None or self._lock(last):
                return last
        return None

    def left(self, cursor: Cursor | None, last: Row, ticks: Sequence[int], size: int) -> int:
        """How many rows after ``last`` share its tick. ``last`` is the last of the ``size`` rows of
        a batch, and ``ticks`` are theirs.

        A large tick is counted once, not for each of its batches.
        """
        target, left = self._target, None
        counted = self._left.get(cursor.row, 0) if cursor else 0
        if counted > size and ticks[0] == ticks[-1]:
            left = counted - size
        elif self._in_memory:
            tick = target.tick(last[0])
            left = self._in_memory.count_while(last, lambda place: target.tick(place) == tick)
        if left is None:
            later = target.missing.filter(self._source.after(*last))
            of_tick = self._source.between(None, target.tick_of(last[0])[1])
            left = later.filter(of_tick).count()
        before = {cursor.row: counted} if cursor else {}
        self._left = {**before, last: left}
        return left

    def made(self, first: Row, last: Row, size: int) -> None:
        is_of_one_time = size > 1 and first[0] == last[0] and self._source.order != ("pk",)
        self._of_one_time = last if is_of_one_time else None

    def wrote(self, filled: int, size: int) -> None:
        """Note that ``filled`` of ``size`` rows had no id."""
        self._is_dense = self._is_dense and filled > size // 2

    def _lock(self, row: Row) -> bool:
        """Lock the row; False if it no longer exists as it was read."""
        at_place = self._source.compared("exact", row[0])
        rows = self._target.missing.filter(at_place, pk=row[1]).order_by("pk")
        return rows.select_for_update().values_list("pk").first() is not None


_KEYS = 500
"""How many rows are read again in one statement."""


class RowsInMemory:
    """The rows of a target without an id, in order, as they were at the last sort.

    Rows that appear later are handled by the next sort, or as late rows.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self._rows: list[Row] = []
        self._next: dict[Row | None, int] = {}
        """For each row, the number of rows of the page up to it."""
        self._is_last = False

    def after(self, row: Row | None, size: int) -> list[Row]:
        """The next ``size`` rows after one (None: from the first on), or as many as there are.
        Rows that have changed since the sort are left out."""
        while True:
            start = self._next.get(row, len(self._rows))
            left = len(self._rows) - start
            if not left or (left < size and not self._is_last):
                missing, most = self.target.missing, max(SORTED_AT_ONCE, size)
                if row is not None:
                    missing = missing.filter(self.target.source.after(*row))
                self._rows = self.target.read(missing[:most])
                self._next = {sorted_row: count for count, sorted_row in enumerate(self._rows, 1)}
                self._next[row] = start = 0
                self._is_last = len(self._rows) < most
            rows = self._rows[start : start + size]
            unchanged = _unchanged(self.target, rows)
            if unchanged or not rows:
                return unchanged
            row = rows[-1]

    def count_while(self, last: Row, is_meant: Callable[[Any], bool]) -> int | None:
        """How many consecutive rows after ``last`` have such places; None if it is not known."""
        if last not in self._next:
            return None
        rest = self._rows[self._next[last] :]
        count = sum(1 for _ in takewhile(lambda row: is_meant(row[0]), rest))
        return count if count < len(rest) or self._is_last else None


def _unchanged(target: Target, rows: Sequence[Row], locks: bool = False) -> list[Row]:
    """The rows that no other transaction has changed since they were read; with ``locks``, none
    changes them before the commit."""
    unchanged: set[Row] = set()
    for start in range(0, len(rows), _KEYS):
        keys = [pk for _, pk in rows[start : start + _KEYS]]
        if locks:
            # Without the times: PostgreSQL can't lock the nullable side of an outer join.
            alone: QuerySet[Any] = QuerySet(target.model, using=target.using).filter(pk__in=keys)
            list(alone.select_for_update().values_list("pk"))
        unchanged.update(target.read(target.missing.filter(pk__in=keys).order_by()))
    return [row for row in rows if row in unchanged]
