"""A planned move for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.apps import apps
from django.db import connections

from ..backfill.progress import minutes
from ..db.queries import value
from ..errors import counted
from .changes.moved import MovedKey
from .deleted_keys import DeletedKeys
from .edits import name_of_old
from .move_plan import PlannedMove

_SECONDS = (10, 60)
"""Of a million rows, the least and the most, as measured with and without a fast disk."""


@dataclass(frozen=True)
class KeyReport:
    """A key that moves."""

    key: str
    """``app.Model.field``."""
    scheme: str
    """The class of the new field."""
    rows: int
    old: str | None
    """The field that keeps the old key."""
    times: str
    """Where they come from."""
    references: list[str]
    """The columns that contain the key: ``table.column``."""
    deleted: int
    """The number of keys of deleted rows in history tables."""


@dataclass(frozen=True)
class Report:
    keys: list[KeyReport]
    generic: list[str]
    """The columns of generic references."""
    adopted: dict[str, int]
    """The adopted columns, each with the number of its values that are keys of deleted rows."""
    tables: int
    """How many are written."""
    rows: int
    locks: str
    """What nobody can use during the move."""

    @property
    def seconds(self) -> tuple[float, float]:
        """At least and at most."""
        least, most = (each * self.rows / 1_000_000 for each in _SECONDS)
        return least, most

    def lines(self) -> Iterator[str]:
        for each in self.keys:
            old = f"the old key stays as {each.old}" if each.old else "the old key is dropped"
            yield f"{each.key}: {each.scheme}, {counted(each.rows, 'row')}; {old}"
            yield f"  times from {each.times}"
            yield from (f"  {column}" for column in each.references)
            if each.deleted:
                yield f"  keys of {counted(each.deleted, 'deleted row')} in the history"
        yield from (f"{column}: texts of keys, by content type" for column in self.generic)
        for column, count in self.adopted.items():
            yield f"{column}: adopted, with {counted(count, 'key')} of deleted rows"
        yield f"writes {counted(self.tables, 'table')} with {counted(self.rows, 'row')}"
        times = " to ".join(dict.fromkeys(map(minutes, self.seconds)))
        yield f"  takes about {times}, in which the application must not run"
        yield "    as measured elsewhere: migrate a copy of the database, and note the time"
        yield f"  locks {self.locks}"
        yield "  needs up to 6 times the disk space of these tables until it ends"


def report(planned: PlannedMove) -> Report:
    """Counts all rows. Writes nothing."""
    change, connection = planned.move.change, connections[planned.using]
    names = [each.name for each in change.tables]
    deleted = DeletedKeys(planned.move.engine, planned.operation.histories)
    quote = connection.ops.quote_name
    rows = {name: value(connection, f"SELECT COUNT(*) FROM {quote(name)}") for name in names}
    keys = [
        KeyReport(
            key=str(apps.get_model(moved.model)._meta.pk),
            scheme=type(moved.field).__name__,
            rows=rows[key.table],
            old=name_of_old(apps.get_model(moved.model)._meta, moved.name) if moved.old else None,
            times=_source(moved),
            references=[
                f"{table.name}.{each.name}"
                for table in change.tables
                for each in table.columns
                if each.key is key
            ],
            deleted=deleted.count(key),
        )
        for moved, key in zip(planned.operation.keys, change.keys, strict=True)
    ]
    generic = [f"{each.table}.{each.column}" for each in planned.operation.generic]
    adopted = dict(deleted.adopted())
    return Report(
        keys=keys,
        generic=generic,
        adopted=adopted,
        tables=len(names),
        rows=sum(rows.values()),
        locks=planned.move.engine.locks,
    )


def _source(key: MovedKey) -> str:
    if key.created_from == "pk":
        return f"{key.start} to {key.end}, in the order of the old key"
    if key.created_at:
        return "now, in the order of the old key"
    return key.created_from or f"the ids in {key.convert_from}"
