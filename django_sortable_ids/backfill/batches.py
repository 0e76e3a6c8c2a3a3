"""Batches of rows in the order of their creation times, and the ids that they are given."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from django.db import NotSupportedError, connections

from .. import counters
from ..fields import LexicalSequenceField
from ..fields.storage import IntegerStorage
from ..functions.composition import Composition
from ..schemes import ID, OutOfRange, SequenceExhausted, TimeScheme
from .cursor import Cursor
from .errors import BackfillError
from .json_rows import JSONRows
from .minting import Position, ascending, mint
from .reading import Rows, read
from .rows_behind import RowsBehind, Span
from .statements import Row, Statements, written_rows
from .target import Target
from .times import aware


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


class Writer:
    """Makes the batches of a target and writes them: the one thing that plan and run share.

    The ids of a batch are computed by one UPDATE in the database, where it can compute them, else
    made in Python and sent in one UPDATE.
    """

    def __init__(self, target: Target) -> None:
        self.target = target
        self.behind = RowsBehind(target)
        self._connection = connections[target.using]
        self._statements = Statements(target, self._connection)
        self._composition, self._computed = self._computing()

    @property
    def statement(self) -> str:
        """What writes a batch."""
        return self._computed or self._sent

    @cached_property
    def statement_of_one_time(self) -> str | None:
        """What writes a batch whose rows have the time of the one before, where that differs."""
        if self._computed is None:
            return None
        assert self._composition is not None
        found = self._statements.computed(self._composition, of_one_time=True)
        return None if found == self._computed else found

    def next(self, cursor: Cursor | None, size: int) -> Batch:
        """The next ``size`` rows without an id behind the cursor, or as many as there are.

        Raises ``BackfillError``, which names a row, where an id can't be made.
        """
        batch = self._next(cursor, size)
        if batch.size:
            self.behind.made(batch.rows[0], batch.rows[-1], batch.size)
        return batch

    def _next(self, cursor: Cursor | None, size: int) -> Batch:
        if self._computed and (span := self.behind.span(cursor, size)):
            start = self._start(span, cursor)
            # Room for as many rows that may still come, where there is some.
            roomy = replace(span, beyond=span.beyond + span.size)
            made = roomy if self._fits(roomy, start) else span
            if self._fits(made, start):
                rows = [span.first, span.last]
                return Batch(rows, span.size, lambda: self._compute(made, start, cursor))
        return self._minted(cursor, size)

    def send(self, rows: Sequence[Row], ids: Sequence[ID]) -> int:
        """Write ids for any rows; how many of them still had none."""
        keys = [self.target.stored_key(pk) for _, pk in rows]
        return self._send(keys, self._stored(ids), [created for created, _ in rows])

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

    def _start(self, span: Span, cursor: Cursor | None) -> int:
        """The first rank that is free in the tick of the first row."""
        position = cursor.position if cursor else None
        if position is None or self._scheme.tick(aware(span.first[0])) != position.tick:
            return 0
        assert self._composition is not None
        return position.tail // (self._scheme.layout.tails // self._composition.ranks) + 1

    def _fits(self, span: Span, start: int) -> bool:
        """Whether every tick has room for its rows for sure; Python finds out, and says where."""
        assert self._composition is not None
        layout, tick = self._scheme.layout, self._scheme.tick(aware(span.last[0]))
        if span.size + span.beyond > self._composition.ranks - start:
            return False
        if layout.capacity(tick) < layout.tails:
            return False
        largest = layout.join(tick, layout.tails - 1)
        return not isinstance(self._composition.stored, IntegerStorage) or largest < 1 << 63

    def _compute(self, span: Span, start: int, cursor: Cursor | None) -> Written:
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
        statement = (self.statement_of_one_time if span.goes_on else None) or self._computed
        assert statement is not None
        filled = self._execute(statement, parameters)
        (created, pk), name = span.last, self.target.field.name
        made = self.target.rows.filter(pk=pk).values_list(name, flat=True).get()
        return Written(filled, Cursor(created, pk, Position(*scheme.parts(made))))

    # Minted in Python

    def _minted(self, cursor: Cursor | None, size: int) -> Batch:
        rows = read(self.target, self.behind.next(cursor, size)[:size])
        if rows is None:
            return NOTHING
        stored, position = self._mint(rows, cursor, size)
        created, pk = rows.last

        def write() -> Written:
            filled = self._send(rows.keys, stored, rows.times)
            return Written(filled, Cursor(created, pk, position))

        return Batch([rows.first, rows.last], len(rows.keys), write)

    def _mint(
        self, rows: Rows, cursor: Cursor | None, size: int
    ) -> tuple[list[Any], Position | None]:
        """What the column is to keep, and where the next batch goes on."""
        field, count = self.target.field, len(rows.keys)
        with self.naming(rows.last):
            if isinstance(field, LexicalSequenceField):
                ids = counters.take(field, field.scheme, count, self.target.using)
                return self._stored(ids), None
            position = cursor.position if cursor else None
            ticks = ascending(self._scheme.ticks(rows.microseconds), position)
            beyond = self.behind.left(cursor, rows.last, ticks, count) if count == size else 0
            try:
                numbers, position = mint(self._scheme, ticks, position, beyond + count)
            except OutOfRange:
                numbers, position = mint(self._scheme, ticks, position, beyond)
            stored = field.stored(self._connection).all_to_db(numbers, self._connection)
            return stored, position

    def _stored(self, ids: Sequence[ID]) -> list[Any]:
        save = self.target.field.get_db_prep_save
        return [save(value, self._connection) for value in ids]

    def _send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        """Write what the column is to keep; how many of the rows still had nothing.

        ``times`` are those that servers compare with the rows', to see whether they have moved.
        """
        if self._connection.vendor == "sqlite":
            with self._connection.cursor() as cursor:
                cursor.executemany(
                    self._sent, [(value, *key) for key, value in zip(keys, stored, strict=True)]
                )
                return int(cursor.rowcount)
        lists = {f"key_{n}": list(part) for n, part in enumerate(zip(*keys, strict=True))}
        lists["id"] = list(stored)
        if self._statements.compares_times:
            lists["created"] = [self.target.stored_time(created) for created in times]
        if self._connection.vendor == "postgresql":
            return self._execute(self._sent, lists)
        listed = JSONRows(self.target, self._connection).parameter(
            zip(*lists.values(), strict=True)
        )
        return self._execute(self._sent, {"rows": listed})

    @cached_property
    def _sent(self) -> str:
        return self._statements.sent()

    # Both

    @property
    def _scheme(self) -> TimeScheme:
        scheme = self.target.field.scheme
        assert isinstance(scheme, TimeScheme), "every other scheme has a time"
        return scheme

    def _execute(self, sql: str, parameters: dict[str, Any]) -> int:
        with self._connection.cursor() as cursor:
            if self._connection.vendor == "postgresql":
                # The planner would read the whole table for the join of every batch.
                cursor.execute("SET LOCAL enable_hashjoin = off")
                cursor.execute("SET LOCAL enable_mergejoin = off")
            cursor.execute(sql, parameters)
            return written_rows(self._connection, cursor)
