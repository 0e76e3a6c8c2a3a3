"""``MigratePrimaryKey`` of two tables, next to one plain UPDATE of each column that changes.

Parents have a time and about 100 bytes, children refer to them and have about 60 bytes; both get
UUIDv7 keys, and keep the old ones. So three columns change. The floor is an UPDATE of all rows for
each of them, which sets a column without an index to a random UUID. Both sides run in a process of
its own, on new tables. The size of the database is read several times a second during the move; on
SQLite that is all files of the process: the database, its journal and temporary files.

Run it as ``python -m tests.benchmarks.moving``.
"""

import argparse
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from time import sleep
from typing import NamedTuple

from django.db import connection, models
from django.db.migrations.state import ModelState, ProjectState

from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.models import BackfillRun, MoveNote
from django_sortable_ids.operations import MigratePrimaryKey, MovedKey

from .support import (
    command_of,
    heading,
    markdown,
    measure,
    megabytes,
    one_row,
    table_of,
    way_of_this_process,
)

CHILDREN = 2.7
"""For each parent."""
RANDOM = {
    "postgresql": "gen_random_uuid()",
    "mysql": "REPLACE(UUID(), '-', '')",
    "sqlite": "hex(randomblob(16))",
}


class Parent(models.Model):
    created_at = models.DateTimeField()
    text = models.CharField(max_length=100)

    class Meta:
        app_label = "benchmarks"
        db_table = "benchmark_parent"

    def __str__(self) -> str:
        return self.text


class Child(models.Model):
    parent = models.ForeignKey(Parent, models.CASCADE)
    text = models.CharField(max_length=100)

    class Meta:
        app_label = "benchmarks"
        db_table = "benchmark_child"

    def __str__(self) -> str:
        return self.text


SEQUENCE = {
    "postgresql": "SELECT generate_series(1::bigint, {}) AS n",
    "sqlite": "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {}) "
    "SELECT n FROM s",
    "mysql": "WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {}) "
    "SELECT n FROM s",
}
TIMES = {
    "postgresql": "timestamptz '2024-05-17 09:30Z' + n / 5 * interval '8 ms'",
    "sqlite": "strftime('%Y-%m-%d %H:%M:%f', 1715938200 + n / 5 * 0.008, 'unixepoch')",
    "mysql": "TIMESTAMPADD(MICROSECOND, n DIV 5 * 8000, '2024-05-17 09:30:00')",
}


def insert(parents: int) -> None:
    children = int(parents * CHILDREN)
    vendor = connection.vendor
    with connection.cursor() as cursor:
        if vendor == "mysql":
            limit = (
                "max_recursive_iterations"
                if connection.mysql_is_mariadb
                else ("cte_max_recursion_depth")
            )
            cursor.execute(f"SET SESSION {limit} = {children + 1}")
        numbers = SEQUENCE[vendor]
        cursor.execute(
            f"INSERT INTO benchmark_parent (id, created_at, text) SELECT n, {TIMES[vendor]}, "
            f"'about one hundred bytes of text, which is what a small row has, next to its key and "
            f"its time' FROM ({numbers.format(parents)}) AS numbers"
        )
        cursor.execute(
            f"INSERT INTO benchmark_child (id, parent_id, text) "
            f"SELECT n, 1 + n * 7919 % {parents}, "
            f"'a line of an invoice' FROM ({numbers.format(children)}) AS numbers"
        )
        if vendor == "postgresql":
            cursor.execute("VACUUM ANALYZE benchmark_parent, benchmark_child")


def move() -> None:
    state = ProjectState()
    for model in (BackfillRun, MoveNote, Parent, Child):
        state.add_model(ModelState.from_model(model))
    old = models.BigIntegerField(null=True, unique=True)
    keys = [
        MovedKey(
            f"benchmarks.{name}", "id", UUIDv7Field(primary_key=True), old, created_from=source
        )
        for name, source in (("Parent", "created_at"), ("Child", "parent__created_at"))
    ]
    operation = MigratePrimaryKey(keys, [(Child._meta.db_table, "parent_id", "benchmarks.Parent")])
    after = state.clone()
    operation.state_forwards("benchmarks", after)
    with connection.schema_editor(atomic=False) as editor:
        operation.database_forwards("benchmarks", editor, state, after)


def update() -> None:
    kind = "uuid" if connection.vendor == "postgresql" else "char(32)"
    for table, columns in (("benchmark_parent", ["a"]), ("benchmark_child", ["a", "b"])):
        with connection.cursor() as cursor:
            for column in columns:
                cursor.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind}")
                cursor.execute(f"UPDATE {table} SET {column} = {RANDOM[connection.vendor]}")


class Measured(NamedTuple):
    seconds: float
    memory: int
    """Bytes."""
    growth: float
    """The largest size of the database to that before."""


WAYS = {"move": move, "update": update}
SIZES = {
    "postgresql": "SELECT pg_database_size(current_database())",
    "mysql": "SELECT SUM(file_size) FROM information_schema.innodb_{}tablespaces "
    "WHERE name LIKE CONCAT(DATABASE(), '/%')",
}


def measured(way: str, parents: int) -> Measured:
    with filled(parents):
        command = command_of("moving", way)
        before = largest = size(os.getpid())
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            while process.poll() is None:
                largest = max(largest, size(process.pid))
                sleep(0.2)
            output = process.stdout.read() if process.stdout else ""
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
        seconds, memory, _ = json.loads(output)
        return Measured(seconds, memory, largest / before)


def size(process: int) -> int:
    """The bytes of the database, or of the files that this process has open on SQLite."""
    if connection.vendor != "sqlite":
        prefix = "sys_" if getattr(connection, "mysql_is_mariadb", False) else ""
        return int(one_row(SIZES[connection.vendor].format(prefix))[0])
    database = Path(connection.settings_dict["NAME"])
    files = {(each.st_dev, each.st_ino): each.st_size for each in _open_files(process)}
    return max(sum(files.values()), database.stat().st_size)


def _open_files(process: int) -> Iterator[os.stat_result]:
    """Temporary files of SQLite have no name, but a process that has them open does."""
    for link in Path(f"/proc/{process}/fd").glob("*"):
        with suppress(OSError):
            found = link.stat()
            if S_ISREG(found.st_mode):
                yield found


@contextmanager
def filled(parents: int) -> Iterator[None]:
    with table_of(BackfillRun, MoveNote, Parent, Child):
        insert(parents)
        connection.close()
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parents", type=int, default=1_000_000)
    options = way_of_this_process(parser, WAYS)
    if options.way:
        measure(WAYS[options.way])
        return
    floor = measured("update", options.parents)
    moved = measured("move", options.parents)
    rows = options.parents, int(options.parents * CHILDREN)
    print(heading("Moving two keys"))
    print(
        markdown(
            ["parents", "children", "time", "plain UPDATEs", "ratio", "memory", "disk"],
            [
                [
                    *(f"{each:,}" for each in rows),
                    f"{moved.seconds:.1f} s",
                    f"{floor.seconds:.1f} s",
                    f"{moved.seconds / floor.seconds:.2f}",
                    megabytes(moved.memory),
                    f"{moved.growth:.1f}",
                ]
            ],
        )
    )


if __name__ == "__main__":
    main()
