"""Batches of rows in the order of their creation times, and the ids that they are given."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db import NotSupportedError, connections
from django.db.models import QuerySet

from .. import counters
from ..fields import LexicalSequenceField
from ..fields.storage import IntegerStorage
from ..functions.composition import Composition
from ..schemes import ID, OutOfRange, SequenceExhausted, TimeScheme
from .cursor import Cursor
from .errors import BackfillError
from .json_rows import JSONRows
from .minting import Position, ascending, mint
from .statements import SQLITE_FUNCTION, Row, Statements, written_rows
from .target import Target
from .times import aware, from_aware

_LOOKS = 5
"""How often the last row of a batch is looked for, when others change the one that was found."""


@dataclass(frozen=True, slots=True)
class Written:
    filled: int
    """How many rows still had no id."""
    cursor: Cursor | None
    """Where the run stands then; None where it stays."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that are given their ids in one transaction."""

    rows: Sequence[Row]
    """Of a batch that the database makes, the first and the last one."""
    size: int
    """How many there are; 0 ends it."""
    write: Callable[[], Written]


NOTHING = Batch([], 0, lambda: Written(0, None))


@dataclass(frozen=True, slots=True)
class _Span:
    """The rows without an id between two places, both included."""

    first: Row
    last: Row
    size: int
    beyond: int
    """How many rows behind it share the tick of the last one."""


class Writer:
    """Makes the batches of a target and writes them: the one thing that plan and run share.

    The ids of a batch are computed by one UPDATE in the database, where it can compute them, else
    made in Python and sent in one UPDATE.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self._connection = connections[target.using]
        self._statements = Statements(target, self._connection)
        self._composition, self._computed = self._computing()
        self._beyond: dict[tuple[Any, Any], int] = {}
        """How many rows of a tick are left behind a place, as they were counted."""

    @property
    def statement(self) -> str:
        """What writes a batch."""
        return self._computed or self._sent

    def next(self, cursor: Cursor | None, size: int) -> Batch:
        """The next ``size`` rows without an id behind the cursor, or as many as there are.

        Raises ``BackfillError``, which names a row, where an id can't be made.
        """
        if self._computed and (span := self._span(cursor, size)):
            start = self._start(span, cursor)
            if self._fits(span, start):
                rows = [span.first, span.last]
                return Batch(rows, span.size, lambda: self._compute(span, start, cursor))
        return self._minted(cursor, size)

    def send(self, rows: Sequence[Row], ids: Sequence[ID]) -> int:
        """Write ids for any rows; how many of them still had none."""
        save = self.target.field.get_db_prep_save
        stored = [save(value, self._connection) for value in ids]
        if self._connection.vendor != "sqlite":
            return self._send(rows, stored)
        keys = (self.target.stored_key(pk) for _, pk in rows)
        with self._connection.cursor() as statement:
            statement.executemany(
                self._statements.one_by_one(),
                [[value, *key] for value, key in zip(stored, keys, strict=True)],
            )
            return int(statement.rowcount)

    def known(self, rows: Sequence[Row]) -> Sequence[ID] | None:
        """The ids of any rows, where these don't depend on those of other rows; else None."""
        return None

    @contextmanager
    def naming(self, row: Row) -> Iterator[None]:
        """Raise ``BackfillError`` with that row for an id that can't be made."""
        try:
            yield
        except (OutOfRange, SequenceExhausted) as error:
            raise self.stopped(row, error) from error

    def stopped(self, row: Row, error: Exception) -> BackfillError:
        return BackfillError(
            f"stopped at {self.target.model._meta.label} {row[1]}, created at {row[0]}: {error}"
        )

    # Computed in the database

    def _computing(self) -> tuple[Composition | None, str | None]:
        scheme = self.target.field.scheme
        if not isinstance(scheme, TimeScheme):
            return None, None
        stored = self.target.field.stored(self._connection)
        composition = Composition(scheme, stored, self._connection)
        try:
            return composition, self._statements.computed(composition)
        except NotSupportedError:
            return None, None

    def _span(self, cursor: Cursor | None, size: int) -> _Span | None:
        """The next rows, the last one locked: its id is where the next batch goes on."""
        behind = self._behind(cursor)
        for _ in range(_LOOKS):
            first = self.target.first(behind)
            if first is None:
                return None
            last, count = self.target.first(behind[size - 1 : size]), size
            if last is None:
                last, count = self.target.first(behind.reverse()), behind.count()
            if last and self._lock(last):
                return _Span(first, last, count, self._left(cursor, first, last, count))
        return None

    def _lock(self, row: Row) -> bool:
        """Whether the row is still there, as it was found; nobody else changes it from now on."""
        name = self.target.source.name
        found = self.target.missing.filter(pk=row[1], **{name: row[0]})
        return found.select_for_update().values_list("pk").first() is not None

    def _left(self, cursor: Cursor | None, first: Row, last: Row, size: int) -> int:
        """How many rows behind the last one share its tick.

        A large tick is counted once, not for every batch of it.
        """
        scheme = self._scheme
        counted = self._beyond.get(cursor.place, 0) if cursor else 0
        if counted > size and scheme.tick(aware(first[0])) == scheme.tick(aware(last[0])):
            left = counted - size
        else:
            left = self._count_beyond(last)
        before = {cursor.place: counted} if cursor else {}
        self._beyond = {**before, last: left}
        return left

    def _start(self, span: _Span, cursor: Cursor | None) -> int:
        """The first rank that is free in the tick of the first row."""
        position = cursor.position if cursor else None
        if position is None or self._scheme.tick(aware(span.first[0])) != position.tick:
            return 0
        return position.tail // self._tails_of_rank + 1

    def _fits(self, span: _Span, start: int) -> bool:
        """Whether every tick has room for its rows for sure; Python finds out, and says where."""
        assert self._composition is not None
        layout, tick = self._scheme.layout, self._scheme.tick(aware(span.last[0]))
        if span.size + span.beyond > self._composition.ranks - start:
            return False
        if layout.capacity(tick) < layout.tails:
            return False
        largest = layout.join(tick, layout.tails - 1)
        return not isinstance(self._composition.stored, IntegerStorage) or largest < 1 << 63

    def _compute(self, span: _Span, start: int, cursor: Cursor | None) -> Written:
        scheme = self._scheme
        place = self._statements.place
        parameters = {
            **place("first", span.first),
            **place("last", span.last),
            "held_tick": scheme.tick(aware(span.first[0])) if start else -1,
            "start": start,
            "last_tick": scheme.tick(aware(span.last[0])),
            "beyond": span.beyond,
        }
        assert self._computed is not None
        filled = self._execute(self._computed, parameters)
        (created, pk), name = span.last, self.target.field.name
        made = self.target.rows.filter(pk=pk).values_list(name, flat=True).get()
        return Written(filled, Cursor(created, pk, Position(*scheme.parts(made))))

    @property
    def _tails_of_rank(self) -> int:
        assert self._composition is not None
        return self._scheme.layout.tails // self._composition.ranks

    # Minted in Python

    def _minted(self, cursor: Cursor | None, size: int) -> Batch:
        rows = self.target.read(self._behind(cursor)[:size])
        if not rows:
            return NOTHING
        ids, position = self._mint(rows, cursor.position if cursor else None, size)

        created, pk = rows[-1]

        def write() -> Written:
            save = self.target.field.get_db_prep_save
            stored = [save(value, self._connection) for value in ids]
            return Written(self._send(rows, stored), Cursor(created, pk, position))

        return Batch(rows, len(rows), write)

    def _mint(
        self, rows: Sequence[Row], position: Position | None, size: int
    ) -> tuple[Sequence[ID], Position | None]:
        field = self.target.field
        with self.naming(rows[-1]):
            if isinstance(field, LexicalSequenceField):
                return counters.take(field, field.scheme, len(rows), self.target.using), None
            times = ascending(self._scheme, [aware(created) for created, _ in rows], position)
            beyond = self._count_beyond(rows[-1], times[-1]) if len(rows) == size else 0
            return mint(self._scheme, times, position, beyond)

    def _send(self, rows: Sequence[Row], stored: Sequence[Any]) -> int:
        """Write what the column keeps for the rows of a batch, which are in order."""
        statement = self._sent
        if self._connection.vendor == "sqlite":
            self._connection.connection.create_function(SQLITE_FUNCTION, 1, stored.__getitem__)
            place = self._statements.place
            return self._execute(statement, place("first", rows[0]) | place("last", rows[-1]))
        keys = [self.target.stored_key(pk) for _, pk in rows]
        lists = {f"key_{n}": list(part) for n, part in enumerate(zip(*keys, strict=True))}
        lists["id"] = list(stored)
        if self._statements.compares_times:
            lists["created"] = [self.target.stored_time(created) for created, _ in rows]
        if self._connection.vendor == "postgresql":
            return self._execute(statement, lists)
        listed = JSONRows(self.target, self._connection).parameter(
            zip(*lists.values(), strict=True)
        )
        return self._execute(statement, {"rows": listed})

    @cached_property
    def _sent(self) -> str:
        return self._statements.sent()

    # Both

    @property
    def _scheme(self) -> TimeScheme:
        scheme = self.target.field.scheme
        assert isinstance(scheme, TimeScheme), "every other scheme has a time"
        return scheme

    def _behind(self, cursor: Cursor | None) -> QuerySet[Any, Any]:
        missing = self.target.missing.order_by(*self.target.order)
        return missing.filter(self.target.after(*cursor.place)) if cursor else missing

    def _count_beyond(self, last: Row, at: Any = None) -> int:
        """How many rows behind that one share its tick; ``at`` is its time where that is later."""
        end = from_aware(self._scheme.tick_span(at or aware(last[0]))[1], like=last[0])
        behind = self.target.missing.filter(self.target.after(*last))
        return behind.filter(**{f"{self.target.source.name}__lt": end}).count()

    def _execute(self, sql: str, parameters: dict[str, Any]) -> int:
        with self._connection.cursor() as cursor:
            if self._connection.vendor == "postgresql":
                # The planner would read the whole table for the join of every batch.
                cursor.execute("SET LOCAL enable_hashjoin = off")
                cursor.execute("SET LOCAL enable_mergejoin = off")
            cursor.execute(sql, parameters)
            return written_rows(self._connection, cursor)
