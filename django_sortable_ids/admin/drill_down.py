"""The drill-down above a list: bars of the years, of the months of a year, and so on to minutes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.utils.formats import get_format
from django.utils.translation import gettext, pgettext

from ..histograms.columns import TimedColumn
from ..histograms.counting import Count, counts
from ..histograms.drawing import HEIGHT, bar_text, count_text, formatted, heights_of
from ..histograms.ends import Ends, TookTooLong, ends
from ..histograms.spans import Span, end_of, local, start_of
from .places import Place, years

MOST_YEARS = 60
"""With more of them between the first and the last row, years without rows are left out."""
_FEW = 6
"""Bars that would be too wide if they filled the row."""
_MOST_CHARACTERS = 9
_PATH_FORMATS = {
    "year": "Y",
    "month": "F",
    "day": "MONTH_DAY_FORMAT",
    "hour": "TIME_FORMAT",
    "minute": ":i",
}
_LABEL_FORMATS = {"year": "Y", "month": "M", "day": "j", "hour": "TIME_FORMAT", "minute": ":i"}
_TITLE_FORMATS = {
    "year": "Y",
    "month": "YEAR_MONTH_FORMAT",
    "day": "DATE_FORMAT",
    "hour": "DATETIME_FORMAT",
    "minute": "DATETIME_FORMAT",
}


class Step(NamedTuple):
    """One of the places from all rows to those that the bars show."""

    title: str
    place: str | None
    """Its text in the URL; None for all rows."""


@dataclass(frozen=True, slots=True)
class DrillDownBar:
    place: str
    label: str
    text: str
    """Time and count in one line, for screen readers."""
    count: str
    y: str
    height: str
    is_minimum: bool
    """There may be more rows."""

    @property
    def is_empty(self) -> bool:
        return self.height == "0" and not self.is_minimum


class DrillDown(NamedTuple):
    """What the template draws."""

    path: list[Step]
    bars: list[DrillDownBar]
    note: str
    """Why there are no bars; empty if there are some."""

    @property
    def classes(self) -> str:
        """Classes of the list of bars, which make each bar as wide as its words, and no wider."""
        texts = [text for bar in self.bars for text in (bar.label, *bar.count.split())]
        longest = min(max(map(len, texts), default=0), _MOST_CHARACTERS)
        few = " sortable-ids-few" if len(self.bars) <= _FEW else ""
        return f"sortable-ids-bars sortable-ids-characters-{longest}{few}"


def drill_down(
    rows: QuerySet[Any], column: TimedColumn, chosen: Sequence[Place], seconds: float
) -> DrillDown | None:
    """The first level within the chosen place at which there are several places with rows.

    ``rows`` are those of all places. None if there are none and no place was chosen.
    """
    return _Level(rows, column, seconds).found(list(chosen))


class _Level:
    def __init__(self, rows: QuerySet[Any], column: TimedColumn, seconds: float) -> None:
        self._rows = rows
        self._column = column
        self._end = time.monotonic() + seconds

    def found(self, path: list[Place]) -> DrillDown | None:
        try:
            found = self._ends(*path[-1].span) if path else self._ends(None, None)
            if found is None:
                no_rows = pgettext("sortable ids", "No rows.")
                return DrillDown(_steps(path), [], no_rows) if path else None
            places = path[-1].inside() if path else self._years(found)
        except TookTooLong:
            return DrillDown(_steps(path), [], gettext("Counting the rows took too long."))
        while only := _only(places, found):
            places = only.inside()
            if places:
                path.append(only)
        return DrillDown(_steps(path), self._bars(places, found), "")

    def _left(self) -> float:
        """Seconds."""
        return self._end - time.monotonic()

    def _ends(self, start: datetime | None, end: datetime | None) -> Ends | None:
        return ends(self._rows, self._column, start, end, self._left())

    def _years(self, found: Ends) -> list[Place]:
        if found.last.year - found.first.year < MOST_YEARS:
            return years(Span(start_of("year", found.first), end_of("year", found.last)))
        with_rows: list[Place] = []
        following: Ends | None = found
        while following and len(with_rows) < MOST_YEARS:
            year = Span(start_of("year", following.first), end_of("year", following.first))
            with_rows += years(year)
            following = self._ends(year.end, None)
        return with_rows

    def _bars(self, places: list[Place], found: Ends) -> list[DrillDownBar]:
        """Places before the first row and after the last one have none: they are not counted."""
        counted = {
            place: Count(0, is_exact=True)
            for place in places
            if place.span.end <= found.first or place.span.start > found.last
        }
        asked = [place for place in places if place not in counted]
        spans = [place.span for place in asked]
        counted |= dict(
            zip(asked, counts(self._rows, self._column, spans, self._left()), strict=True)
        )
        heights = heights_of(counted[place].rows for place in places)
        return [
            _bar(place, counted[place], height)
            for place, height in zip(places, heights, strict=True)
        ]


def _only(places: list[Place], found: Ends) -> Place | None:
    """The place that contains all rows, if there is one."""
    for place in places:
        if place.span.start <= found.first and found.last < place.span.end:
            return place
    return None


def _steps(path: list[Place]) -> list[Step]:
    return [
        Step(gettext("All dates"), None),
        *(Step(_formatted(place, _PATH_FORMATS), place.text) for place in path),
    ]


def _bar(place: Place, count: Count, height: int) -> DrillDownBar:
    shown = count_text(count.rows, is_exact=count.is_exact, is_estimate=count.is_estimate)
    return DrillDownBar(
        place=place.text,
        label=_label(place),
        text=bar_text(_formatted(place, _TITLE_FORMATS), shown),
        count=shown,
        y=str(HEIGHT - height),
        height=str(height),
        is_minimum=not (count.is_exact or count.is_estimate),
    )


def _formatted(place: Place, forms: dict[str, str]) -> str:
    return formatted(local(place.span.start), forms[place.unit])


def _label(place: Place) -> str:
    # English has words for noon and midnight, which are longer than the hours between them.
    if place.unit == "hour" and get_format("TIME_FORMAT") == "P":
        return formatted(local(place.span.start), "g a")
    return _formatted(place, _LABEL_FORMATS)
