"""``bulk_create()`` with a UUIDv7 key, beside Django's ``UUIDField(default=uuid.uuid4)``.

A round makes a table for each of the two, in turns the other one first, and times making the
objects, with their ids, and inserting them all. Shown are medians of the rounds, and the lowest and
highest ratio. A profile of one more run says what part of its time goes to this package.

Run it as ``python -m tests.benchmarks.bulk_create``.
"""

import argparse
import uuid
from cProfile import Profile
from pstats import Stats
from statistics import median
from time import perf_counter
from typing import Any

from django.db import connection, models

from django_sortable_ids.fields import UUIDv7Field

from .support import Row, heading, in_turns, markdown, ratios, table_of


class RandomRow(Row):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        app_label = "benchmarks"


class SortableRow(Row):
    id = UUIDv7Field(primary_key=True)

    class Meta:
        app_label = "benchmarks"


def insert(model: Any, rows: int, profile: Profile | None = None) -> float:
    """The seconds of one run, into a table of its own."""
    with table_of(model):
        connection.ensure_connection()
        if profile:
            profile.enable()
        start = perf_counter()
        model.objects.bulk_create(
            model(name="row of a benchmark", amount=number) for number in range(rows)
        )
        seconds = perf_counter() - start
        if profile:
            profile.disable()
        return seconds


def compared(rows: int, rounds: int) -> str:
    random, sortable = in_turns([RandomRow, SortableRow], rounds, lambda of: insert(of, rows))
    found = ratios(sortable, random)
    columns = ["`bulk_create()`", "uuid4", "`UUIDv7Field`", "ratio", "from"]
    line = [
        f"{rows:,} rows",
        f"{median(random):.2f} s",
        f"{median(sortable):.2f} s",
        f"{median(found):.2f}",
        f"{min(found):.2f} to {max(found):.2f}",
    ]
    return markdown(columns, [line])


def shares(rows: int) -> str:
    """What part of a profiled run each method of the field takes, with all that it calls."""
    profile = Profile()
    insert(SortableRow, rows, profile)
    stats: Any = Stats(profile)
    lines = [
        [f"`{name}`", f"{cumulative / stats.total_tt:.1%}"]
        for (file, _, name), (_, _, _, cumulative, _) in stats.stats.items()
        if "django_sortable_ids/fields/" in file
        and name in ("get_default", "pre_save", "get_db_prep_save")
    ]
    return markdown(["In the field", "share of a profiled run"], sorted(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    table, profile = compared(options.rows, options.rounds), shares(options.rows)
    print(heading(f"Medians of {options.rounds} rounds"))
    print(f"{table}\n{profile}")


if __name__ == "__main__":
    main()
