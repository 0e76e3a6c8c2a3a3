"""What a template needs to draw bars: geometry as text, which no locale formats, and words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.translation import pgettext

from ..fields.values.times import local_zone
from ..paging.counting import Count
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
    """Time and count in one line, for screen readers."""
    is_minimum: bool
    """Whether there may be more rows."""
    url: str = ""
    """Of the rows of the bar."""


def drawn(bars: Sequence[Bar]) -> list[DrawnBar]:
    form = _date_form(bars)
    labels = [formatted(bar.start, form) for bar in bars]
    return drawn_counts(labels, labels, [bar.count for bar in bars])


def drawn_counts(
    labels: Sequence[str], times: Sequence[str], counts: Sequence[Count]
) -> list[DrawnBar]:
    """Bars with heights in proportion to the largest count, whose height is ``HEIGHT``. ``times``
    are the labels where there is more room.
    """
    largest = max(counts, default=0)
    form = pgettext("sortable ids", "%(time)s: %(count)s")
    found = []
    for number, (label, at, count) in enumerate(zip(labels, times, counts, strict=True)):
        height = max(_LEAST, round(HEIGHT * count / largest)) if count else 0
        found.append(
            DrawnBar(
                x=str(number * WIDTH),
                y=str(HEIGHT - height),
                height=str(height),
                label=label,
                count=count.text,
                text=form % {"time": at, "count": count.text},
                is_minimum=count.precision == "minimum",
            )
        )
    return found


def formatted(at: datetime, form: str) -> str:
    """The time in one of Django's formats; of two equal times, the second one with its zone."""
    text = capfirst(date_format(at, form))
    if not at.fold:
        return text
    zoned = at.replace(tzinfo=local_zone()) if timezone.is_naive(at) else at
    return f"{text} {zoned.tzname()}"


def _date_form(bars: Sequence[Bar]) -> str:
    """The format that tells the bars apart; the first and the last one may be cut off."""
    longest = max((bar.end - bar.start for bar in bars), default=timedelta(0))
    if longest < timedelta(hours=20):
        return "DATETIME_FORMAT"
    if longest < timedelta(days=27):
        return "DATE_FORMAT"
    return "YEAR_MONTH_FORMAT" if longest < timedelta(days=360) else "Y"
