"""Rows in an order that no index has: each sort of the table serves many batches."""

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import Any

from ..target import SORTED_AT_ONCE, Row, Target

_KEYS = 500
"""How many rows are looked at again in one statement."""


class SortedPages:
    """The rows of a target without an id, in order, as they were at the last sort.

    Those that appear meanwhile are left to the sort behind, or to the sweep.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self._rows: list[Row] = []
        self._next: dict[Row | None, int] = {}
        """For each place, how many rows of the page are not behind it."""
        self._is_last = False

    def behind(self, place: Row | None, size: int) -> list[Row]:
        """The next ``size`` rows behind a place (None: in front of all), or as many as there are;
        those that aren't what they were at the sort are left out.
        """
        while rows := self._sorted_behind(place, size):
            place = rows[-1]
            if unchanged := self._unchanged(rows):
                return unchanged
        return []

    def count_until(self, last: Row, end: Any) -> int | None:
        """How many rows behind ``last`` have a place in front of ``end``; None where the page
        doesn't know.
        """
        return self.count_while(last, lambda place: bool(place < end))

    def count_while(self, last: Row, is_meant: Callable[[Any], bool]) -> int | None:
        """How many rows after ``last`` have such places, one after the other; None as above."""
        if last not in self._next:
            return None
        rest = self._rows[self._next[last] :]
        count = sum(1 for _ in takewhile(lambda row: is_meant(row[0]), rest))
        return count if count < len(rest) or self._is_last else None

    def _sorted_behind(self, place: Row | None, size: int) -> Sequence[Row]:
        start = self._next.get(place, len(self._rows))
        left = len(self._rows) - start
        if not left or (left < size and not self._is_last):
            self._sort(place, max(SORTED_AT_ONCE, size))
            start = 0
        return self._rows[start : start + size]

    def _sort(self, place: Row | None, size: int) -> None:
        rows = self.target.missing_in_order
        if place is not None:
            rows = rows.filter(self.target.after(*place))
        self._rows = self.target.read(rows[:size])
        self._next = {row: number for number, row in enumerate(self._rows, 1)}
        self._next[place] = 0
        self._is_last = len(self._rows) < size

    def _unchanged(self, rows: Sequence[Row]) -> list[Row]:
        found: set[Row] = set()
        for start in range(0, len(rows), _KEYS):
            keys = [pk for _, pk in rows[start : start + _KEYS]]
            found.update(self.target.read(self.target.missing.filter(pk__in=keys)))
        return [row for row in rows if row in found]
