"""Years, quarters, months, weeks, days, hours and minutes of the local time zone, as instants.

Each span ends where the next one starts, also where the clock is changed: a day has 23, 24 or 25
hours, an hour that repeats is two spans, and a day that a time zone skips is none.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from ..fields.times import MICROSECOND, first_moment, first_moment_when, local_zone

END_OF_CALENDAR = datetime.max.replace(tzinfo=UTC)


class Span(NamedTuple):
    """Start and end (excluded), in UTC."""

    start: datetime
    end: datetime


class _Days(NamedTuple):
    first: Callable[[date], date]
    """The first day of the unit that contains a day."""
    most: int
    """No fewer days than the longest unit has, and fewer than two have."""


_DAYS: Mapping[str, _Days] = {
    "year": _Days(lambda day: date(day.year, 1, 1), 366),
    "quarter": _Days(lambda day: date(day.year, day.month - (day.month - 1) % 3, 1), 92),
    "month": _Days(lambda day: date(day.year, day.month, 1), 31),
    "week": _Days(lambda day: day - timedelta(days=min(day.weekday(), day.toordinal() - 1)), 7),
    "day": _Days(lambda day: day, 1),
}
_CLOCK: Mapping[str, timedelta] = {"hour": timedelta(hours=1), "minute": timedelta(minutes=1)}
UNITS = (*_DAYS, *_CLOCK)


def spans(unit: str, start: datetime, end: datetime) -> Iterator[Span]:
    """The spans between two instants; the first and the last one are cut off there."""
    while start < end:
        stop = min(end_of(unit, start), end)
        yield Span(start, stop)
        start = stop


def local(at: datetime) -> datetime:
    """The instant in the local time zone; at an end of the calendar, the nearest time of it."""
    try:
        return at.astimezone(local_zone())
    except OverflowError:
        return at.replace(tzinfo=local_zone())


def start_of(unit: str, at: datetime) -> datetime:
    """The start of the unit that contains the instant, in UTC."""
    if unit in _DAYS:
        # In the first hours of year 1, some zones are in the year before.
        return min(at, first_moment(_DAYS[unit].first(local(at).date())))
    shown = local(at)
    start = _moved(at, -_passed(unit, shown))
    is_same_clock = local(start).utcoffset() == shown.utcoffset()
    return start if is_same_clock else _change_of_clock(start, at)


def end_of(unit: str, at: datetime) -> datetime:
    """The end of the unit that contains the instant, in UTC: always after the instant."""
    if unit in _DAYS:
        return _end_of_days(_DAYS[unit], at)
    shown = local(at)
    end = _moved(at, _CLOCK[unit] - _passed(unit, shown))
    last = end - MICROSECOND
    is_same_clock = local(last).utcoffset() == shown.utcoffset()
    return end if is_same_clock else _change_of_clock(at, last)


def _end_of_days(unit: _Days, at: datetime) -> datetime:
    day = local(at).date()
    end = at
    # Where the clock is put back after midnight, a day that has ended comes back for some time.
    while end <= at:
        try:
            day = unit.first(unit.first(day) + timedelta(days=unit.most))
        except OverflowError:
            return END_OF_CALENDAR
        end = first_moment(day)
    return end


def _passed(unit: str, shown: datetime) -> timedelta:
    """The time since the clock showed the start of the hour or minute."""
    passed = timedelta(seconds=shown.second, microseconds=shown.microsecond)
    return passed + timedelta(minutes=shown.minute) if unit == "hour" else passed


def _moved(at: datetime, by: timedelta) -> datetime:
    try:
        return at + by
    except OverflowError:
        return END_OF_CALENDAR if by > timedelta(0) else datetime.min.replace(tzinfo=UTC)


def _change_of_clock(before: datetime, after: datetime) -> datetime:
    """The first instant with the other offset; between the two the clock is changed once."""
    offset = local(before).utcoffset()
    return first_moment_when(lambda at: local(at).utcoffset() != offset, before, after)
