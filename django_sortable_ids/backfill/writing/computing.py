"""Batches whose ids the database computes, in one UPDATE."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from django.db import NotSupportedError
from django.utils.functional import cached_property

from ...functions.generate import Composition
from ...schemes import TimeScheme
from ..engines.base import Engine
from ..sources.base import Row
from ..sources.target import HASHES, Target
from .batch import PARTS, Batch, Cursor, NothingWritten, Position, Span, Written
from .pending_rows import PendingRows, Stretch

_AMPLE = 16
"""A tick must have room for this many times its rows, since more may be inserted between two parts
of a span."""


def computing_ids(target: Target, engine: Engine, pending: PendingRows) -> "ComputingIDs | None":
    """None if the database can't compute them, if Python is faster, or if only Python knows the
    time zone."""
    times = target.source.own_times
    has_times = times is not None and times.knows_utc
    if not (engine.computes and has_times and isinstance(target.field.scheme, TimeScheme)):
        return None
    with suppress(NotSupportedError):
        return ComputingIDs(target, engine, pending)
    return None


class ComputingIDs:
    """Batches of the rows between two; if the engine interleaves, of the rows of a span whose ticks
    have certain hashes, unless all are of one tick.

    Raises ``NotSupportedError`` if the database can't compute ids of the scheme.
    """

    def __init__(self, target: Target, engine: Engine, pending: PendingRows) -> None:
        self._target = target
        self._scheme = target.scheme
        self._pending = pending
        self._engine = engine
        self._connection = engine.connection
        stored = target.field.stored(self._connection)
        self._composition = Composition(target.scheme, stored, self._connection)
        self._statements = engine.statements(target, self._composition)

    @cached_property
    def _interleaves(self) -> bool:
        return self._engine.interleaves(self._target)

    @property
    def statements(self) -> Iterator[tuple[str, str]]:
        """When and how rows are written."""
        statements = self._statements
        if self._interleaves:
            yield f"for each part of {PARTS} batches of neighbours", statements.of_part
        yield "for each batch", statements.of_batch
        if statements.largest_tick:
            yield "before it, to count the rows of its largest tick", statements.largest_tick
        if statements.of_one_time != statements.of_batch:
            yield "for a batch that continues the time of the previous one", statements.of_one_time

    def next(self, cursor: Cursor | None, size: int) -> Batch | None:
        """The next rows; None if there are none, or if Python must check the room in a tick."""
        if cursor and cursor.span:
            return self._part(cursor, cursor.span, size)
        if self._interleaves and (part := self._first_part(cursor, size)):
            return part
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
        if statements.largest_tick:
            with self._connection.cursor() as cursor:
                cursor.execute(statements.largest_tick, parameters | {"size": stretch.size})
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

    # A span, in parts

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
        rows = max(1, span.size * (end - span.start) // HASHES)
        return Batch([span.first, span.last], rows, lambda: self._write_part(cursor, span, end))

    def _write_part(self, cursor: Cursor, span: Span, end: int) -> Written:
        """The last part includes the last tick, as far as other transactions have left rows of
        it."""
        is_last = end == HASHES
        last = self._pending.last_of(span) if is_last else None
        left = self._pending.left(None, last, (), span.size) if last else 0
        start = self._start(span.first, cursor)
        beyond = left + span.size if last else 0
        parameters = self._between(span.first, last or span.last, start, beyond)
        parameters |= {"first_hash": span.start, "last_hash": end - 1}
        parameters["with_last_tick"] = last is not None
        filled = self._statements.execute(self._statements.of_part, parameters)
        if last:
            return Written(filled, self._cursor(last) if filled else None, last)
        if is_last:
            return Written(filled, replace(cursor, position=None, span=None))
        return Written(filled, replace(cursor, span=replace(span, start=end)))
