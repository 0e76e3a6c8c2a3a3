"""Makes batches of rows in the order of their creation times, and writes their ids."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from django.db import NotSupportedError
from django.utils.functional import cached_property

from ...fields import LexicalSequenceField
from ...functions.composition import Composition
from ...schemes import ID, InvalidID, OutOfRange, SequenceExhausted, TimeScheme
from ...workers import counters
from ..engines.base import Engine
from ..sources.base import Row
from ..sources.target import HASHES, Target
from .batch import (
    NOTHING,
    PARTS,
    Batch,
    Cursor,
    NothingWritten,
    Position,
    Span,
    Written,
    mint,
)
from .pending_rows import PendingRows, Stretch

_AMPLE = 16
"""A tick must have room for this many times its rows, since more may be inserted between two parts
of a span."""


class ComputingIDs:
    """Batches whose ids the database computes; ``NotSupportedError`` if it can't, if Python is
    faster, or if only Python knows the time zone."""

    def __init__(self, target: Target, engine: Engine, pending: PendingRows) -> None:
        self._target = target
        self._scheme = target.scheme
        self._pending = pending
        self._engine = engine
        self._connection = engine.connection
        stored = target.field.stored(self._connection)
        times = target.source.own_times
        if not engine.computes or times is None or not times.knows_utc:
            raise NotSupportedError("Python is faster, or only Python knows the times")
        self._composition = Composition(target.scheme, stored, self._connection)
        self._statements = engine.statements(target, self._composition)

    @property
    def statements(self) -> Iterator[tuple[str, str]]:
        """When and how rows are written."""
        statements = self._statements
        if self._interleaves:
            yield f"for each part of {PARTS} batches of neighbours", statements.of_part
            yield "for a batch of one time", statements.of_batch
        else:
            yield "for each batch", statements.of_batch
            if statements.counted:
                yield "before it, to count its ticks' rows", statements.counted
        if statements.of_one_time != statements.of_batch:
            yield "for a batch that continues the time of the previous one", statements.of_one_time

    def next(self, cursor: Cursor | None, size: int) -> Batch | None:
        """The next rows; None if there are none, or if Python must check the room in a tick."""
        if cursor and cursor.span:
            return self._part(cursor, cursor.span, size)
        if self._interleaves and (found := self._first_part(cursor, size)):
            return found
        stretch = self._pending.stretch(cursor, size)
        if stretch is None:
            return None
        start = self._start(stretch.first, cursor)
        # If possible, leave room for as many rows that may be inserted later.
        roomy = replace(stretch, more_in_tick=stretch.more_in_tick + stretch.size)
        computed = roomy if self._fits(roomy, start) else stretch
        if not self._fits(computed, start):
            return None
        rows = [stretch.first, stretch.last]
        return Batch(rows, stretch.size, lambda: self._compute(computed, start))

    def _start(self, first: Row, cursor: Cursor | None) -> int:
        """The first free rank in the tick of the first row."""
        position = cursor.position if cursor else None
        if position is None or self._target.tick(first[0]) != position.tick:
            return 0
        layout = self._scheme.layout
        width = layout.new.suffixes // self._composition.ranks
        return -(-layout.new_below(position.suffix + 1) // width)

    def _fits(self, stretch: Stretch, start: int) -> bool:
        """Whether every tick surely has room for its rows; else Python checks each tick."""
        layout, tick = self._scheme.layout.new, self._target.tick(stretch.last[0])
        if stretch.size + stretch.more_in_tick > self._composition.ranks - start:
            return False
        return layout.capacity(tick) == layout.suffixes

    def _compute(self, stretch: Stretch, start: int) -> Written:
        parameters = self._between(stretch.first, stretch.last, start, stretch.more_in_tick)
        statements = self._statements
        if statements.counted:
            with self._connection.cursor() as cursor:
                cursor.execute(statements.counted, parameters | {"size": stretch.size})
        statement = statements.of_one_time if stretch.continues_time else statements.of_batch
        filled = statements.execute(statement, parameters)
        self._pending.wrote(filled, stretch.size)
        return Written(filled, self._cursor(stretch.last) if filled else None, stretch.last)

    def _between(self, first: Row, last: Row, start: int, more_in_tick: int) -> dict[str, Any]:
        row = self._statements.parameters_of
        return {
            **row("first", first),
            **row("last", last),
            "reserved_tick": self._target.tick(first[0]) if start else -1,
            "start": start,
            "last_tick": self._target.tick(last[0]),
            "beyond": more_in_tick,
        }

    def _cursor(self, last: Row) -> Cursor:
        """The cursor after that row; the next row of its tick continues at its position. Raises
        ``NothingWritten`` if it has no id: another row took its place in the tick."""
        rows = self._target.rows.filter(pk=last[1])
        last_id = rows.values_list(self._target.field.name, flat=True).get()
        if last_id is None:
            raise NothingWritten
        return Cursor(last, Position(*self._scheme.parts(last_id)))

    # Interleaved

    @cached_property
    def _interleaves(self) -> bool:
        return self._engine.interleaves(self._target)

    def _first_part(self, cursor: Cursor | None, size: int) -> Batch | None:
        stretch = self._pending.stretch(cursor, PARTS * size)
        tick = self._target.tick
        if stretch is None or tick(stretch.first[0]) == tick(stretch.last[0]):
            return None
        ample = replace(
            stretch, size=_AMPLE * stretch.size, more_in_tick=_AMPLE * stretch.more_in_tick
        )
        if not self._fits(ample, self._start(stretch.first, cursor)):
            return None
        span = Span(stretch.first, stretch.last, stretch.size)
        position = cursor.position if cursor else None
        return self._part(Cursor(stretch.last, position, span), span, size)

    def _part(self, cursor: Cursor, span: Span, size: int) -> Batch:
        end = span.end(size)
        write = self._write_last_part if end == HASHES else self._write_part
        rows = max(1, span.size * (end - span.start) // HASHES)
        return Batch([span.first, span.last], rows, lambda: write(cursor, span, end))

    def _write_part(self, cursor: Cursor, span: Span, end: int) -> Written:
        parameters = self._between(span.first, span.last, self._start(span.first, cursor), 0)
        filled = self._execute_part(span, end, parameters)
        return Written(filled, replace(cursor, span=replace(span, start=end)))

    def _write_last_part(self, cursor: Cursor, span: Span, end: int) -> Written:
        """Includes the last tick, as far as other transactions have left rows of it."""
        start, last = self._start(span.first, cursor), self._pending.last_of(span)
        if last is None:
            parameters = self._between(span.first, span.last, start, 0)
            filled = self._execute_part(span, end, parameters)
            return Written(filled, replace(cursor, position=None, span=None))
        more_in_tick = self._pending.more_in_tick(last) + span.size
        parameters = self._between(span.first, last, start, more_in_tick)
        filled = self._execute_part(span, end, parameters, with_last_tick=True)
        return Written(filled, self._cursor(last) if filled else None, last)

    def _execute_part(
        self, span: Span, end: int, parameters: dict[str, Any], with_last_tick: bool = False
    ) -> int:
        hashes = {"first_hash": span.start, "last_hash": end - 1}
        parameters |= hashes | {"with_last_tick": with_last_tick}
        return self._statements.execute(self._statements.of_part, parameters)


class Writer:
    """Makes the batches of a target and writes them, for the plan and for the run.

    One UPDATE computes the ids of a batch in the database if it can compute them. Otherwise Python
    generates them and sends them in one UPDATE.
    """

    def __init__(self, target: Target, engine: Engine) -> None:
        self.target = target
        self.pending = PendingRows(target, looks_up_ids=engine.looks_up_ids)
        self._engine = engine
        self._connection = engine.connection
        self._statements = engine.statements(target)
        self._computing: ComputingIDs | None = None
        if isinstance(target.field.scheme, TimeScheme):
            with suppress(NotSupportedError):
                self._computing = ComputingIDs(target, engine, self.pending)

    @property
    def statements(self) -> Iterator[tuple[str, str]]:
        """When and how rows are written."""
        if self._computing is None:
            yield "for each batch", self.sent
            return
        yield from self._computing.statements
        yield "for rows that appear during the run", self.sent

    @property
    def sent(self) -> str:
        return self._statements.sent

    @property
    def kept(self) -> Sequence[str]:
        """Columns that an UPDATE would set to the current time, and that these statements keep."""
        return self._statements.kept

    def next(self, cursor: Cursor | None, size: int) -> Batch:
        """The next ``size`` rows without an id after the cursor, or as many as there are.

        Raises ``BackfillError``, naming a row, if an id can't be generated.
        """
        computed = self._computing.next(cursor, size) if self._computing else None
        batch = computed or self._from_python(cursor, size)
        if batch.size:
            self.pending.made(batch.rows[0], batch.rows[-1], batch.size)
        return batch

    def send(self, rows: Sequence[Row], ids: Sequence[ID]) -> int:
        """Write ids for any rows; returns how many of them had none."""
        return self._send(rows, self._stored(ids))

    def preview(self, rows: Sequence[Row]) -> Sequence[ID]:
        """Ids of the right time for the first rows, as examples: the written ids have other random
        bits. Empty for a sequence.
        """
        if not rows or not isinstance(self.target.field.scheme, TimeScheme):
            return ()
        if (known := self.target.source.samples(self.target, rows)) is not None:
            return known
        scheme = self.target.scheme
        ticks = [self.target.tick(created) for created, _ in rows]
        numbers, _ = mint(scheme, ticks, None, 0)
        return list(scheme.all_from_trusted(numbers))

    def independent_ids(self, rows: Sequence[Row]) -> Sequence[ID] | None:
        """The ids of any rows, if they don't depend on those of other rows: the source knows them,
        or a counter has them."""
        target, field = self.target, self.target.field
        if (known := target.source.known_ids(target, rows)) is not None:
            return known
        if isinstance(field, LexicalSequenceField):
            return counters.take(field, field.scheme, len(rows), target.using)
        return None

    @contextmanager
    def naming(self, row: Row) -> Iterator[None]:
        """Raise ``BackfillError``, naming that row, if an id can't be generated in the block."""
        try:
            yield
        except (OutOfRange, SequenceExhausted) as error:
            raise self.target.stopped(row, error) from error

    def _from_python(self, cursor: Cursor | None, size: int) -> Batch:
        rows = self.pending.read(cursor, size)
        if not rows:
            return NOTHING
        stored, position = self._generated(rows, cursor)

        def write() -> Written:
            cursor = None if self.target.source.comes_last else Cursor(rows[-1], position)
            return Written(self._send(rows, stored), cursor, rows[-1])

        return Batch([rows[0], rows[-1]], len(rows), write)

    def _generated(
        self, rows: Sequence[Row], cursor: Cursor | None
    ) -> tuple[list[Any], Position | None]:
        """The values for the column, and the position where the next batch continues."""
        target, count = self.target, len(rows)
        with self.naming(rows[-1]):
            if (known := self.independent_ids(rows)) is not None:
                return self._stored(known), None
            scheme, position = target.scheme, cursor.position if cursor else None
            ticks = scheme.ticks(self._microseconds(rows))
            more = self.pending.left(cursor, rows[-1], ticks, count)
            try:
                # Leave room for as many rows that may be inserted later.
                numbers, position = mint(scheme, ticks, position, more + count)
            except OutOfRange:
                numbers, position = mint(scheme, ticks, position, more)
            storage = target.field.stored(self._connection)
            return storage.all_to_db(numbers, self._connection), position

    def _microseconds(self, rows: Sequence[Row]) -> list[int]:
        microseconds: list[int] = []
        try:
            for each in self.target.source.microseconds(place for place, _ in rows):
                microseconds.append(each)  # one by one, to know the row of an error
        except InvalidID as error:
            raise self.target.stopped(rows[len(microseconds)], error) from error
        return microseconds

    def _send(self, rows: Sequence[Row], stored: Sequence[Any]) -> int:
        places, pks = zip(*rows, strict=True)
        return self._statements.send(self.target.stored_keys(pks), stored, places)

    def _stored(self, ids: Sequence[ID]) -> list[Any]:
        save = self.target.field.get_db_prep_save
        return [save(value, self._connection) for value in ids]
