"""A page of rows with old ids, looked at: whether the new ones were made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from ...schemes import ID, InvalidID, OutOfRange, TimeScheme
from ..sources.conversion import Conversion, Lossless
from .page_checks import CheckedInOrder
from .pages import Previous
from .verification import Disorder, Moved, Verification, moved

MADE_TOGETHER = timedelta(minutes=1)
"""The application makes the ids of a new row, the old and the new one, within so long."""

_AT_A_TIME = 500


class CheckedByOldID:
    """Whether every row has its old id, bit for bit. Ids that the application made are counted and
    no failure: those that aren't the old id converted, but of nearly its time.
    """

    order = ""
    kept = ", and each its old id, bit for bit"

    def __init__(self, target: Lossless) -> None:
        self._target = target
        self._others = _Others(target)

    def look(
        self, rows: QuerySet[Any], found: Verification, previous: Previous | None
    ) -> Previous | None:
        target, read = self._target, _rows(self._target, rows, found)
        while page := list(islice(read, _AT_A_TIME)):
            found.unjudged += len(page)
            differ = [row for row in page if not _is_converted(target, row)]
            mixed_up = self._others.among([value for _, _, value in differ])
            for old, pk, value in differ:
                if value in mixed_up or not _made_together(target, old, value):
                    _fail(target, found, old, pk)
                else:
                    found.made_beside += 1
        return None


def _is_converted(target: Lossless, row: tuple[Any, Any, ID]) -> bool:
    try:
        return target.convert(row[0]) == row[2]
    except InvalidID:
        return False


class _Others:
    """Finds new ids that are the old id of some row."""

    def __init__(self, target: Lossless) -> None:
        self.target = target

    def among(self, values: Sequence[ID]) -> set[ID]:
        target, back = self.target, {}
        for value in values:
            try:
                converted = target.field.scheme.convert(value, to=target.old)
            except (InvalidID, OutOfRange):
                continue
            if converted.lossless:
                back[converted.value] = value
        name = target.source.name
        there = target.rows.filter(**{f"{name}__in": list(back)}).values_list(name, flat=True)
        return {back[old] for old in there}


class CheckedByOldTime(CheckedInOrder):
    """Whether every row has an id of the time of its old one, in its order, but for those of the
    application, as ``CheckedByOldID``.
    """

    kept = ", and of their old ids' times"
    _target: Conversion

    def of_their_tick(
        self, rows: QuerySet[Any], found: Verification, *, is_run: bool
    ) -> Iterator[Previous]:
        for place, pk, value in _rows(self._target, rows, found):
            if _is_of_tick(self._target, place, value):
                yield pk, value, place
            else:
                found.unjudged += 1
                _judge_time(self._target, place, pk, value, found)


def _rows(
    target: Conversion, rows: QuerySet[Any], found: Verification
) -> Iterator[tuple[Any, Any, ID]]:
    """Place, key and new id of the rows that have both."""
    for place, pk, value in target.walk(rows, target.field.name):
        found.rows += 1
        if value is not None:
            yield place, pk, value


def _is_of_tick(target: Conversion, place: Any, value: ID) -> bool:
    scheme = target.field.scheme
    assert isinstance(scheme, TimeScheme), "old ids become those of a scheme with times"
    try:
        return scheme.parts(value)[0] == scheme.tick(target.at(place))
    except (InvalidID, OutOfRange):
        return False


def _judge_time(target: Conversion, place: Any, pk: Any, value: ID, found: Verification) -> None:
    if _made_together(target, place, value):
        found.made_beside += 1
        found.move(_moved(target, place, pk, value))
    else:
        _fail(target, found, place, pk)


def _moved(target: Conversion, place: Any, pk: Any, value: ID) -> Moved | None:
    scheme = target.field.scheme
    assert isinstance(scheme, TimeScheme), "old ids become those of a scheme with times"
    try:
        return moved(scheme, target.at(place), pk, value)
    except (InvalidID, OutOfRange):
        return None


def _made_together(target: Conversion, place: Any, value: ID) -> bool:
    """Also where one of the two is an accepted UUID of another version, or its time can't be shown:
    the backfill has made none of these."""
    try:
        old = target.at(place)
    except (InvalidID, OutOfRange):
        return True
    try:
        made = target.field.scheme.created_at(value)
    except (InvalidID, OutOfRange):
        return target.field.accept_other_versions
    tick = timedelta(microseconds=(target.old.tick_ns + _tick_ns(target)) // 1000)
    return abs(made - old) <= MADE_TOGETHER + tick


def _tick_ns(target: Conversion) -> int:
    scheme = target.field.scheme
    return scheme.tick_ns if isinstance(scheme, TimeScheme) else 0


def _fail(target: Conversion, found: Verification, place: Any, pk: Any) -> None:
    found.unconverted += 1
    old = f"{target.source.name} {target.value(place)}"
    found.keep(Disorder.DECIDED, f"{pk} has an id that was not made of its {old}")


class CheckedByPlace(CheckedInOrder):
    """Ids of another time are those of the application, or their rows' times were changed since."""

    def of_their_tick(
        self, rows: QuerySet[Any], found: Verification, *, is_run: bool
    ) -> Iterator[Previous]:
        scheme, field = self._target.field.scheme, self._target.field
        for place, pk, value in self._target.walk(rows, field.name):
            found.rows += 1
            if value is None:
                continue
            try:
                if not isinstance(scheme, TimeScheme) or scheme.parts(value)[0] == scheme.tick(
                    self._target.at(place)
                ):
                    yield pk, value, place
                    continue
                found.other_time += 1
                if is_run:
                    found.move(moved(scheme, self._target.at(place), pk, value))
            except OutOfRange:
                found.other_time += 1
            except InvalidID:
                if field.accept_other_versions:
                    found.other_versions += 1
                else:
                    found.refused_versions += 1
            found.unjudged += 1
