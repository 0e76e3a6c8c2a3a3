"""Checks of the times of rows, before ids are generated from them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Max, Min, Q, QuerySet

from ...db import chunks
from ...errors import BackfillError, counted
from ...fields import LexicalSequenceField
from ...fields.values.times import first_moment_when
from ...functions.time_columns import TimeColumn, latest
from ...schemes import SequenceExhausted, TimeScheme
from ...workers import counters

if TYPE_CHECKING:
    from .target import Target


def check_generated(target: Target, missing: int, *, are_in_range: bool) -> None:
    """Raise ``BackfillError``, naming a row, if one of the ``missing`` rows has a time of which no
    id can be generated."""
    field, scheme = target.field, target.field.scheme
    if isinstance(scheme, TimeScheme):
        if not scheme.sorts:
            raise BackfillError(
                f"{target.label} is of the scheme {scheme.title}, whose ids do not sort by their "
                f"times: fill a field of another scheme, such as UUIDv6Field or UUIDv7Field; "
                f"nothing was written."
            )
        if not are_in_range:
            _check_range(target, scheme)
        if missing > scheme.layout.new.suffixes:
            _check_room(target, scheme)
        _check_skipped_hours(target)
    elif isinstance(field, LexicalSequenceField):
        if target.on_out_of_range != "skip":
            # A sequence has no range of times, but its rows are read in the order of their times.
            _refuse(
                target.without_id.filter(target.is_out_of_range),
                f"has the {target.source.field.name} before year 1 or after 9999",
                "Correct its time, or choose --on-out-of-range=skip",
            )
        if missing:
            _check_width(field, missing, target.using)


def check_null_times(target: Target) -> None:
    """Raise ``BackfillError``, naming a row, for one without a time that no policy handles."""
    if target.on_null == "error":
        name = target.source.field.name
        rows = target.without_id.filter(**{f"{name}__isnull": True})
        _refuse(rows, f"has no {name}", "Give it one, or choose --on-null")


def _check_range(target: Target, scheme: TimeScheme) -> None:
    if target.on_out_of_range != "error" or target.time_range is None:
        return
    title, (start, end), between = scheme.title, target.time_range, target.source.between
    advice = "Correct its time, or choose --on-out-of-range"
    rows = target.without_id.filter(between(None, start))
    _refuse(rows, f"is too old: {title} begins at {scheme.earliest}", advice)
    rows = target.without_id.filter(between(end, None))
    _refuse(rows, f"is too new: {title} ends at {latest(scheme)}", advice)


def _refuse(rows: QuerySet[Any], what: str, advice: str) -> None:
    if first := chunks.named(rows):
        raise BackfillError(
            f"{first[1]} {what}. {advice}, or give it an id yourself; nothing was written."
        )


def _check_room(target: Target, scheme: TimeScheme) -> None:
    """Count the rows of each tick, which reads all of them."""
    tick, count = None, 0
    for place, pk in chain.from_iterable(target.pages(target.missing)):
        now = target.tick(place)
        tick, count = now, count + 1 if now == tick else 1
        if count > scheme.layout.capacity(now):
            raise BackfillError(
                f"{target.model._meta.label} {pk}: more than {count - 1:,} rows were created at "
                f"{target.source.at(place).isoformat()}, and {scheme.title} has no more ids of "
                f"that time. Choose a scheme of 128 bits; nothing was written."
            )


def _check_width(field: LexicalSequenceField, missing: int, using: str) -> None:
    """Check that the counter has enough ids left. The transaction that reads it is rolled back."""
    try:
        with transaction.atomic(using=using):
            first = counters.take(field, field.scheme, 1, using)[0]
            transaction.set_rollback(True, using=using)
        field.scheme.starting_at(first).nth(missing - 1)
    except SequenceExhausted as error:
        raise BackfillError(f"{counted(missing, 'row')} without an id, but {error}") from None


_DAY = timedelta(days=1)
_AT_A_TIME = 36_525 * _DAY
"""One query covers about 200 clock changes."""
_BEGIN = datetime.min.replace(tzinfo=UTC) + 2 * _DAY
_END = datetime.max.replace(tzinfo=UTC) - 2 * _DAY


def _check_skipped_hours(target: Target) -> None:
    """Raise ``BackfillError`` if a row without an id has a skipped time."""
    times = target.source.times
    if times is None or times.clock is None or times.clock.utcoffset(None) is not None:
        return
    rows, name = target.missing, target.source.place_name
    last = max(_times(target, rows, Max), default=_BEGIN)
    while begin := _times(target, rows, Min):
        first = min(begin)
        end = min(first + min(_AT_A_TIME, _END - first), last)
        skipped = [
            Q(**{f"{name}__gte": times.local(low), f"{name}__lt": times.local(high)})
            for low, high in gaps(times.clock, first - _DAY, end + _DAY)
        ]
        if skipped:
            _refuse_skipped(target, times, rows.filter(Q(*skipped, _connector=Q.OR)))
        if end >= min(last, _END):
            return
        later = target.source.compared("gte", times.local(end.replace(tzinfo=None)))
        rows = target.missing.filter(later)


def gaps(clock: tzinfo, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The ranges of naive times, end excluded, that ``clock`` skips between two aware times."""

    def offset(at: datetime) -> timedelta:
        return at.astimezone(clock).utcoffset() or timedelta()

    def has_moved(was: timedelta, at: datetime) -> bool:
        return offset(at) > was

    at = start.astimezone(UTC).replace(microsecond=0)
    before = offset(at)
    while at < end:
        after = offset(at + _DAY)
        if after > before:
            change = first_moment_when(partial(has_moved, before), at, at + _DAY)
            moved = change.replace(tzinfo=None)
            yield moved + before, moved + after
        at, before = at + _DAY, after


def _times(target: Target, rows: Any, end: type[Min | Max]) -> list[datetime]:
    """The first or the last time, of all rows or of each chunk, two days inside the calendar."""
    place = end(target.source.selected_place)
    results = chunks.asked(rows, lambda part: part.aggregate(sortable_ids_end=place))
    places = [each["sortable_ids_end"] for each in results]
    at = target.source.at
    return [min(max(at(place), _BEGIN), _END) for place in places if place is not None]


def _refuse_skipped(target: Target, times: TimeColumn, rows: Any) -> None:
    row = chunks.first(rows)
    if row is None:
        return
    place, pk = target.first(target.rows.filter(pk=row.pk))
    count = chunks.count(rows)
    raise BackfillError(
        f"{counted(count, 'row')} of {target.model._meta.label} with a time that the clock of "
        f"{times.clock} skips, such as {pk}, with the {target.source.field.name} "
        f"{place if isinstance(place, str) else place.replace(tzinfo=None)}: no instant has it. "
        f"Correct these times, usually by adding an hour; nothing was written."
    )
