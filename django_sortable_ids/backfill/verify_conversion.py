"""Whether every row has its old id, converted."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any

from django.db.models import Q

from ..models import BackfillRun
from ..schemes import ID, InvalidID, OutOfRange, TimeScheme
from .conversion import Conversion, Lossless
from .cursor import Cursor
from .verify import EXAMPLES, Verification, begin, rank

MADE_TOGETHER = timedelta(minutes=1)
"""The application makes the ids of a new row, the old and the new one, within so long."""

_AT_A_TIME = 500


def verify(target: Conversion) -> Verification:
    """Read every row once, in order. Ids that the application made are counted and no failure:
    those that aren't the old id converted, but of nearly its time.
    """
    found = begin(target)
    if isinstance(target, Lossless):
        found.order, found.kept = "", ", and each its old id, bit for bit"
        _read_lossless(target, found)
    else:
        found.kept = ", and of their old ids' times"
        _read_timed(target, found)
    return found


def _read_lossless(target: Lossless, found: Verification) -> None:
    others = _Others(target)
    rows = _rows(target, Q(), found)
    while page := list(islice(rows, _AT_A_TIME)):
        differ = [row for row in page if not _is_converted(target, row)]
        mixed_up = others.among([value for _, _, value in differ])
        for old, pk, value in differ:
            if value in mixed_up or not _made_together(target, old, value):
                _fail(target, found, old, pk)
            else:
                found.made_beside += 1


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


def _read_timed(target: Conversion, found: Verification) -> None:
    run = BackfillRun.objects.using(target.using).filter(target=target.label).first()
    end = Cursor.load(target, run.cursor).place if run and run.cursor else None
    scheme = target.field.scheme
    assert isinstance(scheme, TimeScheme)
    previous: tuple[Any, int] | None = None
    for place, pk, value in _rows(target, target.until(*end) if end else Q(), found):
        if not _is_of_tick(target, scheme, place, value):
            _judge_time(target, place, pk, value, found)
            continue
        now = rank(scheme, value)
        if previous is not None and now <= previous[1]:
            found.misplaced(pk, previous[0])
        previous = pk, now
    if end is not None:
        for place, pk, value in _rows(target, target.after(*end), found):
            if not _is_of_tick(target, scheme, place, value):
                _judge_time(target, place, pk, value, found)


def _rows(target: Conversion, which: Q, found: Verification) -> Iterator[tuple[Any, Any, ID]]:
    """Place, key and new id of the rows that have both."""
    for place, pk, value in target.walk(target.rows.filter(which), target.field.name):
        found.rows += 1
        if value is not None:
            yield place, pk, value


def _is_of_tick(target: Conversion, scheme: TimeScheme, place: Any, value: ID) -> bool:
    try:
        return scheme.parts(value)[0] == scheme.tick(target.at(place))
    except (InvalidID, OutOfRange):
        return False


def _judge_time(target: Conversion, place: Any, pk: Any, value: ID, found: Verification) -> None:
    if _made_together(target, place, value):
        found.made_beside += 1
    else:
        _fail(target, found, place, pk)


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
    if len(found.examples) < EXAMPLES:
        old = f"{target.source.name} {target.value(place)}"
        found.examples.append(f"{pk} has an id that was not made of its {old}")
