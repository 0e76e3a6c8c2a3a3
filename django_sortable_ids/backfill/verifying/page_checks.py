"""Checks the ids of a page of rows."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from ...schemes import ID, InvalidID, OutOfRange, Scheme, TimeScheme
from ...schemes.generation.clock import MICROSECOND
from ..target import Row, Target
from .pages import Previous, RowCheck
from .verification import IN_ORDER, OF_THEIR_TIMES, Disorder, Verification, moved


class PageCheck(ABC):
    order = IN_ORDER
    """The text about the order if all is well."""
    kept = OF_THEIR_TIMES
    """The text about the times, or the old ids, if all is well."""

    def __init__(self, target: Target, end: Row | None = None) -> None:
        """The order is checked up to ``end``."""
        self._target, self._end = target, end

    @abstractmethod
    def check(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        """Add the counts of ``rows``, which follow the ``previous`` row, to ``found``; returns the
        last row whose place in the order counts.
        """

    def _is_of_time(
        self, place: Any, pk: Any, value: ID, found: Verification, is_run: bool
    ) -> bool:
        """Whether the id is of its row's time. Another id is counted, and kept if ``is_run`` says
        that the row is one of the run's.
        """
        target, scheme = self._target, self._target.field.scheme
        if not isinstance(scheme, TimeScheme):
            return True
        at = target.at(place)
        try:
            if scheme.parts(value)[0] == scheme.tick(at):
                return True
        except InvalidID:
            self._count_versions(found, 1)
            return False
        except OutOfRange:
            pass
        found.other_time += 1
        if is_run:
            found.move(moved(scheme, at, pk, value))
        return False

    def _count_versions(self, found: Verification, rows: int) -> None:
        """Count rows with a UUID of another version."""
        if self._target.field.accept_other_versions:
            found.other_versions += rows
        else:
            found.refused_versions += rows


class CheckedByDatabase(PageCheck):
    """Raises ``NotSupportedError`` if the database can't read the time of such ids."""

    def __init__(
        self, target: Target, end: Row | None, shared: datetime | None, ties: bool
    ) -> None:
        """The order is checked up to ``end``. From ``shared`` on, the application generated ids as
        well. With ``ties``, times that are equal now were equal when the rows got their ids.
        """
        super().__init__(target, end)
        self._until_end = target.until(*end) if end else Q()
        self._row_check = RowCheck(target, self._until_end, target.between(None, shared), ties)
        self._reading = CheckedByReading(target, end, shared, ties)
        self._of_ties = disorder_of_ties(target)

    def check(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        counts = self._row_check.count(rows, previous)
        found.rows += counts.rows
        self._count_versions(found, counts.given - counts.of_version)
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
        target = self._target
        others = self._row_check.of_other_times(rows.filter(self._until_end)).order_by(
            *target.order
        )
        for created, pk, value in target.read(others[: found.room], target.field.name):
            found.move(moved(target.scheme, target.at(created), pk, value))


class CheckedByReading(PageCheck):
    def __init__(
        self, target: Target, end: Row | None, shared: datetime | None, ties: bool
    ) -> None:
        """As ``CheckedByDatabase``."""
        super().__init__(target, end)
        self._shared, self._ties = shared, ties
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


class CheckedInOrder(PageCheck):
    """Checks that the ids of their rows' times are in the order of the rows. For targets whose
    places are not times: no edit within a tick explains a disorder. An id of another time was
    generated by the application, or its row was edited later."""

    def check(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        target, scheme, end = self._target, self._target.field.scheme, self._end
        earlier = rows.filter(target.until(*end)) if end else rows
        before = previous and rank(scheme, previous[1])
        for pk, value, place in self._of_their_time(earlier, found, is_run=True):
            number = rank(scheme, value)
            if previous is not None and before is not None and number <= before:
                found.misplaced(pk, previous[0], Disorder.DECIDED)
            previous, before = (pk, value, place), number
        if end is not None:
            later = rows.filter(target.after(*end))
            found.unjudged += sum(1 for _ in self._of_their_time(later, found, is_run=False))
        return previous

    def _of_their_time(
        self, rows: QuerySet[Any], found: Verification, *, is_run: bool
    ) -> Iterator[Previous]:
        """Key, id and place of the rows whose id is of their time; the others are counted.
        ``is_run`` says whether the run has reached these rows."""
        for place, pk, value in self._target.walk(rows, self._target.field.name):
            found.rows += 1
            if value is None:
                continue
            if self._is_of_time(place, pk, value, found, is_run):
                yield pk, value, place
            else:
                found.unjudged += 1


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


def rank(scheme: Scheme, value: ID) -> int:
    """The id as a number that ascends with time."""
    number = scheme.to_int(value)
    return -number if isinstance(scheme, TimeScheme) and scheme.descending else number
