"""How long a writer waits beside a backfill, next to the same writer alone.

The writer inserts a row and updates two others by their keys, each in a transaction of its own, for
as long as the backfill takes, and before it for as long as is asked. The backfill is a process of
its own, with the default ``--target-time``.

Run it as ``python -m tests.benchmarks.writer_latency``.
"""

import argparse
import random
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from time import perf_counter, sleep

from django.db.models import F

from .backfill import Inserted, command, unfilled
from .support import heading, markdown

PAUSE = 0.002
"""Seconds between two transactions: about as busy as a table gets."""


def act(draw: random.Random, rows: int) -> None:
    """One transaction."""
    if draw.randrange(3):
        row = Inserted.objects.filter(pk=draw.randint(1, rows))
        row.update(customer=F("customer") + 1)
    else:
        Inserted.objects.create(
            created_at=datetime.now(UTC), customer=1, reference="written", text="wide " * 80
        )


def latencies(rows: int, goes_on: Callable[[], bool]) -> list[float]:
    """Seconds of each transaction."""
    draw, found = random.Random(rows), []
    while goes_on():
        start = perf_counter()
        act(draw, rows)
        found.append(perf_counter() - start)
        sleep(PAUSE)
    return found


def line(what: str, found: list[float]) -> list[str]:
    ordered = sorted(found)
    at = [ordered[int(part * (len(ordered) - 1))] for part in (0.5, 0.99, 0.999, 1)]
    return [what, f"{len(found):,}", *(f"{1000 * each:,.1f} ms" for each in at)]


def compared(field: str, options: argparse.Namespace) -> list[list[str]]:
    with unfilled(options.rows):
        end = perf_counter() + options.seconds
        alone = latencies(options.rows, lambda: perf_counter() < end)
        process = subprocess.Popen(command("backfill", field), stdout=subprocess.DEVNULL)
        beside = latencies(options.rows, lambda: process.poll() is None)
        assert process.returncode == 0, "the backfill failed"
    return [line("alone", alone), line(f"beside `{field}`", beside)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=10, help="of the writer alone")
    parser.add_argument("--fields", nargs="+", default=["uuid7"])
    options = parser.parse_args()
    lines = [each for field in options.fields for each in compared(field, options)]
    print(heading(f"A writer beside the backfill of {options.rows:,} rows"))
    print(markdown(["writer", "transactions", "median", "p99", "p99.9", "longest"], lines))


if __name__ == "__main__":
    main()
