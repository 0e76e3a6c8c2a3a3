"""The SQL that writes the ids of a batch, as far as it is common to all databases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models.expressions import Expression, RawSQL
from django.db.models.sql import Query
from django.utils.functional import cached_property

from ...functions.composition import Composition
from ...functions.moments import UnixMicroseconds
from ...functions.randomness import RANDOM_BITS, RandomInteger
from ...functions.ticks import tick_at
from ..target import Row, Target
from .mysql_tables import KeptColumns


class Statements(ABC):
    """The statements for the batches of a target."""

    kept = KeptColumns()
    """The columns that every UPDATE sets to themselves."""

    def __init__(self, target: Target, connection: Any, *, with_times: bool = True) -> None:
        self.target = target
        self.connection = connection
        self._with_times = with_times
        self._table = connection.ops.quote_name(target.model._meta.db_table)
        self._column = connection.ops.quote_name(str(target.field.column))
        self._keys = [connection.ops.quote_name(str(key.column)) for key in target.key_fields]
        self._key_names = [f"key_{n}" for n in range(len(self._keys))]
        self._source_column = connection.ops.quote_name(str(target.source.column))

    @cached_property
    @abstractmethod
    def sent(self) -> str:
        """The statement that writes ids from Python."""

    @abstractmethod
    def send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        """Write the ids ``stored`` to the rows with these keys; returns how many had no id.

        ``times`` are the times of the rows when they were read. If the database compares times, a
        row whose time has changed is skipped.
        """

    @property
    def _can_compare_times(self) -> bool:
        """Whether the database knows which instant a value of the column is."""
        return self.target.times.knows_utc

    @property
    def _compares_times(self) -> bool:
        """Whether ids from Python are sent with the times of their rows."""
        may_compare = self._with_times and self.target.has_own_times and not self._chain
        return may_compare and self._can_compare_times

    def _set(self, value: str, table: str = "") -> str:
        """The assignments of every UPDATE; ``table`` is the alias of the table with a dot."""
        return f"{table}{self._column} = {value}{self.kept.assignments(table)}"

    @property
    def _chain(self) -> Sequence[Any]:
        """The parents of the model up to the one that has the time."""
        meta, of_time = self.target.model._meta, self.target.source.model
        return [] if of_time is self.target.model else list(meta.get_base_chain(of_time))

    @property
    def _unmoved(self) -> str:
        """The condition that skips rows whose time has changed since the read, if the database
        compares times; the sweep fills these rows.
        """
        return f" AND {self._time_as_read} = d.created" if self._compares_times else ""

    @property
    def _time_as_read(self) -> str:
        return f"t.{self._source_column}"

    def _on_keys(self) -> str:
        pairs = zip(self._keys, self._key_names, strict=True)
        return " AND ".join(f"t.{key} = d.{name}" for key, name in pairs)

    def _lists(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> dict[str, list[Any]]:
        """The parameters: a list for each column."""
        lists = {f"key_{n}": list(part) for n, part in enumerate(zip(*keys, strict=True))}
        lists["id"] = list(stored)
        if self._compares_times:
            lists["created"] = list(map(self.target.times.parameter, times))
        return lists

    def _quote(self, name: str | None) -> str:
        return str(self.connection.ops.quote_name(str(name)))


class ComputedStatements(Statements):
    """The statements for the batches of a target whose ids the database computes.

    Each row gets the tick of its time, and a rank in it. The ranks of a tick are divided into equal
    slots, one for each of its rows, in their order. A random rank is drawn from each slot.

    The parameters have names. ``first_time``, ``first_key_0`` and so on are the place of the first
    row of the batch; ``last_time``, ``last_key_0`` that of the last row. ``reserved_tick`` and
    ``start`` are the tick in which the previous batch ended and its first free rank. ``last_tick``
    and ``beyond`` are the tick of the last row, and the number of rows after the batch that share
    it.
    """

    _numbered: tuple[str, str]
    """The SQL of tick and rank of a row."""
    last_given: str | None = None
    """The query for tick and rank of the last row that got an id in the batch. New rows may take
    the ids of later ones, so the last row of the batch may get none."""

    def __init__(self, target: Target, connection: Any, composition: Composition) -> None:
        super().__init__(target, connection)
        self._composition = composition
        tick, rank = (RawSQL(name, ()) for name in self._numbered)
        self._composed = self._compile(composition.made_of(tick, rank))
        self._random = self._compile(RandomInteger(below=1 << RANDOM_BITS))

    @abstractmethod
    def execute(self, sql: str, parameters: Mapping[str, Any]) -> int:
        """Execute the UPDATE of a batch; returns the number of changed rows."""

    @property
    @abstractmethod
    def of_batch(self) -> str:
        """An UPDATE of the rows without an id between two places."""

    @property
    def before_batch(self) -> Mapping[str, str]:
        """The statements before each batch, by their purpose. They have one more parameter,
        ``size``: how many rows of the batch have no id."""
        return {}

    @property
    def of_one_time(self) -> str:
        """As ``of_batch``, if all rows have the same time."""
        return self.of_batch

    @property
    def of_part(self) -> str:
        """As ``of_batch``, for the rows of a ``Part``: parameters ``mask`` and ``part``, and
        ``with_last_tick`` for the rows of the last tick. For engines that interleave."""
        raise NotImplementedError

    def place(self, name: str, row: Row) -> dict[str, Any]:
        """The parameters for the place of a row; ``name`` is ``first`` or ``last``."""
        created, pk = row
        time = self.target.times.parameter(created)
        keys = zip(self._key_names, self.target.stored_key(pk), strict=True)
        return {f"{name}_time": time} | {f"{name}_{key}": value for key, value in keys}

    def _tick(self, time: str) -> str:
        return self._compile(tick_at(UnixMicroseconds(RawSQL(time, ())), self._composition.scheme))

    def _start_and_divisor(self, tick: str, ties: str) -> tuple[str, str]:
        """The SQL of the first rank of a tick, and of its number of slots."""
        start = f"CASE WHEN {tick} = %(reserved_tick)s THEN %(start)s ELSE 0 END"
        beyond = f"CASE WHEN {tick} = %(last_tick)s THEN %(beyond)s ELSE 0 END"
        return start, f"({ties} + {beyond})"

    def _compile(self, expression: Expression) -> str:
        compiler = Query(self.target.model).get_compiler(connection=self.connection)
        sql, _ = compiler.compile(expression)
        return str(sql)

    def _places(self, table: str) -> tuple[str, str, str]:
        """The SQL of the key of a row, of the first key and of the last key, as row values."""
        key = ", ".join(f"{table}.{key}" for key in self._keys)
        first, last = (
            ", ".join(f"%({side}_{name})s" for name in self._key_names)
            for side in ("first", "last")
        )
        return f"({key})", f"({first})", f"({last})"
