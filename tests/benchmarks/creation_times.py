"""Filters by the time in a UUIDv7 key, next to the same by an indexed ``created_at``.

One table holds both: its rows are spread evenly over 400 days, each with an id of its
``created_at``. A query by the id and the same one by the column take turns, as the ORM runs them,
after each has run once on the same day (warm cache) and both have found the same. The times are
medians. Statistics are up to date.

Run it as ``python -m tests.benchmarks.creation_times``.
"""

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from statistics import median
from typing import Any

from django.db import connection, models
from django.db.models import Count
from django.db.models.expressions import RawSQL
from django.db.models.functions import TruncDay
from django.utils import timezone

from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.functions import CreatedAt, GenerateID
from django_sortable_ids.functions.ticks import MomentOfTick

from .support import heading, in_turns, markdown, megabytes, one_row, sizes, table_of

START = datetime(2025, 1, 1, tzinfo=UTC)
DAYS = 400
MONTH = timedelta(days=30)
PAGE = 50


class Row(models.Model):
    id = UUIDv7Field(primary_key=True)
    created_at = models.DateTimeField(db_index=True)
    name = models.CharField(max_length=40)

    class Meta:
        app_label = "benchmarks"
        db_table = "benchmark_creation_times"

    def __str__(self) -> str:
        return self.name


Rows = models.QuerySet[Row]


def fill(rows: int) -> None:
    """Make the rows in the database, in one statement and in the order of their times."""
    step = DAYS * 86_400_000 // rows
    moment = MomentOfTick(
        RawSQL(f"n * {step}", [], output_field=models.BigIntegerField()),
        epoch_us=int(START.timestamp()) * 1_000_000,
        tick_ns=1_000_000,
    )
    at = RawSQL("at", [], output_field=models.DateTimeField())
    compiler = Row.objects.all().query.get_compiler(connection=connection)
    moment_sql, moment_params = compiler.compile(moment)
    id_sql, id_params = compiler.compile(GenerateID("uuid7", at=at))
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO {Row._meta.db_table} (id, created_at, name)
            WITH RECURSIVE series(n) AS (
                SELECT CAST(0 AS bigint) UNION ALL SELECT n + 1 FROM series WHERE n < {rows - 1}
            )
            SELECT {id_sql}, at, 'row of a benchmark'
            FROM (SELECT {moment_sql} AS at FROM series) AS moments
            """,
            [*id_params, *moment_params],
        )


def settle() -> None:
    """What the database does by itself in a while: statistics, and an end to what was written."""
    if connection.vendor == "sqlite":
        one_row("PRAGMA wal_checkpoint(TRUNCATE)")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE")


def midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def by_id(day: date, length: timedelta) -> Rows:
    start, end = midnight(day), midnight(day + length)
    return Row.objects.filter(id__created_at__gte=start, id__created_at__lt=end)


def by_column(day: date, length: timedelta = timedelta(days=1)) -> Rows:
    """The range that an index of the column serves, which ``created_at__date`` is not."""
    start, end = midnight(day), midnight(day + length)
    return Row.objects.filter(created_at__gte=start, created_at__lt=end)


def page(rows: Rows, *order: Any) -> list[Row]:
    return list(rows.order_by(*order)[:PAGE])


def per_day(rows: Rows, at: Any) -> list[tuple[datetime, int]]:
    days = rows.annotate(day=TruncDay(at)).values_list("day")
    return list(days.annotate(count=Count("*")).order_by("day"))


@dataclass(frozen=True)
class Comparison:
    """The same found in two ways, ``rounds`` times on each of ``days`` days."""

    title: str
    by_id: Callable[[date], Any]
    by_column: Callable[[date], Any]
    days: int = 20
    rounds: int = 10


COMPARISONS = (
    Comparison(
        "count of one day: `id__created_at__date`, a range of `created_at`",
        lambda day: Row.objects.filter(id__created_at__date=day).count(),
        lambda day: by_column(day).count(),
    ),
    Comparison(
        f"its first {PAGE} rows: `id__created_at__date`, a range of `created_at`",
        lambda day: page(Row.objects.filter(id__created_at__date=day), "id"),
        lambda day: page(by_column(day), "created_at"),
    ),
    Comparison(
        "count of one day: `id__created_at__date`, `created_at__date`",
        lambda day: Row.objects.filter(id__created_at__date=day).count(),
        lambda day: Row.objects.filter(created_at__date=day).count(),
        days=1,
        rounds=3,
    ),
    Comparison(
        'rows per day of 30 days: `TruncDay(CreatedAt("id"))`, `TruncDay("created_at")`',
        lambda day: per_day(by_id(day, MONTH), CreatedAt("id")),
        lambda day: per_day(by_column(day, MONTH), "created_at"),
        days=1,
        rounds=7,
    ),
    Comparison(
        f'first {PAGE} rows of 30 days: `order_by(CreatedAt("id"))`, `order_by("created_at")`',
        lambda day: page(by_id(day, MONTH), CreatedAt("id")),
        lambda day: page(by_column(day, MONTH), "created_at"),
        days=1,
        rounds=7,
    ),
    Comparison(
        f'first {PAGE} rows of 30 days: `order_by("id")`, `order_by("created_at")`',
        lambda day: page(by_id(day, MONTH), "id"),
        lambda day: page(by_column(day, MONTH), "created_at"),
    ),
)


def measure(comparison: Comparison, days: Sequence[date]) -> tuple[float, float]:
    """The medians in ms by id and by column."""
    found: list[list[float]] = [[], []]
    for day in days[: comparison.days]:
        assert comparison.by_id(day) == comparison.by_column(day), comparison.title
        ways = [partial(comparison.by_id, day), partial(comparison.by_column, day)]
        for times, more in zip(found, in_turns(ways, comparison.rounds), strict=True):
            times += more
    by_id, by_column = (1000 * median(times) for times in found)
    return by_id, by_column


def shown_ratio(ratio: float) -> str:
    return f"{ratio:,.2f}" if ratio >= 0.01 else "< 0.01"


def table_of_times(days: Sequence[date]) -> str:
    lines = []
    for comparison in COMPARISONS:
        id_time, column_time = measure(comparison, days)
        lines.append(
            [
                comparison.title,
                f"{id_time:,.2f} ms",
                f"{column_time:,.2f} ms",
                shown_ratio(id_time / column_time),
            ]
        )
    return markdown(["Query: by id, by column", "by id", "by `created_at`", "ratio"], lines)


def table_of_sizes() -> str:
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, Row._meta.db_table)
    (saved,) = [name for name, found in constraints.items() if found["columns"] == ["created_at"]]
    found = dict(sizes(Row))
    table, index = found.pop(Row._meta.db_table), found.pop(saved)
    (key,) = found.values()
    return markdown(
        ["Size", ""],
        [
            ["index of `created_at`, which the id saves", megabytes(index)],
            ["index of the key", megabytes(key)],
            ["table", megabytes(table)],
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    rows = parser.parse_args().rows
    chosen = random.Random(9562).sample(range(1, DAYS - MONTH.days - 1), 20)
    days = [START.date() + timedelta(days=number) for number in chosen]
    with table_of(Row):
        fill(rows)
        settle()
        times, bytes_used = table_of_times(days), table_of_sizes()
        print(heading(f"{rows:,} rows over {DAYS} days"))
        print(f"{times}\n{bytes_used}")


if __name__ == "__main__":
    main()
