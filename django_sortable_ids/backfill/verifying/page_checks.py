"""Checks the ids of a page of rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Protocol

from django.db.models import Q, QuerySet

from ...schemes import ID, InvalidID, OutOfRange, Scheme, TimeScheme
from ...schemes.generation.clock import MICROSECOND
from ..target import Row, Target
from .pages import Previous, RowCheck
from .verification import IN_ORDER, OF_THEIR_TIMES, Disorder, Verification, moved


class PageCheck(Protocol):
    order: str
    """The text about the order if all is well."""
    kept: str
    """The text about the times, or the old ids, if all is well."""

    def check(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        """Add the counts of ``rows``, which follow the ``previous`` row, to ``found``; returns the
        last row whose place in the order counts.
        """


class CheckedByDatabase:
    """Raises ``NotSupportedError`` if the database can't read the time of such ids."""

    order = IN_ORDER
    kept = OF_THEIR_TIMES

    def __init__(
        self, target: Target, end: Row | None, shared: datetime | None, ties: bool
    ) -> None:
        """The order is checked up to ``end``. From ``shared`` on, the application generated ids as
        well. With ``ties``, times that are equal now were equal when the rows got their ids.
        """
        self._target = target
        self._until_end = target.until(*end) if end else Q()
        self._row_check = RowCheck(target, self._until_end, target.between(None, shared), ties)
        self._reading = CheckedByReading(target, end, shared, ties)
        self._of_ties = disorder_of_ties(target)

    def check(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        counts = self._row_check.count(rows, previous)
        found.rows += counts.rows
        if self._target.field.accept_other_versions:
            found.other_versions += counts.given - counts.of_version
        else:
            found.refused_versions += counts.given - counts.of_version
        found.other_time += counts.of_version - counts.of_time
        found.unjudged += counts.given - counts.checked
        found.ties += counts.ties
        disorders = (
            (Disorder.DECIDED, counts.repeated),
            (self._of_ties, counts.unordered_ties),
            (Disorder.OF_TIMES, counts.unordered_times),
        )
        for disorder, count in disorders:
            found.disordered(disorder, count)
        found.unordered_concurrent += counts.unordered_concurrent
        if counts.of_version > counts.of_time and found.room:
            self._keep_moved(rows, found)
        if any(count and found.wants_example(disorder) for disorder, count in disorders):
            self._reading.check(rows, Verification(examples_of=found.examples_of), previous)
        return self._row_check.last(rows) or previous

    def _keep_moved(self, rows: QuerySet[Any], found: Verification) -> None:
        target, scheme = self._target, self._target.field.scheme
        assert isinstance(scheme, TimeScheme), "a sequence has no times"
        others = self._row_check.of_other_times(rows.filter(self._until_end)).order_by(
            *target.order
        )
        for created, pk, value in target.read(others[: found.room], target.field.name):
            found.move(moved(scheme, target.at(created), pk, value))


class CheckedByReading:
    order = IN_ORDER
    kept = OF_THEIR_TIMES

    def __init__(
        self, target: Target, end: Row | None, shared: datetime | None, ties: bool
    ) -> None:
        """As ``CheckedByDatabase``."""
        self._target, self._end, self._shared, self._ties = target, end, shared, ties
        self._of_ties = disorder_of_ties(target)

    def check(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        field, scheme, end = self._target.field, self._target.field.scheme, self._end
        before = previous and rank(scheme, previous[1])
        for created, pk, value in self._target.walk(rows, field.name):
            found.rows += 1
            if value is None:
                continue
            is_run = end is None or (created, pk) <= end
            if not self._is_of_time(created, pk, value, found, is_run) or not is_run:
                found.unjudged += 1
                continue
            place = rank(scheme, value)
            if previous is not None and before is not None:
                is_tie = self._ties and created == previous[2]
                is_shared = self._is_shared(created) if is_tie or place <= before else False
                found.ties += is_tie and not is_shared
                if place <= before and is_shared:
                    found.unordered_concurrent += 1
                elif place <= before:
                    disorder = self._disorder(is_repeated=place == before, is_tie=is_tie)
                    found.misplaced(pk, previous[0], disorder)
            previous, before = (pk, value, created), place
        return previous

    def _is_shared(self, created: Any) -> bool:
        """Whether the application generated ids of that time as well."""
        return self._shared is not None and self._target.at(created) >= self._shared

    def _disorder(self, *, is_repeated: bool, is_tie: bool) -> Disorder:
        if is_repeated or not isinstance(self._target.field.scheme, TimeScheme):
            return Disorder.DECIDED
        return self._of_ties if is_tie else Disorder.OF_TIMES

    def _is_of_time(
        self, created: datetime, pk: Any, value: ID, found: Verification, is_run: bool
    ) -> bool:
        """Whether the id is of its row's time. Another id is counted, and kept if ``is_run`` says
        that the row is one of the run's.
        """
        field = self._target.field
        try:
            is_of_time = _is_of(field.scheme, value, self._target.at(created))
        except InvalidID:
            if field.accept_other_versions:
                found.other_versions += 1
            else:
                found.refused_versions += 1
            return False
        if not is_of_time:
            found.other_time += 1
            if is_run and isinstance(field.scheme, TimeScheme):
                found.move(moved(field.scheme, self._target.at(created), pk, value))
        return is_of_time


class CheckedInOrder(ABC):
    """Checks that the ids of their rows' times are in the order of the rows. For targets whose
    places are not times: no edit within a tick explains a disorder."""

    order = IN_ORDER
    kept = OF_THEIR_TIMES

    def __init__(self, target: Target, end: Row | None) -> None:
        """The order is checked up to ``end``."""
        self._target, self._end = target, end

    def check(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        target, scheme, end = self._target, self._target.field.scheme, self._end
        earlier = rows.filter(target.until(*end)) if end else rows
        before = previous and rank(scheme, previous[1])
        for pk, value, place in self.of_their_tick(earlier, found, is_run=True):
            number = rank(scheme, value)
            if previous is not None and before is not None and number <= before:
                found.misplaced(pk, previous[0], Disorder.DECIDED)
            previous, before = (pk, value, place), number
        if end is not None:
            later = rows.filter(target.after(*end))
            found.unjudged += sum(1 for _ in self.of_their_tick(later, found, is_run=False))
        return previous

    @abstractmethod
    def of_their_tick(
        self, rows: QuerySet[Any], found: Verification, *, is_run: bool
    ) -> Iterator[Previous]:
        """Key, id and place of the rows whose id is of their time; the others are counted.
        ``is_run`` says whether the run has reached these rows."""


def disorder_of_ties(target: Target) -> Disorder:
    """What it means if the ids of rows of equal times are out of order.

    If a tick covers several times, the time of a row may have been edited within the tick after the
    row got its id. The time of a related row is edited for many rows at once.
    """
    scheme = target.field.scheme
    if (
        not isinstance(scheme, TimeScheme)
        or scheme.tick_ns <= target.times.resolution // MICROSECOND * 1000
    ):
        return Disorder.DECIDED
    return Disorder.OF_TIES if target.own_time else Disorder.OF_TIMES


def _is_of(scheme: Scheme, value: ID, created: datetime) -> bool:
    """Whether the id is of that time; ``InvalidID`` for a UUID of another version."""
    if not isinstance(scheme, TimeScheme):
        return True
    try:
        return scheme.parts(value)[0] == scheme.tick(created)
    except OutOfRange:
        return False


def rank(scheme: Scheme, value: ID) -> int:
    """The id as a number that ascends with time."""
    number = scheme.to_int(value)
    return -number if isinstance(scheme, TimeScheme) and scheme.descending else number
