"""The counts of rows by creation time, for every project: as bars, and as spans of the calendar."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice, pairwise
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Manager, QuerySet
from django.utils import dateformat, timezone
from django.utils.formats import get_format
from django.utils.text import capfirst
from django.utils.translation import pgettext

from ..db.counting import Count
from ..fields.times import first_moment, in_utc, in_zone, local_zone
from .counting import Span, TookTooLong, counts, ends, timed_column

MOST_BARS = 400
SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Bar:
    """How many rows were created from ``start`` to ``end`` (excluded)."""

    start: datetime
    """In the current time zone; naive local time with ``USE_TZ=False``."""
    end: datetime
    count: Count


def histogram(
    queryset: QuerySet[Any] | Manager[Any],
    field: str,
    unit: str,
    start: date | None = None,
    end: date | None = None,
    *,
    time_limit: float | None = SECONDS,
) -> list[Bar]:
    """The rows of the queryset by the creation time in an id, as bars: one for each year, quarter,
    month, week, day, hour or minute, in the order of time, also if it has no rows.

    ``field`` is the path of a sortable id with a time: ``"id"``, ``"order__id"``. ``unit`` is one
    of ``"year"``, ``"quarter"``, ``"month"``, ``"week"`` (from Monday), ``"day"``, ``"hour"`` and
    ``"minute"``, in the current time zone: a day has 23, 24 or 25 hours. ``start`` and ``end``
    (excluded) are aware datetimes, or days for their first moment; the first and last bar are cut
    off there. By default, the bars are those from the first row to the last one.

    One statement counts ranges of the id's index, without reading rows, within the filters of the
    queryset. If that takes longer than ``time_limit`` seconds in all, the counts of a whole table
    are estimates on PostgreSQL, MariaDB and MySQL, and others are minima: see
    ``Count.precision``. None counts for as long as it takes.

    Raises ``FieldError`` if the field is no such id, or leads from one row to several, and
    ``ValueError`` for an unknown unit, for a naive time (with ``USE_TZ``), if the end is before the
    start, if there would be more than 400 bars, and for a queryset with a slice, union or groups.
    """
    rows = queryset.all()
    column = timed_column(rows.model, field)
    query = rows.query
    if (
        query.is_sliced
        or query.combinator
        or (query.distinct and not query.default_cols)
        or query.distinct_fields
        or isinstance(query.group_by, tuple)
    ):
        raise ValueError(
            "histogram() counts rows of a model; this queryset has a slice, a union, groups or "
            "distinct columns"
        )
    if unit not in UNITS:
        raise ValueError(f"no unit {unit!r}; expected one of {', '.join(UNITS)}")
    if time_limit is not None and time_limit <= 0:
        raise ValueError(f"time_limit is {time_limit}; expected seconds above 0, or None")
    deadline = None if time_limit is None else time.monotonic() + time_limit
    zone = local_zone()
    first, stop = _instant(start), _instant(end)
    if first is None or stop is None:
        try:
            bounds = ends(rows, column, first, stop, time_limit)
        except TookTooLong:
            raise ValueError(
                f"the first and the last {column.path} were not found within {time_limit} seconds; "
                f"give start and end"
            ) from None
        if bounds is None:
            return []
        first = start_of(unit, bounds[0], zone) if first is None else first
        stop = end_of(unit, bounds[1], zone) if stop is None else stop
    if stop < first:
        raise ValueError(f"the end, {stop}, is before the start, {first}")
    bars = list(islice(spans(unit, first, stop), MOST_BARS + 1))
    if len(bars) > MOST_BARS:
        raise ValueError(
            f"from {first:%Y-%m-%d} to {stop:%Y-%m-%d} there are more than {MOST_BARS} "
            f"bars of one {unit}; take a longer unit, or a later start"
        )
    left = None if deadline is None else deadline - time.monotonic()
    counted = counts(rows, column, bars, left)
    times = [in_zone(at, zone) for at in (first, *(span.end for span in bars))]
    if not settings.USE_TZ:
        times = [at.replace(tzinfo=None) for at in times]
    return [Bar(*edges, count) for edges, count in zip(pairwise(times), counted, strict=True)]


def _instant(at: date | None) -> datetime | None:
    if at is None:
        return None
    if not isinstance(at, datetime):
        return first_moment(at)
    if settings.USE_TZ and timezone.is_naive(at):
        raise ValueError(f"{at} has no time zone; expected an aware datetime")
    return in_utc(at)


HEIGHT = 100
WIDTH = 10
"""The width of one bar; pictures are stretched to the size that they get."""
_LEAST = 2
"""The height of a bar of few rows, so that it is seen."""


@dataclass(frozen=True, slots=True)
class DrawnBar:
    x: str
    y: str
    height: str
    label: str
    count: str
    text: str
    """Time and count in one line, for screen readers."""
    is_minimum: bool
    """Whether there may be more rows."""
    url: str = ""
    """The URL of the rows of the bar."""


def drawn(bars: Sequence[Bar]) -> list[DrawnBar]:
    """Bars whose labels tell them apart; the first and the last one may be cut off."""
    longest = max((bar.end - bar.start for bar in bars), default=timedelta(0))
    forms = {20: "DATETIME_FORMAT", 27 * 24: "DATE_FORMAT", 360 * 24: "YEAR_MONTH_FORMAT"}
    form = next((forms[hours] for hours in forms if longest < timedelta(hours=hours)), "Y")
    label = formatter(form)
    return drawn_counts([(bar.count, at := label(bar.start), at, "") for bar in bars])


def drawn_counts(bars: Sequence[tuple[Count, str, str, str]]) -> list[DrawnBar]:
    """Bars with heights in proportion to the largest count, whose height is ``HEIGHT``.

    Given are the counts, the labels, the times for where there is more room, and the URLs.
    """
    largest = max((count for count, *_ in bars), default=0)
    form = pgettext("sortable ids", "%(time)s: %(count)s")
    drawn_bars = []
    for position, (count, label, at, url) in enumerate(bars):
        height = max(_LEAST, round(HEIGHT * count / largest)) if count else 0
        counted = count.text
        drawn_bars.append(
            DrawnBar(
                x=str(position * WIDTH),
                y=str(HEIGHT - height),
                height=str(height),
                label=label,
                count=counted,
                text=form % {"time": at, "count": counted},
                is_minimum=count.precision == "minimum",
                url=url,
            )
        )
    return drawn_bars


def formatter(form: str) -> Callable[[datetime], str]:
    """A function that writes times of the current time zone in one of Django's formats; of two
    equal times, the second one with its zone."""
    pattern, zone = get_format(form), local_zone()

    def text(at: datetime) -> str:
        written = capfirst(dateformat.format(at, pattern))
        zoned = at.replace(tzinfo=zone) if timezone.is_naive(at) else at
        return f"{written} {zoned.tzname()}" if at.fold else written

    return text


# Units of the calendar in the local time zone, as instants. Each span ends where the next one
# starts, also where the clock is changed: a day has 23, 24 or 25 hours, an hour that repeats is two
# spans, and a day that a time zone skips is none.


_START_OF_CALENDAR = datetime.min.replace(tzinfo=UTC)
_END_OF_CALENDAR = datetime.max.replace(tzinfo=UTC)


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
    zone = local_zone()
    while start < end:
        stop = min(end_of(unit, start, zone), end)
        yield Span(start, stop)
        start = stop


def start_of(unit: str, at: datetime, zone: tzinfo) -> datetime:
    """The start of the unit that contains the instant, in UTC."""
    if unit in _DAYS:
        # In the first hours of year 1, some zones are in the year before.
        return min(at, first_moment(_DAYS[unit].first(in_zone(at, zone).date())))
    return at - min(_passed(unit, at, zone), at - _START_OF_CALENDAR)


def end_of(unit: str, at: datetime, zone: tzinfo) -> datetime:
    """The end of the unit that contains the instant, in UTC: always after the instant."""
    if unit in _CLOCK:
        return at + min(_CLOCK[unit] - _passed(unit, at, zone), _END_OF_CALENDAR - at)
    first, most = _DAYS[unit]
    day, end = in_zone(at, zone).date(), at
    # Where the clock is put back after midnight, a day that has ended comes back for some time.
    while end <= at:
        try:
            day = first(first(day) + timedelta(days=most))
        except OverflowError:
            return _END_OF_CALENDAR
        end = first_moment(day)
    return end


def _passed(unit: str, at: datetime, zone: tzinfo) -> timedelta:
    """The time since the clock showed the start of the hour or minute, as if clocks were changed at
    whole hours only."""
    shown = in_zone(at, zone)
    minutes = shown.minute if unit == "hour" else 0
    return timedelta(minutes=minutes, seconds=shown.second, microseconds=shown.microsecond)
