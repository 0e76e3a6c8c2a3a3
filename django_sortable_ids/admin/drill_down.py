"""The drill-down above a list: bars of the years, of the months of a year, and so on to minutes."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils.formats import get_format
from django.utils.translation import gettext, pgettext

from ..db.counting import Count
from ..fields.times import first_moment, in_zone, local_zone
from ..histograms.counting import Span, TimedColumn, TookTooLong, counts, ends
from ..histograms.histogram import DrawnBar, drawn_counts, end_of, formatter, spans, start_of

MOST_YEARS = 60
"""With more years from the first row to the last one, those without rows are left out."""
_FEW = 6
"""Bars that would be too wide if they filled the row."""
_MOST_CHARACTERS = 9
_TEXT = re.compile(r"[0-9]{4}(-[0-9]{2}[b-z]?){0,4}")


class _Unit(NamedTuple):
    in_url: str
    """The format of its part in a URL."""
    in_path: str
    """The format of its name next to the period around it."""
    of_bar: str
    title: str
    """The format where there is more room."""


_UNITS = {
    "year": _Unit("%Y", "Y", "Y", "Y"),
    "month": _Unit("%m", "F", "M", "YEAR_MONTH_FORMAT"),
    "day": _Unit("%d", "MONTH_DAY_FORMAT", "j", "DATE_FORMAT"),
    "hour": _Unit("%H", "TIME_FORMAT", "TIME_FORMAT", "TIME_FORMAT"),
    "minute": _Unit("%M", ":i", ":i", "TIME_FORMAT"),
}
_INSIDE = dict(zip(_UNITS, [*_UNITS][1:], strict=False))


class CalendarPeriod(NamedTuple):
    """A year, a month of it, a day of that, and so on to a minute.

    In the URL it is a text such as ``2013-07-04-13-05``. An hour that is repeated when the clock is
    put back is ``01b``, after ``01``.
    """

    unit: str
    text: str
    span: Span
    start: datetime
    """The start of the span, in the current time zone."""

    def inside(self) -> Iterator[CalendarPeriod]:
        """The periods of the next shorter unit, in the order of time; none for a minute."""
        if unit := _INSIDE.get(self.unit):
            yield from _periods(unit, self.span, f"{self.text}-")


def path_to(text: str) -> list[CalendarPeriod]:
    """The period with that text, after the periods that contain it, from the year on.

    Raises ``ValueError`` if there is no such period.
    """
    if not _TEXT.fullmatch(text):
        raise ValueError(f"no time {text!r}")
    year, *parts = text.split("-")
    start = first_moment(date(int(year), 1, 1))
    path = list(_periods("year", _years_around(start, start)))
    for part in parts:
        wanted = f"{path[-1].text}-{part}"
        period = next((inner for inner in path[-1].inside() if inner.text == wanted), None)
        if period is None:
            raise ValueError(f"no time {text!r}")
        path.append(period)
    return path


def _periods(unit: str, within: Span, prefix: str = "") -> Iterator[CalendarPeriod]:
    seen: Counter[str] = Counter()
    zone = local_zone()
    for span in spans(unit, *within):
        start = in_zone(span.start, zone)
        # Not all platforms fill %Y up to four digits.
        part = f"{start.year:04}" if unit == "year" else start.strftime(_UNITS[unit].in_url)
        repeated = chr(ord("a") + seen[part]) if seen[part] else ""
        seen[part] += 1
        yield CalendarPeriod(unit, f"{prefix}{part}{repeated}", span, start)


# One level of the drill-down


class Step(NamedTuple):
    """One of the periods from all rows to those that the bars show."""

    title: str
    url: str
    """Empty for the last one, which is shown."""


class DrillDown(NamedTuple):
    path: list[Step]
    bars: list[DrawnBar]
    note: str = ""
    """Why there are no bars; empty if there are some."""

    @property
    def classes(self) -> str:
        """Classes of the list of bars, which make each bar as wide as its words, and no wider."""
        texts = [text for bar in self.bars for text in (bar.label, *bar.count.split())]
        longest = min(max(map(len, texts), default=0), _MOST_CHARACTERS)
        few = " sortable-ids-few" if len(self.bars) <= _FEW else ""
        return f"sortable-ids-bars sortable-ids-characters-{longest}{few}"


def drill_down(
    rows: QuerySet[Any],
    column: TimedColumn,
    chosen: Sequence[CalendarPeriod],
    seconds: float,
    url: Callable[[str | None], str],
) -> DrillDown | None:
    """The first level within the chosen period at which there are several periods with rows.

    ``rows`` are those of all periods. ``url`` is the URL of a period by its text, or of all periods
    for None. None if there are no rows and no period was chosen.
    """
    path, note = list(chosen), ""
    level: list[tuple[CalendarPeriod, Count]] | None = []
    try:
        level = _level(rows, column, path, time.monotonic() + seconds)
    except TookTooLong:
        note = gettext("Counting the rows took too long.")
    if level is None:
        if not path:
            return None
        level, note = [], pgettext("sortable ids", "No rows.")
    bars = _bars(level, url)
    titles = [
        gettext("All dates"),
        *(formatter(_UNITS[period.unit].in_path)(period.start) for period in path),
    ]
    urls = [url(None), *(url(period.text) for period in path)]
    urls[-1] = ""
    return DrillDown([Step(*step) for step in zip(titles, urls, strict=True)], bars, note)


def _bars(
    level: Sequence[tuple[CalendarPeriod, Count]], url: Callable[[str | None], str]
) -> list[DrawnBar]:
    """The bars of a level; those that may have rows are links with a title."""
    if not level:
        return []
    unit = _UNITS[level[0][0].unit]
    of_bar = get_format(unit.of_bar)
    # English has words for noon and midnight, which are longer than the hours between them.
    label, title = formatter("g a" if of_bar == "P" else of_bar), formatter(unit.title)
    bars = []
    for period, count in level:
        may_have_rows = count or not count.is_exact
        time_and_url = (title(period.start), url(period.text)) if may_have_rows else ("", "")
        bars.append((count, label(period.start), *time_and_url))
    return drawn_counts(bars)


def _level(
    rows: QuerySet[Any], column: TimedColumn, path: list[CalendarPeriod], deadline: float
) -> list[tuple[CalendarPeriod, Count]] | None:
    """The periods with their counts; None without rows. A period that contains all rows becomes a
    part of the path."""
    start, end = path[-1].span if path else (None, None)
    bounds = ends(rows, column, start, end, deadline - time.monotonic())
    if bounds is None:
        return None
    first, last = bounds
    periods = [*path[-1].inside()] if path else _years(rows, column, first, last, deadline)
    while around := [each for each in periods if each.span.start <= first and last < each.span.end]:
        periods = [*around[0].inside()]
        path += around if periods else []
    # Periods before the first row and after the last one have no rows: they are not counted.
    asked = [period for period in periods if period.span.end > first and period.span.start <= last]
    counted = counts(rows, column, [period.span for period in asked], deadline - time.monotonic())
    by_period = dict(zip(asked, counted, strict=True))
    return [(period, by_period.get(period, Count(0))) for period in periods]


def _years(
    rows: QuerySet[Any], column: TimedColumn, first: datetime, last: datetime, deadline: float
) -> list[CalendarPeriod]:
    if last.year - first.year < MOST_YEARS:
        return list(_periods("year", _years_around(first, last)))
    with_rows: list[CalendarPeriod] = []
    rest: tuple[datetime, datetime] | None = (first, last)
    while rest and len(with_rows) < MOST_YEARS:
        year = _years_around(rest[0], rest[0])
        with_rows += _periods("year", year)
        rest = ends(rows, column, year.end, None, deadline - time.monotonic())
    return with_rows


def _years_around(first: datetime, last: datetime) -> Span:
    zone = local_zone()
    return Span(start_of("year", first, zone), end_of("year", last, zone))
