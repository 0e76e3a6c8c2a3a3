"""What the benchmarks share: tables of their own, sizes, and Markdown with where it was measured.

The database is the one of the settings: on SQLite a file of this process's own.
"""

import argparse
import json
import os
import platform
import resource
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import django
from django.db import OperationalError, connection, models

_LOAD = os.getloadavg()[0]

_SIZES = {
    "postgresql": """
        SELECT relname, pg_relation_size(pg_class.oid)
        FROM pg_class LEFT JOIN pg_index ON indexrelid = pg_class.oid
        WHERE %s::regclass IN (pg_class.oid, indrelid)
    """,
    "sqlite": """
        SELECT name, sum(pgsize) FROM dbstat
        WHERE name IN (SELECT name FROM sqlite_master WHERE tbl_name = %s)
        GROUP BY name
    """,
}

_VERSIONS = {
    "postgresql": "SHOW server_version",
    "sqlite": "SELECT sqlite_version()",
    "mysql": "SELECT version()",
}


class Row(models.Model):
    """What stands beside the keys that are compared."""

    name = models.CharField(max_length=40)
    amount = models.IntegerField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name


@contextmanager
def table_of(*of: type[models.Model]) -> Iterator[None]:
    """A new table for each model, dropped at the end; on SQLite their file is removed too.

    Raises Django's ``DatabaseError``, and leaves the table alone, where there already is one.
    """
    _find_database()
    with connection.schema_editor() as editor:
        for model in of:
            editor.create_model(model)
    try:
        yield
    finally:
        connection.close()  # with whatever was under way
        with connection.schema_editor() as editor:
            for model in reversed(of):
                editor.delete_model(model)
        connection.close()
        if connection.vendor == "sqlite":
            Path(connection.settings_dict["NAME"]).unlink()


def _find_database() -> None:
    """Make it where there is none yet, as on a server that `.ci/engine` starts."""
    try:
        connection.ensure_connection()
    except OperationalError:
        with connection._nodb_cursor() as cursor:
            name = connection.ops.quote_name(connection.settings_dict["NAME"])
            cursor.execute(f"CREATE DATABASE {name}")


def one_row(sql: str, *params: Any) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params or None)
        row: tuple[Any, ...] = cursor.fetchone()
        return row


def sizes(model: type[models.Model]) -> Mapping[str, int]:
    """The bytes of the table and of each of its indexes, by name."""
    if connection.vendor not in _SIZES:
        raise SystemExit(f"SQLite or PostgreSQL, not {connection.display_name}")
    with connection.cursor() as cursor:
        cursor.execute(_SIZES[connection.vendor], [model._meta.db_table])
        return {name: int(size) for name, size in cursor.fetchall()}


def seconds(work: Callable[[], object]) -> float:
    """Of one run."""
    start = perf_counter()
    work()
    return perf_counter() - start


def in_turns(
    works: Sequence[Any], rounds: int, timed: Callable[[Any], float] = seconds
) -> list[list[float]]:
    """The time of each work in every round; another one comes first in each."""
    found: list[list[float]] = [[] for _ in works]
    for turn in range(rounds):
        for number in range(len(works)):
            which = (number + turn) % len(works)
            found[which].append(timed(works[which]))
    return found


def ratios(some: Iterable[float], others: Iterable[float]) -> list[float]:
    """Of each round."""
    return [one / other for one, other in zip(some, others, strict=True)]


def way_of_this_process(parser: argparse.ArgumentParser, ways: Iterable[str]) -> Any:
    """The options of a benchmark that does each of its ways in a process of its own; ``way`` is
    set there. SQLite has the options of a project that sets none: the tests' own don't wait for
    the disk.
    """
    parser.add_argument("--way", choices=[*ways], help=argparse.SUPPRESS)
    parser.add_argument("--database", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if connection.vendor == "sqlite":
        connection.settings_dict["OPTIONS"] = {}
    if options.way:
        connection.settings_dict["NAME"] = options.database
    return options


def command_of(benchmark: str, way: str, *arguments: object) -> list[str]:
    """What does that way in a process of its own."""
    database = connection.settings_dict["NAME"]
    given = [f"tests.benchmarks.{benchmark}", "--way", way, "--database", database, *arguments]
    return [sys.executable, "-m", *map(str, given)]


def measure(work: Callable[[], Any]) -> None:
    """Print what the process takes: seconds, the most bytes of memory, and what the work gives."""
    connection.ensure_connection()
    given: list[Any] = []
    taken = seconds(lambda: given.append(work()))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([taken, memory, *given]))


def heading(title: str) -> str:
    """The title with the database, and below it the machine, the versions and the date."""
    version = one_row(_VERSIONS[connection.vendor])[0].split()[0].split("-")[0]
    return (
        f"### {title}: {connection.display_name} {version}\n\n"
        f"{machine()}, Django {django.__version__}.\n"
    )


def machine() -> str:
    """Where and when it was measured."""
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), load {_LOAD:.1f} at the start, "
        f"{datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}"
    )


def markdown(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table: text in the first column, numbers in the others."""
    columns = list(columns)
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def megabytes(size: float) -> str:
    return f"{size / 1_000_000:,.1f} MB"
