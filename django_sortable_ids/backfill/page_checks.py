"""A page of rows, looked at: what is wrong with their ids."""

from datetime import datetime
from typing import Any, Protocol

from django.db.models import QuerySet

from ..schemes import ID, InvalidID, OutOfRange, Scheme, TimeScheme
from .pages import Judge
from .statements import Row
from .target import Target
from .times import aware
from .verification import EXAMPLES, IN_ORDER, OF_THEIR_TIMES, Verification

Previous = tuple[Any, ID]
"""Key and id of the last row whose place in the order counts."""


class PageCheck(Protocol):
    order: str
    """What is said of the order where all is well."""
    kept: str
    """And what more."""

    def look(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        """Count what is found in the rows, which come behind those before."""


class CheckedByDatabase:
    """Raises ``NotSupportedError`` where the database can't read the time of such ids."""

    order = IN_ORDER
    kept = OF_THEIR_TIMES

    def __init__(self, target: Target, end: Row | None, shared: datetime | None) -> None:
        """The order is judged up to ``end``, and others give ids, too, from ``shared`` on."""
        self._field = target.field
        judged = target.until(*end) if end else None
        self._judge = Judge(target, judged, target.between(None, shared))
        self._reading = CheckedByReading(target, end, shared)

    def look(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        counts = self._judge.count(rows, previous and previous[1])
        found.rows += counts.rows
        if self._field.accept_other_versions:
            found.other_versions += counts.given - counts.of_version
        else:
            found.refused_versions += counts.given - counts.of_version
        found.other_time += counts.of_version - counts.of_time
        found.unjudged += counts.given - counts.judged
        found.unordered += counts.unordered
        found.unordered_beside += counts.unordered_beside
        if counts.unordered and len(found.examples) < EXAMPLES:
            self._reading.look(rows, Verification(examples=found.examples), previous)
        return self._judge.last(rows) or previous


class CheckedByReading:
    order = IN_ORDER
    kept = OF_THEIR_TIMES

    def __init__(self, target: Target, end: Row | None, shared: datetime | None) -> None:
        """As ``CheckedByDatabase``."""
        self._target, self._end, self._shared = target, end, shared

    def look(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        field, scheme, end = self._target.field, self._target.field.scheme, self._end
        before = previous and rank(scheme, previous[1])
        for created, pk, value in self._target.walk(rows, field.name):
            found.rows += 1
            if value is None:
                continue
            is_of_time = self._is_of_time(created, value, found)
            if not is_of_time or (end is not None and (created, pk) > end):
                found.unjudged += 1
                continue
            place = rank(scheme, value)
            if previous is not None and before is not None and place <= before:
                if self._shared is not None and created >= self._shared:
                    found.unordered_beside += 1
                else:
                    found.misplaced(pk, previous[0])
            previous, before = (pk, value), place
        return previous

    def _is_of_time(self, created: datetime, value: ID, found: Verification) -> bool:
        """Whether the id is of its row's time; else it is counted."""
        field = self._target.field
        try:
            is_of_time = _is_of(field.scheme, value, aware(created))
        except InvalidID:
            if field.accept_other_versions:
                found.other_versions += 1
            else:
                found.refused_versions += 1
            return False
        found.other_time += not is_of_time
        return is_of_time


def _is_of(scheme: Scheme, value: ID, created: datetime) -> bool:
    """Whether the id is of that time; ``InvalidID`` for a UUID of another version."""
    if not isinstance(scheme, TimeScheme):
        return True
    try:
        return scheme.parts(value)[0] == scheme.tick(created)
    except OutOfRange:
        return False


def rank(scheme: Scheme, value: ID) -> int:
    """A number that ascends with time."""
    number = scheme.to_int(value)
    return -number if isinstance(scheme, TimeScheme) and scheme.descending else number
