"""``backfill_ids`` beside one unbatched UPDATE with the same SQL, and beside a loop of ``save()``.

Every round makes a table of wide rows with three indexes, five rows to a time, for each of the
three, and runs it in a process of its own. The UPDATE is ``GenerateID(at=...)``, whose suffixes are
random; on SQLite it is the least that any can do, ``SET id = hex(randomblob(16))``. The loop runs
over fewer rows and is extrapolated. ``--verify`` follows a backfill that is not measured. Shown are
medians, and the most memory that a backfill had.

Run it as ``python -m tests.benchmarks.backfill``.
"""

import argparse
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from statistics import median

from django.db import connection, models
from django.db.models import ExpressionWrapper, F, Value
from django.db.models.functions import Cast, Concat, Mod

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.pace import Limits
from django_sortable_ids.backfill.sources.columns import Times
from django_sortable_ids.backfill.sources.target import Target
from django_sortable_ids.backfill.verify import verify
from django_sortable_ids.fields import SnowflakeField, ULIDField, UUIDv7Field
from django_sortable_ids.functions import GenerateID
from django_sortable_ids.management.arguments import TARGET_TIME
from django_sortable_ids.management.modes import FIRST_BATCH
from django_sortable_ids.models import BackfillRun

from .support import (
    command_of,
    heading,
    markdown,
    measure,
    megabytes,
    ratios,
    table_of,
    way_of_this_process,
)

START = datetime(2024, 5, 17, 9, 30, tzinfo=UTC)
STEP = timedelta(microseconds=7919)
"""From one time to the next."""
INSERTED = 20_000
"""Rows that Python makes; the others are copies, made in the database."""
INDEXED = ["created_at", "customer", "reference"]
"""Each by an index of its own."""


class Wide(models.Model):
    """About 450 bytes, but for the ids."""

    created_at = models.DateTimeField()
    customer = models.IntegerField()
    reference = models.CharField(max_length=40)
    text = models.CharField(max_length=400)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.reference


class Filled(Wide):
    uuid7 = UUIDv7Field(null=True)
    ulid = ULIDField(null=True)
    snowflake = SnowflakeField(null=True)

    class Meta:
        app_label = "benchmarks"
        db_table = "benchmark_backfill"


class Inserted(Wide):
    """The table as old code knows it."""

    class Meta:
        app_label = "benchmarks"
        db_table = "benchmark_backfill"
        managed = False


def insert(rows: int) -> None:
    Inserted.objects.bulk_create(
        Inserted(
            created_at=START + number // 5 * STEP,
            customer=number * 7919 % 100_003,
            reference=f"reference {number * 104_729 % rows}",
            text="wide " * 80,
        )
        for number in range(min(rows, INSERTED))
    )
    there = min(rows, INSERTED)
    while there < rows:
        there += _copy(there, min(there, rows - there), rows)
    with connection.schema_editor() as editor:
        # Behind the rows: to sort them takes a tenth of the time that InnoDB needs to place each.
        for name in INDEXED:
            editor.add_index(Filled, models.Index(fields=[name], name=f"benchmark_{name}"))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("VACUUM ANALYZE benchmark_backfill")
        elif connection.vendor == "mysql":
            cursor.execute("ANALYZE TABLE benchmark_backfill")
            cursor.fetchall()


def _copy(there: int, count: int, rows: int) -> int:
    """Insert ``count`` rows after those that are there."""
    number = F("pk") + there
    copies = Inserted.objects.order_by("pk")[:count].values_list(
        ExpressionWrapper(F("created_at") + there // 5 * STEP, models.DateTimeField()),
        Mod(number * 7919, 100_003),
        Concat(Value("reference "), Cast(Mod(number * 104_729, rows), models.CharField())),
        "text",
    )
    sql, parameters = copies.query.sql_with_params()
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO benchmark_backfill (created_at, customer, reference, text) {sql}",
            parameters,
        )
    return count


def target_of(field: str) -> Target:
    source = Filled._meta.get_field("created_at")
    return Target(Filled._meta.get_field(field), Times(Filled, source, "default"))


def backfill(field: str, _: int = 0) -> int:
    """As the command does it without options."""
    planned = plan.build(target_of(field), FIRST_BATCH)
    return run.execute(planned, limits=Limits(target_time=TARGET_TIME)).filled


def update(field: str, _: int) -> int:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute(f"UPDATE benchmark_backfill SET {field} = hex(randomblob(16))")
            return int(cursor.rowcount)
    return Filled.objects.update(**{field: GenerateID(field, at="created_at")})


def save(field: str, rows: int) -> int:
    scheme = Filled._meta.get_field(field).scheme
    for each in Filled.objects.order_by("created_at", "pk")[:rows]:
        setattr(each, field, scheme.generate(each.created_at))
        each.save(update_fields=[field])
    return rows


def verified(field: str, _: int) -> int:
    return verify(target_of(field)).rows


WAYS: dict[str, Callable[[str, int], int]] = {
    "update": update,
    "backfill": backfill,
    "verify": verified,
    "save": save,
}
"""Each gives the number of its rows, of which those of ``save`` are told."""


def measured(way: str, field: str, options: argparse.Namespace) -> tuple[float, int]:
    """Seconds a row and bytes of memory of one run, on a table of its own."""
    with unfilled(options.rows):
        done = subprocess.run(
            command(way, field, options.saved), check=True, stdout=subprocess.PIPE, text=True
        )
        seconds, memory, rows = json.loads(done.stdout)
        return seconds / rows, memory


@contextmanager
def unfilled(rows: int) -> Iterator[None]:
    """So many rows without ids."""
    with table_of(Filled, BackfillRun):
        insert(rows)
        yield


def command(way: str, field: str, saved: int = 0) -> list[str]:
    """What runs one way, in a process of its own."""
    return command_of("backfill", way, "--fields", field, "--saved", saved)


def compared(field: str, options: argparse.Namespace) -> list[str]:
    """A line of the table: medians of the rounds."""
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    memory = 0
    for _ in range(options.rounds):
        for way, found in times.items():
            seconds, used = measured(way, field, options)
            found.append(seconds)
            memory = max(memory, used if way == "backfill" else 0)
    ours = times["backfill"]
    return [
        f"`{field}`",
        f"{median(ours) * options.rows:.1f} s",
        f"{1 / median(ours):,.0f}",
        f"{median(ratios(ours, times['update'])):.2f}",
        f"{median(ratios(times['save'], ours)):.0f}",
        f"{median(ratios(times['verify'], ours)):.2f}",
        megabytes(memory),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--saved", type=int, default=20_000, help="rows of the loop of save()")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--fields", nargs="+", default=["uuid7", "ulid", "snowflake"])
    options = way_of_this_process(parser, WAYS)
    if options.way:
        (field,) = options.fields
        if options.way == "verify":
            backfill(field)
        measure(lambda: WAYS[options.way](field, options.saved))
        return
    columns = ["field", "time", "rows a second", "to one UPDATE", "`save()` to it"]
    columns += ["`--verify` to it", "memory"]
    lines = [compared(field, options) for field in options.fields]
    print(heading(f"Backfill of {options.rows:,} rows"))
    print(markdown(columns, lines))


if __name__ == "__main__":
    main()
