"""The SQL and the sessions of a backfill, as far as they are common to all databases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connections
from django.db.models.expressions import Expression, RawSQL
from django.db.models.sql import Query
from django.utils.functional import cached_property

from ...errors import BackfillError
from ...functions.fragments import RANDOM_BITS, RandomInteger
from ...functions.generate import Composition
from ...functions.ticks import UnixMicroseconds, tick_at
from ...functions.time_columns import TimeColumn
from ..sources.base import Row
from ..sources.target import Target


class Statements(ABC):
    """The SQL of the batches of a target.

    Ids that Python generates are sent by ``sending_sql``; the other statements compute them by a
    ``composition``: each row gets the tick of its time, and a rank in it. The ranks of a tick are
    divided into equal slots, at least one for each of its rows, in their order. Each row gets a
    random rank of its slot.

    Their parameters have names. ``first_time``, ``first_key_0`` and so on are the time and the key
    of the first row of the batch; ``last_time``, ``last_key_0`` of the last row. ``reserved_tick``
    and ``start`` are the tick in which the previous batch ended and its first free rank.
    ``last_tick`` and ``beyond`` are the tick of the last row, and how many of its slots are kept
    for rows after the batch.
    """

    self_assigned: Sequence[str] = ()
    """The columns that every UPDATE sets to themselves: they would get the current time."""
    _tick_and_rank: tuple[str, str]
    """The SQL of tick and rank of a row."""

    def __init__(self, target: Target, composition: Composition | None = None) -> None:
        """Raises ``NotSupportedError`` if the database can't compute the ids of the
        ``composition``."""
        self.target = target
        self.connection: Any = connections[target.using]
        self._table = self._quote(target.model._meta.db_table)
        self._column = self._quote(target.field.column)
        self._keys = [self._quote(key.column) for key in target.model._meta.pk_fields]
        self._key_names = [f"key_{n}" for n in range(len(self._keys))]
        self._source_column = self._quote(target.source.field.column)
        if composition:
            tick, rank = (RawSQL(name, ()) for name in self._tick_and_rank)
            self._composed = self._compile(composition.id_of(tick, rank))
            self._random = self._compile(RandomInteger(below=1 << RANDOM_BITS))
            self._ranks = composition.ranks

    @cached_property
    @abstractmethod
    def sending_sql(self) -> str:
        """The statement that writes ids from Python."""

    @abstractmethod
    def send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        """Write the ids ``stored`` to the rows with these keys, a sequence for each column of the
        key; returns how many had no id.

        ``times`` are the times of the rows when they were read. If the database compares times, a
        row whose time has changed is skipped.
        """

    batch_sql: str
    """An UPDATE of the rows without an id between two rows."""
    counting_sql: str | None = None
    """A statement before each batch that counts the rows of its largest tick, for ``batch_sql``. It
    has one more parameter, ``size``: how many rows of the batch have no id, at most."""
    one_time_sql: str | None = None
    """``batch_sql`` for rows that all have the same time."""
    part_sql: str
    """``batch_sql`` for a part of a ``Span``, with the parameters ``first_hash``, ``last_hash`` and
    ``with_last_tick`` for the rows of the last tick. For engines that interleave."""

    def execute(self, sql: str, parameters: Mapping[str, Any]) -> int:
        """Execute the UPDATE of a batch; returns the number of changed rows."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return int(cursor.rowcount)

    def parameters_of(self, name: str, row: Row) -> dict[str, Any]:
        """The parameters for a row; ``name`` is ``first`` or ``last``."""
        created, pk = row
        time = self._times.parameter(created)
        keys = zip(self._key_names, self.target.stored_keys([pk]), strict=True)
        return {f"{name}_time": time} | {f"{name}_{key}": value for key, (value,) in keys}

    # Parts of the statements

    @cached_property
    def _times(self) -> TimeColumn:
        times = self.target.source.own_times
        assert times is not None, "only times of the row itself are compared and computed with"
        return times

    @cached_property
    def _compares_times(self) -> bool:
        """Whether ids from Python are sent with the times of their rows: the database must know
        which instant a value of the column is."""
        times = self.target.source.own_times
        return times is not None and times.knows_utc

    def _set(self, value: str, table: str = "") -> str:
        """The assignments of every UPDATE; ``table`` is the alias of the table with a dot."""
        return f"{table}{self._column} = {value}"

    @property
    def _same_time(self) -> str:
        """The condition that skips rows whose time has changed since the read, if the database
        compares times; these become late rows."""
        return f" AND t.{self._source_column} = d.created" if self._compares_times else ""

    def _lists(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> dict[str, list[Any]]:
        lists = {
            name: list(of_column) for name, of_column in zip(self._key_names, keys, strict=True)
        }
        lists["id"] = list(stored)
        if self._compares_times:
            lists["created"] = list(map(self._times.parameter, times))
        return lists

    def _tick(self, time: str) -> str:
        return self._compile(tick_at(UnixMicroseconds(RawSQL(time, ())), self.target.scheme))

    def _start_and_divisor(self, tick: str, ties: str) -> tuple[str, str]:
        """The SQL of the first rank of a tick, and of its number of slots."""
        start = f"CASE WHEN {tick} = %(reserved_tick)s THEN %(start)s ELSE 0 END"
        beyond = f"CASE WHEN {tick} = %(last_tick)s THEN %(beyond)s ELSE 0 END"
        return start, f"({ties} + {beyond})"

    def _ends(self, table: str) -> tuple[str, str, str]:
        """The SQL of the key of a row, of the first key and of the last key, as row values."""
        key = ", ".join(f"{table}.{key}" for key in self._keys)
        first, last = (
            ", ".join(f"%({side}_{name})s" for name in self._key_names)
            for side in ("first", "last")
        )
        return f"({key})", f"({first})", f"({last})"

    def _compile(self, expression: Expression) -> str:
        compiler = Query(self.target.model).get_compiler(connection=self.connection)
        return str(compiler.compile(expression)[0])

    def _quote(self, name: str | None) -> str:
        return str(self.connection.ops.quote_name(str(name)))


HASHES = 1 << 16
"""How many hashes of ticks there are, in whose order a span of rows is written in parts."""
LOCK_SECONDS = 1
"""How long a statement waits for a lock: later writers queue up after it."""


class Engine(ABC):
    """The database-specific part of a backfill, one for each connection."""

    statements: type[Statements]
    computes = True
    """Whether the database computes ids; else Python is faster."""
    rows_per_second: tuple[float, float]
    """Lower bound: wide rows, many indexes, a slow disk. Upper: the benchmarks on two cores."""
    finds_ends_by_time = False
    """Whether the ends of a batch are read from the index on the time alone, as long as nearly all
    rows are without an id: to look up the id of each takes half as long as the UPDATE."""
    writes_first = False
    """Whether a transaction must begin with a write: one that has only read can't write after
    another writer's commit."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def interleaves(self, target: Target) -> bool:
        """Whether it saves work to write neighbouring rows in different transactions."""
        return False

    @abstractmethod
    def side_effects(self, target: Target) -> list[str]:
        """Texts that say what else an UPDATE of the ids changes, or may change."""

    # Checks

    def check_table(self, target: Target) -> None:
        """Raise ``BackfillError`` for a table that can't be committed together with the run, and
        for times, naming a row, that Django and the database don't read alike."""

    def check_session(self, target: Target) -> None:
        """Raise ``BackfillError`` if a time is ambiguous in the time zone of the session."""

    # Sessions

    def prepare_session(self) -> None:
        """Set the options of a new session that can't be set for one transaction."""

    def begin_batch(self) -> None:
        """Set a short lock timeout for this transaction, and no limit for its statements; not where
        ``prepare_session`` does it."""

    def end_session(self) -> None:
        """Undo the changes of ``prepare_session``."""

    # Replicas

    def lag(self) -> float | None:
        """How many seconds this replica lags; None if that is unknown. Raises ``BackfillError`` if
        the database is no replica."""
        raise BackfillError(
            f"the database {self.connection.alias!r} is no replica: name one with --replica"
        )
