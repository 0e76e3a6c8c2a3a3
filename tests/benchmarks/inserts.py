"""Inserts into tables that differ in their key alone.

Each run makes a table, fills it by ``bulk_create()`` in batches of 10,000 rows, one transaction
each, and drops it again; its time includes making the objects and, but for BigAutoField, their ids.
``--by copy`` sends the same rows by COPY, and ``--by sql`` inserts them by one INSERT ... SELECT:
then PostgreSQL generates the ids, from version 18 on by its own ``uuidv7()``.
Every round runs all the keys, in another order. The numbers are medians of the rounds.

The written WAL is, on PostgreSQL, that of the whole server, on which nothing else may write; each
run begins after a CHECKPOINT, which takes a superuser or a member of pg_checkpoint. On SQLite it is
the frames of its WAL file, which is checkpointed after each batch.

Where the server's memory is limited, as in a container of 256 MB, more ``--rows`` than it holds
show what random keys cost then.

Run it as ``python -m tests.benchmarks.inserts``.
"""

import argparse
import random
import uuid
from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

from django.contrib.postgres.functions import RandomUUID
from django.db import DEFAULT_DB_ALIAS, connection, connections, models

from django_sortable_ids import fields
from django_sortable_ids.functions import GenerateID

from .support import Row, heading, markdown, megabytes, one_row, sizes, table_of

BATCH = 10_000

KEYS: Mapping[str, Any] = {
    "`BigAutoField`": models.BigAutoField(primary_key=True),
    "`Time64Field`": fields.Time64Field(primary_key=True),
    "`UUIDv7Field`": fields.UUIDv7Field(primary_key=True),
    "`ULIDField`": fields.ULIDField(primary_key=True),
    "`KSUIDField`": fields.KSUIDField(primary_key=True),
    "`UUIDField(default=uuid4)`": models.UUIDField(primary_key=True, default=uuid.uuid4),
}


KEYS_BY_SQL: Mapping[str, Any] = {
    "`BigAutoField`": models.BigAutoField(primary_key=True),
    "`UUIDv7Field`": fields.UUIDv7Field(primary_key=True, db_default=GenerateID()),
    "`ULIDField`": fields.ULIDField(primary_key=True, db_default=GenerateID()),
    "`UUIDField(db_default=RandomUUID())`": models.UUIDField(
        primary_key=True, db_default=RandomUUID()
    ),
}
"""Keys that PostgreSQL generates."""


def model_with(key: Any, number: int) -> Any:
    options = {"app_label": "benchmarks", "db_table": f"benchmark_inserts_{number}"}
    attributes = {"__module__": __name__, "id": key, "Meta": type("Meta", (), options)}
    return type(f"Row{number}", (Row,), attributes)


class WAL:
    """What the database writes to its log from when this is made."""

    def __init__(self) -> None:
        self._frames = 0
        self._is_sqlite = connection.vendor == "sqlite"
        if self._is_sqlite:
            one_row("PRAGMA wal_autocheckpoint = 0")
            one_row("PRAGMA wal_checkpoint(TRUNCATE)")
            self._frame_size = int(one_row("PRAGMA page_size")[0]) + 24
        else:
            with connection.cursor() as cursor:
                cursor.execute("CHECKPOINT")
            (self._start,) = one_row("SELECT pg_current_wal_lsn()")

    def committed(self) -> None:
        """A batch has been committed."""
        if self._is_sqlite:
            self._frames += one_row("PRAGMA wal_checkpoint(PASSIVE)")[1]

    def written(self) -> int:
        """The bytes so far."""
        if self._is_sqlite:
            return self._frames * self._frame_size
        return int(one_row("SELECT pg_current_wal_lsn() - %s::pg_lsn", self._start)[0])


class Result(NamedTuple):
    seconds: float
    table_bytes: int
    index_bytes: int
    wal_bytes: int


def bulk_create(model: Any, numbers: range) -> None:
    model.objects.bulk_create(model(name="row of a benchmark", amount=number) for number in numbers)


def copy(model: Any, numbers: range) -> None:
    key, database = model._meta.pk, connections[DEFAULT_DB_ALIAS]
    columns = ["id", "name", "amount"][not key.has_default() :]
    statement = f"COPY {model._meta.db_table} ({', '.join(columns)}) FROM STDIN"
    with connection.cursor() as cursor, cursor.copy(statement) as rows:
        for number in numbers:
            row: list[Any] = ["row of a benchmark", number]
            if key.has_default():
                row.insert(0, key.get_db_prep_save(key.get_default(), database))
            rows.write_row(row)


def sql(model: Any, numbers: range) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} (name, amount) "
            f"SELECT 'row of a benchmark', number FROM generate_series(%s, %s) AS number",
            [numbers[0], numbers[-1]],
        )


WAYS: Mapping[str, Callable[[Any, range], None]] = {
    "bulk_create": bulk_create,
    "copy": copy,
    "sql": sql,
}


def insert(model: Any, rows: int, way: Callable[[Any, range], None]) -> Result:
    """One run, into a table of its own."""
    with table_of(model):
        wal = WAL()
        start = perf_counter()
        for first in range(0, rows, BATCH):
            way(model, range(first, min(first + BATCH, rows)))
            wal.committed()
        seconds = perf_counter() - start
        written = wal.written()
        found = dict(sizes(model))
        table = found.pop(model._meta.db_table)
        return Result(seconds, table, sum(found.values()), written)


def line(key: str, results: list[Result], base: float) -> list[str]:
    seconds, table, index, wal = (median(column) for column in zip(*results, strict=True))
    return [
        key,
        f"{seconds:.1f} s",
        f"{seconds / base:.2f}",
        megabytes(table),
        megabytes(index),
        megabytes(wal),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--by", choices=[*WAYS], default="bulk_create")
    parser.add_argument("--keys", nargs="*", help="only keys with these words in their names")
    options = parser.parse_args()
    keys = KEYS_BY_SQL if options.by == "sql" else KEYS
    tables = {
        name: model_with(key, number)
        for number, (name, key) in enumerate(keys.items())
        if not options.keys or any(word in name for word in options.keys)
    }
    results: dict[str, list[Result]] = {name: [] for name in tables}
    for round_number in range(options.rounds):
        for name in random.Random(round_number).sample(list(tables), len(tables)):
            results[name].append(insert(tables[name], options.rows, WAYS[options.by]))
    base = median(result.seconds for result in results["`BigAutoField`"])
    by = f"Inserts of {options.rows:,} rows by {options.by}, medians of {options.rounds} runs"
    print(heading(by))
    columns = ["Key", "time", "to `BigAutoField`", "table", "index", "written WAL"]
    print(markdown(columns, (line(name, results[name], base) for name in tables)))


if __name__ == "__main__":
    main()
