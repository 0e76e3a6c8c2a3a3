"""Describes a planned move for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from django.apps import apps
from django.db.models import DateField

from ..backfill.sources.base import as_words
from ..backfill.sources.id_column import names_of
from ..db import tables, value
from ..db.transactions import session_variables
from ..errors import counted, minutes
from .changes.change import Key
from .changes.moved import MovedKey
from .changes.texts import rows_with_keys
from .key_map import KeyMaps
from .move_plan import PlannedMove

_COPY = "sortable_ids_copy"
_MOST_COPIED = 50_000
_RATIOS = {"postgresql": (25, 80), "mysql": (4, 16), "sqlite": (15, 50)}
"""Seconds of a row of a move to those of a copied row, measured: the least and the most."""
_BYTES = {
    "postgresql": "SELECT pg_total_relation_size(to_regclass(%s))",
    "mysql": "SELECT data_length + index_length FROM information_schema.tables WHERE "
    + tables.OF_MYSQL,
    "sqlite": "SELECT page_count * page_size FROM main.pragma_page_count, main.pragma_page_size",
}
"""SQLite tells the size of a table only if it is compiled for that."""


@dataclass(frozen=True)
class KeyReport:
    key: str
    """``app.Model.field``."""
    scheme: str
    """The class of the new field."""
    rows: int
    old: str | None
    """The field that keeps the old key."""
    times: str
    """Where the creation times come from."""
    references: list[str]
    """The columns that contain the key: ``table.column``."""
    deleted: int
    """The number of keys of deleted rows in history tables."""


@dataclass(frozen=True)
class Copy:
    """A copy of rows of the largest moved table, with an index, as a measure of the machine."""

    rows: int
    seconds: float
    ratio: tuple[int, int]


@dataclass(frozen=True)
class Report:
    keys: list[KeyReport]
    generic: list[str]
    """The columns of generic references."""
    adopted: dict[str, int]
    """The adopted columns, each with the number of its values that are keys of deleted rows."""
    tables: int
    """How many tables are written."""
    rows: int
    bytes: int
    """The present size of these tables with their indexes; on SQLite, of the whole file."""
    tried_for: float
    """The seconds of a trial on tables without rows."""
    copy: Copy
    """The measure by which the seconds of a row are estimated."""
    locks: str
    """What nobody can use during the move."""

    @property
    def seconds(self) -> tuple[float, float]:
        """At least and at most. A move of 67 keys of few rows took 5 to 7 times its trial."""
        rows = self.rows * self.copy.seconds / max(self.copy.rows, 1)
        least, most = self.copy.ratio
        return 2 * self.tried_for + least * rows, 8 * self.tried_for + most * rows

    def lines(self) -> Iterator[str]:
        for key in self.keys:
            old = f"the old key stays as {key.old}" if key.old else "the old key is dropped"
            yield f"{key.key}: {key.scheme}, {counted(key.rows, 'row')}; {old}"
            yield f"  times from {key.times}"
            yield from (f"  {column}" for column in key.references)
            if key.deleted:
                yield f"  keys of {counted(key.deleted, 'deleted row')} in the history"
        yield from (f"{column}: texts of keys, by content type" for column in self.generic)
        for column, count in self.adopted.items():
            yield f"{column}: adopted, with {counted(count, 'key')} of deleted rows"
        yield f"writes {counted(self.tables, 'table')} with {counted(self.rows, 'row')}"
        times = " to ".join(dict.fromkeys(map(minutes, self.seconds)))
        yield f"  takes about {times}, in which the application must not run"
        copied = counted(self.copy.rows, "row")
        yield f"    estimated from a trial without rows and a copy of {copied}, on this machine"
        yield f"  locks {self.locks}"
        size = f"{self.bytes / 1_000_000:,.1f} MB"
        yield f"  needs up to 6 times their present {size} of disk space until it ends"


def report(planned: PlannedMove) -> Report:
    """Counts all rows, and copies some into a temporary table to estimate the duration."""
    engine = planned.engine
    change, connection = engine.change, engine.connection
    names = [table.name for table in change.tables]
    maps = KeyMaps(engine, planned.operation.histories)
    quote = connection.ops.quote_name
    rows = {name: value(connection, f"SELECT COUNT(*) FROM {quote(name)}") for name in names}
    keys = [
        KeyReport(
            key=str(apps.get_model(moved.model)._meta.pk),
            scheme=type(moved.field).__name__,
            rows=rows[key.table],
            old=moved.old_name if moved.old else None,
            times=_source(moved),
            references=[
                f"{table.name}.{column.name}"
                for table in change.tables
                for column in table.columns
                if column.key is key
            ],
            deleted=maps.count(key),
        )
        for moved, key in zip(planned.operation.keys, change.keys, strict=True)
    ]
    for text in change.texts:
        count = sum(rows_with_keys(connection, text, key) for key in change.keys)
        if count:
            rows[text.table] = max(count, rows.get(text.table, 0))
    sizes: list[Any] = [[quote(name)] for name in names]
    if connection.vendor == "sqlite":
        sizes = [None]
    elif connection.vendor == "mysql":
        sizes = [tables.split(connection, name) for name in names]
    # MySQL remembers the sizes of tables for a day.
    is_mysql = connection.vendor == "mysql" and not connection.mysql_is_mariadb
    present = {"information_schema_stats_expiry": 0} if is_mysql else {}
    with session_variables(connection, **present):
        size = sum(value(connection, _BYTES[connection.vendor], of) or 0 for of in sizes)
    largest = max(change.keys, key=lambda key: rows[key.table])
    return Report(
        keys=keys,
        # Several foreign keys to content types may share one.
        generic=sorted({f"{text.table}.{text.column}" for text in planned.operation.generic}),
        adopted=dict(maps.adopted()),
        tables=len(rows),
        rows=sum(rows.values()),
        bytes=int(size),
        tried_for=planned.tried_for,
        copy=_copied(connection, largest),
        locks=engine.locks,
    )


def _copied(connection: Any, key: Key) -> Copy:
    table, column = map(connection.ops.quote_name, (key.table, key.name))
    with connection.cursor() as cursor:
        start = perf_counter()
        # MySQL may be told to refuse tables without a primary key.
        key_of_copy = f"(PRIMARY KEY ({column})) " if connection.vendor == "mysql" else ""
        rows = f"SELECT * FROM {table} LIMIT {_MOST_COPIED}"
        cursor.execute(f"CREATE TEMPORARY TABLE {_COPY} {key_of_copy}AS {rows}")
        cursor.execute(f"CREATE UNIQUE INDEX {_COPY}_key ON {_COPY} ({column})")
        seconds = perf_counter() - start
        copied = value(connection, f"SELECT COUNT(*) FROM {_COPY}")
        cursor.execute(f"DROP TABLE {_COPY}")
    return Copy(copied, seconds, _RATIOS[connection.vendor])


def _source(key: MovedKey) -> str:
    if key.created_from == "pk":
        return f"{key.start} to {key.end}, in the order of the old key"
    if key.created_at:
        names = names_of(apps.get_model(key.model), DateField)
        hint = f"; --created-from takes {' or '.join(names)}" if names else ""
        return f"now, in the order of the old key{hint}"
    if key.convert_from:
        return f"the ids in {key.convert_from}"
    return key.created_from or as_words(key.given)
