"""The rows behind a place in the order of creation times that have no id yet."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from ...schemes import TimeScheme
from ..target import Row, Target
from .batch import Cursor, Span

_LOOKS = 5
"""How often the last row of a stretch is looked for, when others change the one that was found."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The rows between two places, both included."""

    first: Row
    last: Row
    size: int
    beyond: int
    """How many rows behind it share the tick of the last one."""
    goes_on: bool
    """Whether all of them have the time of the batch before."""


class PendingRows:
    """What is left of a target behind a cursor, None being in front of all rows."""

    def __init__(self, target: Target, *, looks_up_ids: bool) -> None:
        self._target = target
        self._beyond: dict[tuple[Any, Any], int] = {}
        """How many rows of a tick are left behind a place, as they were counted."""
        self._tie: Row | None = None
        """The last row of a batch whose rows have one time: there may be more of them."""
        self._is_dense = looks_up_ids
        """Whether nearly all rows are without an id, and it takes long to look that up."""

    def all(self, cursor: Cursor | None) -> QuerySet[Any, Any]:
        missing = self._target.missing_in_order
        return missing.filter(self._target.after(*cursor.place)) if cursor else missing

    def next(self, cursor: Cursor | None, size: int) -> QuerySet[Any, Any]:
        """Those that begin with the next ``size`` rows, or with as many as there are."""
        if cursor and cursor.place == self._tie:
            beside = self._target.missing_in_order.filter(self._target.beside(*cursor.place))
            if beside[size - 1 : size].exists():
                return beside
        return self.all(cursor)

    def stretch(self, cursor: Cursor | None, size: int) -> Stretch | None:
        """The next rows, the last one locked: its id is where the next batch goes on."""
        behind = self.next(cursor, size)
        for _ in range(_LOOKS):
            first = self._target.first(behind)
            if first is None:
                return None
            last = self._last_of_dense(first, size) if self._is_dense else None
            count = size
            if last is None:
                last, count = self._last(behind, size)
            if last and self._lock(last):
                ticks = [self._tick(first), self._tick(last)]
                left = self.left(cursor, last, ticks, count)
                tie = cursor and cursor.place == self._tie and cursor.created
                return Stretch(first, last, count, left, first[0] == last[0] == tie)
        return None

    def _last(self, behind: QuerySet[Any, Any], size: int) -> tuple[Row | None, int]:
        """The last one of ``size`` rows behind, or of as many as there are; and how many."""
        last = self._target.first(behind[size - 1 : size])
        return (last, size) if last else (self._target.first(behind.reverse()), behind.count())

    def _last_of_dense(self, first: Row, size: int) -> Row | None:
        """As ``_last``, where nearly no row has an id: read from the index on the time alone."""
        if size < 2:
            return None
        rows = self._target.rows.order_by(*self._target.order)
        if self._target.time_range:
            # Rows with an id, or left by --on-out-of-range, may have a time that has no tick.
            rows = rows.filter(self._target.between(*self._target.time_range))
        end = self._target.first(rows.filter(self._target.after(*first))[size - 2 : size - 1])
        # It may be a row that is left out, of a time for which there is no tick.
        if end is None or self._target.at(end[0]) < self._target.tick_of(first[0])[1]:
            return None
        missing = self._target.missing_in_order.filter(self._target.until(*end))
        last: Row | None = self._target.first(missing.reverse())
        return last

    def last_of(self, span: Span) -> Row | None:
        """The last row of its last tick that still is there without an id, locked."""
        start = self._target.tick_of(span.last[0])[0]
        of_tick = self._target.between(start, None) & self._target.starting(span.first[0])
        of_tick &= self._target.until(*span.last)
        missing = self._target.missing_in_order.filter(of_tick).reverse()
        for _ in range(_LOOKS):
            last: Row | None = self._target.first(missing)
            if last is None or self._lock(last):
                return last
        return None

    def left(self, cursor: Cursor | None, last: Row, ticks: Sequence[int], size: int) -> int:
        """How many rows behind the last one share its tick, of ``size`` rows of those ``ticks``.

        A large tick is counted once, not for every batch of it.
        """
        counted = self._beyond.get(cursor.place, 0) if cursor else 0
        if counted > size and ticks[0] == ticks[-1]:
            left = counted - size
        else:
            left = self._count_beyond(last, ticks[-1])
        before = {cursor.place: counted} if cursor else {}
        self._beyond = {**before, last: left}
        return left

    def made(self, first: Row, last: Row, size: int) -> None:
        """A batch of these rows was made; the cursor is behind it, or where it was."""
        self._tie = last if size > 1 and first[0] == last[0] else None

    def wrote(self, filled: int, size: int) -> None:
        """``filled`` of ``size`` rows had no id."""
        self._is_dense = self._is_dense and filled > size // 2

    def beyond(self, last: Row) -> int:
        """How many rows behind that one share its tick."""
        left = self._count_beyond(last, self._tick(last))
        self._beyond = {last: left}
        return left

    @property
    def _scheme(self) -> TimeScheme:
        scheme = self._target.field.scheme
        assert isinstance(scheme, TimeScheme), "rows of a sequence have no tick"
        return scheme

    def _tick(self, row: Row) -> int:
        return self._scheme.tick(self._target.at(row[0]))

    def _lock(self, row: Row) -> bool:
        """Whether the row is still there, as it was found; nobody else changes it from now on."""
        found = self._target.missing.filter(self._target.of_time(row[0]), pk=row[1])
        return found.select_for_update().values_list("pk").first() is not None

    def _count_beyond(self, last: Row, tick: int) -> int:
        """How many rows behind that one are of ``tick``, its own or a later one."""
        scheme, at = self._scheme, self._target.at(last[0])
        at = max(at, scheme.created_at(scheme.from_trusted(scheme.layout.join(tick, 0))))
        behind = self._target.missing.filter(self._target.after(*last))
        return behind.filter(self._target.between(None, scheme.tick_span(at)[1])).count()
