"""The SQL of each vendor that computes the ids of a batch in the database.

Each row gets the tick of its time, and a rank in it. The ranks of a tick are cut into equal slots,
one for each of its rows, in their order, and a rank is drawn from each.

Its parameters have names: ``first_time``, ``first_key_0`` and so on are the place of the first row
of the batch, ``last_time``, ``last_key_0`` that of the last one; ``held_tick`` and ``start`` are
the tick that the batch before ended in and the first rank that is left there; ``last_tick`` and
``beyond`` the tick of the last row and how many rows behind the batch share it.
"""

from abc import ABC, abstractmethod
from typing import Any

from django.db import NotSupportedError
from django.db.models.expressions import Expression, RawSQL
from django.db.models.sql import Query
from django.utils.functional import cached_property

from ..functions.composition import Composition
from ..functions.moments import UnixMicroseconds
from ..functions.randomness import RANDOM_BITS, RandomInteger
from ..functions.ticks import tick_at
from .statements import Row, Statements
from .target import Target
from .time_index import TimeIndex, time_index
from .times import knows_utc

_OF_PART = (
    " WHERE CASE WHEN tick = %(last_tick)s THEN %(with_last_tick)s "
    "ELSE hashint8(tick) & %(mask)s = %(part)s END"
)

_TIES, _WIDTH, _TICK, _NEXT_TICK, _NUMBER, _SLOT = (
    f"@backfill_{name}" for name in ("ties", "width", "tick", "next_tick", "number", "slot")
)
"""User variables."""


def computed_statements(
    target: Target, connection: Any, composition: Composition
) -> "ComputedStatements":
    """Raises ``NotSupportedError`` where the database can't compute them, or Python is faster."""
    kinds = {"postgresql": NumberedByWindows, "mysql": NumberedWhileRead}
    if connection.vendor not in kinds or not knows_utc(connection):
        raise NotSupportedError("Python is faster, or knows the time zone better")
    return kinds[connection.vendor](target, connection, composition)


class ComputedStatements(Statements, ABC):
    """What is said to the database about the batches of a target whose ids it computes."""

    _numbered: tuple[str, str]
    """Where tick and rank of a row are."""

    def __init__(self, target: Target, connection: Any, composition: Composition) -> None:
        super().__init__(target, connection)
        self._composition = composition
        tick, rank = (RawSQL(name, ()) for name in self._numbered)
        self._made = self._compile(composition.made_of(tick, rank))
        self._random = self._compile(RandomInteger(below=1 << RANDOM_BITS))

    @property
    @abstractmethod
    def of_batch(self) -> str:
        """An UPDATE of the rows without an id between two places."""

    @property
    def counted(self) -> str | None:
        """What the database is told before each batch."""
        return None

    @property
    def of_one_time(self) -> str:
        """The same, where all of them have one time."""
        return self.of_batch

    def place(self, name: str, row: Row) -> dict[str, Any]:
        """The parameters for the place of a row, ``first`` or ``last``."""
        created, pk = row
        time = self.target.stored_time(created)
        keys = zip(self._key_names, self.target.stored_key(pk), strict=True)
        return {f"{name}_time": time} | {f"{name}_{key}": value for key, value in keys}

    def _tick(self, time: str) -> str:
        return self._compile(tick_at(UnixMicroseconds(RawSQL(time, ())), self._composition.scheme))

    def _start_and_divisor(self, tick: str, ties: str) -> tuple[str, str]:
        """The first rank of a tick, and how many slots it has."""
        start = f"CASE WHEN {tick} = %(held_tick)s THEN %(start)s ELSE 0 END"
        beyond = f"CASE WHEN {tick} = %(last_tick)s THEN %(beyond)s ELSE 0 END"
        return start, f"({ties} + {beyond})"

    def _compile(self, expression: Expression) -> str:
        compiler = Query(self.target.model).get_compiler(connection=self.connection)
        sql, _ = compiler.compile(expression)
        return str(sql)

    def _places(self, table: str) -> tuple[str, str, str]:
        """The key of a row, of the first and of the last one, as a list of columns each."""
        key = ", ".join(f"{table}.{key}" for key in self._keys)
        first, last = (
            ", ".join(f"%({side}_{name})s" for name in self._key_names)
            for side in ("first", "last")
        )
        return f"({key})", f"({first})", f"({last})"


class NumberedByWindows(ComputedStatements):
    """PostgreSQL's."""

    _numbered = ("d.tick", "d.slot")

    @cached_property
    def of_batch(self) -> str:
        return self._computed()

    @cached_property
    def of_one_time(self) -> str:
        return self._computed(of_one_time=True)

    @cached_property
    def of_part(self) -> str:
        """Of the rows of a ``Part``: ``mask`` and ``part``, and ``with_last_tick`` those of the
        last tick."""
        return self._computed(part=_OF_PART)

    def _computed(self, of_one_time: bool = False, part: str = "") -> str:
        # What finds a row at once, while nobody changes it: one that another transaction has
        # changed since the statement began has moved, and is left to the sweep. The same place may
        # be taken in each partition.
        on = "t.ctid = d.place AND t.tableoid = d.part"
        return self._update(self._made, self._slots(self._batch(of_one_time), part), on)

    def _slots(self, batch: str, part: str) -> str:
        """Tick and rank of each row of the batch.

        The number is drawn where the windows are. A window that stands there twice is computed
        twice.
        """
        windows = (
            "row_number() OVER (PARTITION BY tick "
            f"ORDER BY created, {', '.join(self._key_names)}) AS number, "
            "count(*) OVER (PARTITION BY tick) AS ties"
        )
        start, divisor = self._start_and_divisor("tick", "ties")
        width = f"(({self._composition.ranks} - {start}) / {divisor})"
        return (
            f"SELECT place, part, tick, "
            f"{start} + (number - 1) * {width} + mod(random, {width}) AS slot "
            f"FROM (SELECT place, part, tick, {windows}, {self._random} AS random "
            f"FROM (SELECT b.*, {self._tick('created')} AS tick FROM ({batch}) b) ticks"
            f"{part}) numbered"
        )

    def _batch(self, of_one_time: bool) -> str:
        """The rows without an id from the first to the last place, both included."""
        time = f"s{len(self._chain)}.{self._source_column}"
        pairs = zip(self._keys, self._key_names, strict=True)
        keys = ", ".join(f"s0.{key} AS {name}" for key, name in pairs)
        return (
            f"SELECT {keys}, s0.ctid AS place, s0.tableoid AS part, {time} AS created "
            f"FROM {self._source} "
            f"WHERE s0.{self._column} IS NULL AND {self._within(time, of_one_time)}"
        )

    def _within(self, time: str, of_one_time: bool) -> str:
        key, first, last = self._places("s0")
        if of_one_time:
            # So that an index finds the first key: rows of one time may be millions.
            return f"{time} = %(first_time)s AND {key} >= {first} AND {key} <= {last}"
        return (
            f"{time} >= %(first_time)s AND ({time} > %(first_time)s OR {key} >= {first}) "
            f"AND {time} <= %(last_time)s AND ({time} < %(last_time)s OR {key} <= {last})"
        )

    @property
    def _source(self) -> str:
        """The table, and those of its parents up to the one that has the time."""
        sql, child = f"{self._table} s0", self.target.model
        for number, parent in enumerate(self._chain, 1):
            link = child._meta.parents[parent]
            assert link is not None
            pk = self._quote(parent._meta.pk.column)
            sql += (
                f" JOIN {self._quote(parent._meta.db_table)} s{number}"
                f" ON s{number}.{pk} = s{number - 1}.{self._quote(link.column)}"
            )
            child = parent
        return sql


class NumberedWhileRead(ComputedStatements):
    """Those of MariaDB and MySQL, whose rows are numbered while an UPDATE reads them in order.

    Windows, and the look-up of what they found, would take half as long again. An UPDATE that joins
    them would also lock what it joins, READ COMMITTED or not: every row without an id might be
    waited for. User variables are set in an expression here, which MySQL calls deprecated and has
    no other way for in an UPDATE.
    """

    _numbered = (_TICK, _SLOT)

    def __init__(self, target: Target, connection: Any, composition: Composition) -> None:
        super().__init__(target, connection, composition)
        if self._chain:
            raise NotSupportedError("the time is in another table than the id")

    @cached_property
    def counted(self) -> str:
        """How many rows a tick has at most, with those that have an id, which the index on the time
        doesn't tell from the others. Its further parameter is ``size``, how many have none.
        """
        ties = "LEAST(MAX(ties), %(size)s)"
        return (
            f"SELECT {ties}, {self._composition.ranks} DIV {ties}, -1, 0, 0 "
            f"INTO {_TIES}, {_WIDTH}, {_TICK}, {_NUMBER}, {_SLOT} "
            f"FROM (SELECT COUNT(*) AS ties FROM {self._table} t{self._hint} "
            f"WHERE {self._within} GROUP BY {self._tick(self._time)}) ticks"
        )

    @cached_property
    def of_batch(self) -> str:
        # The conditions of a CASE are looked at one after the other. What appeared in a tick since
        # its rows were counted, and what came in another order, is left to the sweep.
        tick = self._tick(self._time)
        number = (
            f"CASE WHEN {_TICK} = ({_NEXT_TICK} := {tick}) THEN {_NUMBER} + 1 "
            f"WHEN {_TICK} < {_NEXT_TICK} THEN 0 * ({_TICK} := {_NEXT_TICK}) ELSE {_TIES} END"
        )
        return (
            f"UPDATE {self._table} t{self._hint} SET t.{self._column} = CASE "
            f"WHEN ({_NUMBER} := {number}) >= {_TIES} THEN NULL "
            f"WHEN ({_SLOT} := {self._slot}) >= 0 THEN {self._made} END "
            f"WHERE t.{self._column} IS NULL AND {self._within}{self._order}"
        )

    @property
    def _slot(self) -> str:
        """The first and the last tick of a batch may have fewer ranks, or more rows."""
        start, divisor = self._start_and_divisor(_TICK, _TIES)
        width = f"(({self._composition.ranks} - {start}) DIV {divisor})"
        return (
            f"CASE WHEN {_TICK} IN (%(held_tick)s, %(last_tick)s) "
            f"THEN {start} + {_NUMBER} * {width} + {self._random} MOD {width} "
            f"ELSE {_NUMBER} * {_WIDTH} + {self._random} MOD {_WIDTH} END"
        )

    @property
    def _time(self) -> str:
        return f"t.{self._source_column}"

    @property
    def _within(self) -> str:
        """In this form, and in no shorter one, the range optimizers see a range of an index on the
        time, which ends in the key; what they read besides, an UPDATE would wait for."""
        time = self._time
        key, first, last = self._places("t")
        return (
            f"({time} > %(first_time)s OR {time} = %(first_time)s AND {key} >= {first}) "
            f"AND ({time} < %(last_time)s OR {time} = %(last_time)s AND {key} <= {last})"
        )

    @property
    def _hint(self) -> str:
        """Which index to take: all of a table would be read for a batch of about a sixth of its
        rows, which takes several times as long as the batch.
        """
        return f" FORCE INDEX ({self._quote(self._index.name)})" if self._index else ""

    @property
    def _order(self) -> str:
        """An UPDATE with an order finds all its rows before it changes the first one, and looks for
        each again."""
        if self._index and self._index.is_in_order:
            return ""
        return f" ORDER BY {self._time}, {', '.join(f't.{key}' for key in self._keys)}"

    @cached_property
    def _index(self) -> TimeIndex | None:
        return time_index(self.target, self.connection)
