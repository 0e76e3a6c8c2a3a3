"""What a template needs to draw bars: geometry as text, which no locale formats, and words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.text import capfirst
from django.utils.translation import pgettext

from ..fields.values.times import local_zone
from ..paging.count import Count as RowCount
from .histogram import Bar

HEIGHT = 100
WIDTH = 10
"""Of one bar; pictures are stretched to the size that they get."""
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
    is_minimum: bool


def drawn(bars: Sequence[Bar]) -> list[DrawnBar]:
    form = _date_form(bars)
    heights = heights_of(bar.count for bar in bars)
    return [
        _drawn(number, bar, height, form)
        for number, (bar, height) in enumerate(zip(bars, heights, strict=True))
    ]


def _drawn(number: int, bar: Bar, height: int, form: str) -> DrawnBar:
    label = formatted(bar.start, form)
    count = count_text(bar.count, is_exact=bar.is_exact, is_estimate=bar.is_estimate)
    return DrawnBar(
        x=str(number * WIDTH),
        y=str(HEIGHT - height),
        height=str(height),
        label=label,
        count=count,
        text=bar_text(label, count),
        is_minimum=not (bar.is_exact or bar.is_estimate),
    )


def heights_of(counts: Iterable[int]) -> list[int]:
    """In proportion to the largest count, whose height is ``HEIGHT``."""
    counts = list(counts)
    largest = max(counts, default=0)
    return [max(_LEAST, round(HEIGHT * each / largest)) if each else 0 for each in counts]


def count_text(count: int, *, is_exact: bool, is_estimate: bool) -> str:
    if is_estimate:
        return RowCount(count, "estimated").text
    if is_exact:
        return number_format(count, use_l10n=True, force_grouping=True)
    if not count:
        return pgettext("sortable ids", "not counted")
    return RowCount(count + 1, "minimum").text


def bar_text(time: str, count: str) -> str:
    """What a bar says, in one line."""
    return pgettext("sortable ids", "%(time)s: %(count)s") % {"time": time, "count": count}


def formatted(at: datetime, form: str) -> str:
    """The time in one of Django's formats; of two equal times, the second one with its zone."""
    text = capfirst(date_format(at, form))
    if not at.fold:
        return text
    zoned = at.replace(tzinfo=local_zone()) if timezone.is_naive(at) else at
    return f"{text} {zoned.tzname()}"


def _date_form(bars: Sequence[Bar]) -> str:
    """The format that tells the bars apart; the first and the last one may be cut off."""
    longest = max((_length(bar) for bar in bars), default=timedelta(0))
    if longest < timedelta(hours=20):
        return "DATETIME_FORMAT"
    if longest < timedelta(days=27):
        return "DATE_FORMAT"
    return "YEAR_MONTH_FORMAT" if longest < timedelta(days=360) else "Y"


def _length(bar: Bar) -> timedelta:
    return bar.end - bar.start
