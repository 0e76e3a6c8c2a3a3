"""Generating, reading and writing ids, and the packages that do one scheme each.

A round runs both sides of a comparison, one after the other, in turns the other one first, over the
same thousand values or calls. A ratio is the other side's time divided by ours: how many times as
fast this package is. Shown are medians of the rounds, and the lowest and highest ratio.

It takes the ``benchmark`` extra. Run it as ``python -m tests.benchmarks.generation``.
"""

import argparse
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import ksuid
import snowflake
import ulid
import uuid6
import uuid_utils
import uuid_utils.compat

from django_sortable_ids.schemes import get

from .support import in_turns, machine, markdown, ratios

CALLS = 1000
BATCH = 10_000
UUID7, ULID, KSUID = get("uuid7"), get("ulid"), get("ksuid")
SNOWFLAKE = get("snowflake").with_worker(1)


class Comparison(NamedTuple):
    ours_title: str
    theirs_title: str
    ours: Callable[[], object]
    """Does what is compared ``calls`` times."""
    theirs: Callable[[], object]
    goal: float | None = None
    """How many times as fast ours should be."""
    calls: int = CALLS


def calling(function: Callable[[], object], times: int = CALLS) -> Callable[[], None]:
    def run() -> None:
        for _ in range(times):
            function()

    return run


def over(function: Callable[[Any], object], values: Sequence[Any]) -> Callable[[], None]:
    def run() -> None:
        for value in values:
            function(value)

    return run


NATIVE = [
    ("uuid7", "c_uuid_v7.compat", "uuid7", 1),
    ("uuid7", "uuid7_rs.compat", "uuid7", 1),
    ("uuid7", "hyperuuid", "new_v7", None),
    ("ulid", "ulid_transform", "ulid_now", 0.15),
    ("ksuid", "cyksuid.ksuid", "ksuid", 1),
]
"""Scheme, module and function of other packages in C, C++ or Rust, and the goal."""


def made() -> Iterator[Comparison]:
    compat, numbers = uuid_utils.compat, snowflake.SnowflakeGenerator(1)
    others = [
        ("uuid7", "uuid_utils.compat (Rust)", compat.uuid7, 1.3),
        ("uuid7", "uuid6", uuid6.uuid7, 3),
        ("uuid7", "uuid.uuid4", uuid.uuid4, None),
        ("uuid6", "uuid_utils.compat (Rust)", compat.uuid6, 0.8),
        ("uuid6", "uuid6", uuid6.uuid6, 2),
        ("snowflake", "snowflake-id", partial(next, numbers), 1.2),
        ("ulid", "python-ulid", lambda: str(ulid.ULID()), 4),
        ("ksuid", "svix-ksuid", lambda: str(ksuid.Ksuid()), 8),
    ]
    if hasattr(uuid, "uuid7"):
        others.append(("uuid7", "uuid.uuid7", uuid.uuid7, None))
    for name, module, function, goal in NATIVE:
        try:
            others.append((name, module, getattr(import_module(module), function), goal))
        except ImportError:
            continue
    for name, title, theirs, goal in others:
        scheme = SNOWFLAKE if name == "snowflake" else get(name)
        scheme.generate()  # makes the generator, whose function takes the place of the method
        ours = calling(scheme.generate)
        yield Comparison(f"`{name}`: `generate()`", title, ours, calling(theirs), goal)


def read_and_written() -> Iterator[Comparison]:
    # Of all times, so that nothing is gained from what an id has in common with the one before.
    ulids = [ulid.ULID.from_bytes(os.urandom(16)) for _ in range(CALLS)]
    ksuids = [ksuid.Ksuid.from_bytes(os.urandom(20)) for _ in range(CALLS)]
    to_number = {
        "ulid": lambda text: int(ulid.ULID.from_str(text)),
        "ksuid": lambda text: int.from_bytes(bytes(ksuid.Ksuid.from_base62(text)), "big"),
    }
    from_number = {
        "ulid": lambda number: str(ulid.ULID.from_int(number)),
        "ksuid": lambda number: str(ksuid.Ksuid.from_bytes(number.to_bytes(20, "big"))),
    }
    read = {"ulid": ulid.ULID.from_str, "ksuid": ksuid.Ksuid.from_base62}
    packages = [(ULID, ulids, "python-ulid"), (KSUID, ksuids, "svix-ksuid")]
    for scheme, theirs, package in packages:
        texts, name = [str(each) for each in theirs], scheme.name
        numbers = [to_number[name](text) for text in texts]
        # The value of these schemes is the text; what the database keeps is made of the number.
        for title, ours, given, other, taken, goal in (
            ("parse(text)", scheme.parse, texts, read[name], texts, 3),
            ("format(value)", scheme.format, texts, str, theirs, 3),
            ("to_int(text)", scheme.to_int, texts, to_number[name], texts, None),
            ("from_int(number)", scheme.from_int, numbers, from_number[name], numbers, None),
        ):
            works = over(ours, given), over(other, taken)
            yield Comparison(f"`{name}`: `{title}`", package, *works, goal)


def in_batches() -> Iterator[Comparison]:
    for scheme in (UUID7, ULID, KSUID, SNOWFLAKE):
        yield Comparison(
            f"`{scheme.name}`: `generate_many({BATCH:_})`",
            "`generate()`",
            lambda scheme=scheme: scheme.generate_many(BATCH),
            calling(scheme.generate, BATCH),
            2,
            BATCH,
        )


def cpu_seconds(run: Callable[[], object]) -> float:
    start = process_time()
    run()
    return process_time() - start


def line(comparison: Comparison, rounds: int) -> list[str]:
    ours, theirs = in_turns([comparison.ours, comparison.theirs], rounds, cpu_seconds)
    found, each = ratios(theirs, ours), 1e9 / comparison.calls
    return [
        comparison.ours_title,
        comparison.theirs_title,
        f"{median(ours) * each:,.0f} ns",
        f"{median(theirs) * each:,.0f} ns",
        f"{median(found):.2f}",
        f"{min(found):.2f} to {max(found):.2f}",
        f"{comparison.goal:g}" if comparison.goal else "",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=51)
    rounds = parser.parse_args().rounds
    comparisons = [*made(), *in_batches(), *read_and_written()]
    lines = [line(comparison, rounds) for comparison in comparisons]
    print(f"{machine()}; medians of {rounds} rounds.\n")
    columns = ["Ours", "compared with", "ours", "theirs", "times as fast", "from", "goal"]
    print(markdown(columns, lines))


if __name__ == "__main__":
    main()
