"""What the tests of histograms share."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django_sortable_ids.functions import Bar


def one_by_one(bars: Iterable[Bar], times: Iterable[datetime]) -> list[int]:
    """How many of the times lie in each of the bars."""
    times = list(times)
    return [
        sum(bar.start.timestamp() <= at.timestamp() < bar.end.timestamp() for at in times)
        for bar in bars
    ]


def rows_in(bars: Iterable[Bar]) -> list[int]:
    """The counts, which must be exact."""
    bars = list(bars)
    assert all(bar.count.is_exact for bar in bars)
    return [bar.count for bar in bars]
