"""The SQL of each vendor that computes the ids of a batch in the database.

Each row gets the tick of its time, and a rank in it. The ranks of a tick are cut into equal slots,
one for each of its rows, in their order, and a rank is drawn from each.

Its parameters have names: ``first_time``, ``first_key_0`` and so on are the place of the first row
of the batch, ``last_time``, ``last_key_0`` that of the last one; ``held_tick`` and ``start`` are
the tick that the batch before ended in and the first rank that is left there; ``last_tick`` and
``beyond`` the tick of the last row and how many rows behind the batch share it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from django.db.models.expressions import Expression, RawSQL
from django.db.models.sql import Query

from ...functions.composition import Composition
from ...functions.moments import UnixMicroseconds
from ...functions.randomness import RANDOM_BITS, RandomInteger
from ...functions.ticks import tick_at
from ..target import Row, Target
from .statements import Statements


class ComputedStatements(Statements, ABC):
    """What is said to the database about the batches of a target whose ids it computes."""

    _numbered: tuple[str, str]
    """Where tick and rank of a row are."""
    last_given: str | None = None
    """What tells tick and rank of the last row that a batch gave an id, where others may come
    before its own last row, which then gets none."""

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
    def before_batch(self) -> Mapping[str, str]:
        """What the database is told before each batch: what for, and the statement. Their further
        parameter is ``size``, how many rows of the batch have no id."""
        return {}

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
