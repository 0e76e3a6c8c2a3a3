"""Reads the rows of a batch whose ids Python generates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, takewhile
from typing import Any

from django.db.models import QuerySet

from ...schemes.generation.clock import MICROSECOND, UNIX_EPOCH
from ...times.columns import TextColumn
from ..target import SORTED_AT_ONCE, Row, Target

_NAIVE_EPOCH = UNIX_EPOCH.replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Rows:
    first: Row
    last: Row
    times: Sequence[Any]
    """Their places; empty on SQLite, which has only one writer at a time."""
    microseconds: Sequence[int]
    """Unix times in microseconds."""
    keys: Sequence[Sequence[Any]]
    """The columns of each key, as parameters for the driver."""


def read(target: Target, rows: QuerySet[Any]) -> Rows | None:
    """The rows, or None if there are none."""
    if isinstance(target.times, TextColumn):
        return _read_raw(target, rows)
    found = target.read(rows)
    if not found:
        return None
    times = [created for created, _ in found]
    keys = [target.stored_key(pk) for _, pk in found]
    return Rows(found[0], found[-1], times, [unix(target.at(each)) for each in times], keys)


def _read_raw(target: Target, rows: QuerySet[Any]) -> Rows | None:
    """As ``read``, with the keys as SQLite stores them: converting them in Django takes longer than
    the rest of a batch.
    """
    names = [field.attname for field in target.key_fields]
    selected = rows.values_list(target.selected_place, *names)
    compiler = selected.query.get_compiler(target.using)
    sql, parameters = compiler.as_sql()
    with target.times.connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        found = cursor.fetchall()
    if not found:
        return None
    converters = compiler.get_converters([column[0] for column in compiler.select])
    first, last = (
        (time, tuple(key) if target.model._meta.is_composite_pk else key[0])
        for time, *key in compiler.apply_converters([found[0], found[-1]], converters)
    )
    microseconds: list[int] = []
    parse = parser(target)
    for text, same in groupby(row[0] for row in found):
        microseconds += [parse(text)] * len(list(same))
    return Rows(first, last, [], microseconds, [row[1:] for row in found])


def parser(target: Target) -> Callable[[str], int]:
    """A function from a text of SQLite to the Unix time in microseconds."""

    def parse(text: str) -> int:
        return unix(target.at(text))

    def parse_utc(text: str) -> int:
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            return parse(text)
        return (at - _NAIVE_EPOCH) // MICROSECOND if at.tzinfo is None else unix(at)

    return parse_utc if target.times.connection.timezone_name == "UTC" else parse


def unix(at: datetime) -> int:
    """The Unix time in microseconds."""
    return (at - UNIX_EPOCH) // MICROSECOND


_KEYS = 500
"""How many rows are read again in one statement."""


class SortedPages:
    """The rows of a target without an id, in order, as they were at the last sort.

    Rows that appear later are handled by the next sort, or by the sweep.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self._rows: list[Row] = []
        self._next: dict[Row | None, int] = {}
        """For each place, the number of rows of the page up to it."""
        self._is_last = False

    def after(self, place: Row | None, size: int) -> list[Row]:
        """The next ``size`` rows after a place (None: from the first on), or as many as there are.
        Rows that have changed since the sort are left out.
        """
        while rows := self._sorted_after(place, size):
            place = rows[-1]
            if unchanged := self._unchanged(rows):
                return unchanged
        return []

    def count_while(self, last: Row, is_meant: Callable[[Any], bool]) -> int | None:
        """How many consecutive rows after ``last`` have such places; None if it is not known."""
        if last not in self._next:
            return None
        rest = self._rows[self._next[last] :]
        count = sum(1 for _ in takewhile(lambda row: is_meant(row[0]), rest))
        return count if count < len(rest) or self._is_last else None

    def _sorted_after(self, place: Row | None, size: int) -> Sequence[Row]:
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
        unchanged: set[Row] = set()
        for start in range(0, len(rows), _KEYS):
            keys = [pk for _, pk in rows[start : start + _KEYS]]
            unchanged.update(self.target.read(self.target.missing.filter(pk__in=keys)))
        return [row for row in rows if row in unchanged]
