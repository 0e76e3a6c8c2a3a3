"""A level of the admin's drill-down by a UUIDv7 key, next to the same by an indexed ``created_at``.

The table is that of ``creation_times``: its rows are spread evenly over 400 days, each with an id
of its ``created_at``. Compared are, for the same bars of the same rows:

- ``histogram()`` of the id;
- the least that counts on the column can cost: one statement, written by hand, with a flat
  ``COUNT(*)`` of a range of ``created_at`` for each bar;
- the same counts on the column by the ORM: a ``filter().count()`` for each bar;
- ``drill_down()``, which is what a page does: it looks for the first and the last row, and counts;
- what Django's ``date_hierarchy`` does on the column, which shows no counts;
- a count of each ``Trunc...(CreatedAt("id"))``.

The first four take turns, after each has run once (warm cache) and all have counted the same; the
others run once or a few times after them. The times are medians. Statistics are up to date.

Run it as ``python -m tests.benchmarks.drill_down``.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Any

from django.db import connection
from django.db.models import Count, Max, Min
from django.db.models.functions import TruncDay, TruncHour, TruncMinute, TruncMonth, TruncYear
from django.utils import timezone
from django.utils.functional import cached_property

from django_sortable_ids.admin.drill_down import CalendarPeriod, drill_down, path_to
from django_sortable_ids.functions import CreatedAt, histogram
from django_sortable_ids.histograms.counting import Span, timed_column

from .creation_times import DAYS, Row, Rows, fill, settle
from .support import heading, in_turns, markdown, one_row, ratios, seconds, table_of

TRUNCATIONS: dict[str, Any] = {
    "year": TruncYear,
    "month": TruncMonth,
    "day": TruncDay,
    "hour": TruncHour,
    "minute": TruncMinute,
}


@dataclass(frozen=True)
class Level:
    title: str
    place: str
    unit: str

    @property
    def path(self) -> list[CalendarPeriod]:
        return path_to(self.place) if self.place else []

    @cached_property
    def span(self) -> Span:
        whole = Span(datetime(2025, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
        return self.path[-1].span if self.place else whole

    @property
    def bars(self) -> list[Span]:
        bars = histogram(Row.objects.none(), "id", self.unit, *self.span)
        return [Span(bar.start, bar.end) for bar in bars]

    def by_id(self) -> list[int]:
        bars = histogram(Row.objects.all(), "id", self.unit, *self.span, time_limit=None)
        return [bar.count for bar in bars]

    def by_column(self) -> Callable[[], list[int]]:
        """The statement, to be run."""
        bars = self.bars
        count = (
            f"(SELECT COUNT(*) FROM {Row._meta.db_table} "
            f"WHERE created_at >= %s AND created_at < %s)"
        )
        sql = f"SELECT {', '.join(count for _ in bars)}"
        adapt = connection.ops.adapt_datetimefield_value
        params = [adapt(at) for bar in bars for at in bar]
        return lambda: list(one_row(sql, *params))

    def by_orm(self) -> list[int]:
        rows = Row.objects.all()
        return [
            rows.filter(created_at__gte=bar.start, created_at__lt=bar.end).count()
            for bar in self.bars
        ]

    def page(self) -> list[int]:
        level = drill_down(Row.objects.all(), timed_column(Row, "id"), self.path, 600, str)
        assert level is not None
        return [int(bar.count.replace(",", "")) for bar in level.bars]

    def in_django(self) -> Any:
        rows = self._rows_by_column()
        if not self.place:
            rows.aggregate(first=Min("created_at"), last=Max("created_at"))
        return list(rows.datetimes("created_at", self.unit))

    def decoded(self) -> Any:
        start, end = self.span
        rows = Row.objects.filter(id__created_at__gte=start, id__created_at__lt=end)
        at = TRUNCATIONS[self.unit](CreatedAt("id"))
        return list(rows.annotate(at=at).values("at").annotate(n=Count("pk")).order_by("at"))

    def _rows_by_column(self) -> Rows:
        start, end = self.span
        return Row.objects.filter(created_at__gte=start, created_at__lt=end)


LEVELS = (
    Level("all years", "", "year"),
    Level("months of 2025", "2025", "month"),
    Level("days of July 2025", "2025-07", "day"),
    Level("hours of a day", "2025-07-04", "hour"),
    Level("minutes of an hour", "2025-07-04-13", "minute"),
)


def line(level: Level, rounds: int) -> list[str]:
    rows = sum(level.by_id())
    bars = level.page()
    by_column = level.by_column()
    assert level.by_id() == by_column() == level.by_orm(), level.title
    assert [each for each in level.by_id() if each] == [each for each in bars if each], level.title
    ways: list[Callable[[], Any]] = [level.by_id, by_column, level.by_orm, level.page]
    found = in_turns(ways, rounds)
    id_time, column_time, orm_time, page = (1000 * median(times) for times in found)
    # What takes a second varies little.
    in_django = 1000 * median(*in_turns([level.in_django], 1 if id_time > 50 else 5))
    decoded = 1000 * seconds(level.decoded)
    return [
        f"{level.title}: {len(bars)} bars of {rows:,} rows",
        f"{id_time:,.1f} ms",
        f"{column_time:,.1f} ms",
        f"{median(ratios(found[0], found[1])):.2f}",
        f"{orm_time:,.1f} ms",
        f"{page:,.1f} ms",
        f"{in_django:,.1f} ms",
        f"{page / in_django:.3f}",
        f"{decoded:,.1f} ms",
    ]


COLUMNS: Sequence[str] = (
    "Level",
    "`histogram()`",
    "counts on `created_at`",
    "ratio",
    "by the ORM",
    "level of the drill-down",
    "`date_hierarchy`",
    "ratio",
    '`Trunc...(CreatedAt("id"))`',
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    with table_of(Row), timezone.override("UTC"):
        fill(options.rows)
        settle()
        print(heading(f"{options.rows:,} rows over {DAYS} days"))
        print(markdown(COLUMNS, [line(level, options.rounds) for level in LEVELS]))


if __name__ == "__main__":
    main()
