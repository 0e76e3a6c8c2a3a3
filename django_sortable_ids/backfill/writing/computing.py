"""Batches whose ids one UPDATE computes in the database."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.utils.functional import cached_property

from ...fields.storage import IntegerStorage
from ...functions.composition import Composition
from ...schemes import TimeScheme
from ..engines.base import Engine
from ..target import Row, Target
from .batch import PARTS, Batch, Cursor, Span, Written
from .minting import Position
from .pending_rows import PendingRows, Stretch

_AMPLE = 16
"""How many times its rows there must be room for in a tick, where more may come between two parts
of a span."""


class ComputingIDs:
    """Raises ``NotSupportedError`` where the database can't compute them, or Python is faster."""

    def __init__(self, target: Target, engine: Engine, behind: PendingRows) -> None:
        scheme = target.field.scheme
        assert isinstance(scheme, TimeScheme), "every other scheme has no time to compute from"
        self._target = target
        self._scheme = scheme
        self._pending = behind
        self._engine = engine
        self._connection = engine.connection
        stored = target.field.stored(self._connection)
        self._composition = Composition(scheme, stored, self._connection)
        self._statements = engine.computed(target, self._composition)

    @property
    def statements(self) -> Iterator[tuple[str, str]]:
        """When and how rows are written."""
        said = self._statements
        if self._interleaves:
            yield f"for each part of {PARTS} batches of neighbours", self._statements.of_part
            yield "for a batch of one time", said.of_batch
        else:
            yield "for each batch", said.of_batch
            for purpose, statement in said.before_batch.items():
                yield f"before it, {purpose}", statement
        if said.of_one_time != said.of_batch:
            yield "for a batch that goes on in the time of the one before", said.of_one_time

    def next(self, cursor: Cursor | None, size: int) -> Batch | None:
        """The next rows, or nothing where there are none or Python must look for room."""
        if cursor and cursor.span:
            return self._part(cursor, cursor.span.in_parts_of(size))
        if self._interleaves and (found := self._first_part(cursor, size)):
            return found
        stretch = self._pending.stretch(cursor, size)
        if stretch is None:
            return None
        start = self._start(stretch.first, cursor)
        # Room for as many rows that may still come, where there is some.
        roomy = replace(stretch, beyond=stretch.beyond + stretch.size)
        made = roomy if self._fits(roomy, start) else stretch
        if not self._fits(made, start):
            return None
        rows = [stretch.first, stretch.last]
        return Batch(rows, stretch.size, lambda: self._compute(made, start))

    def _start(self, first: Row, cursor: Cursor | None) -> int:
        """The first rank that is free in the tick of the first row."""
        position = cursor.position if cursor else None
        if position is None or self._tick(first) != position.tick:
            return 0
        return position.suffix // (self._scheme.layout.suffixes // self._composition.ranks) + 1

    def _fits(self, stretch: Stretch, start: int) -> bool:
        """Whether every tick has room for its rows for sure; Python finds out, and says where."""
        layout, tick = self._scheme.layout, self._tick(stretch.last)
        if stretch.size + stretch.beyond > self._composition.ranks - start:
            return False
        if layout.capacity(tick) < layout.suffixes:
            return False
        largest = layout.join(tick, layout.suffixes - 1)
        return not isinstance(self._composition.stored, IntegerStorage) or largest < 1 << 63

    def _compute(self, stretch: Stretch, start: int) -> Written:
        parameters = self._between(stretch.first, stretch.last, start, stretch.beyond)
        said = self._statements
        with self._connection.cursor() as cursor:
            for each in said.before_batch.values():
                cursor.execute(each, parameters | {"size": stretch.size})
        statement = said.of_one_time if stretch.goes_on else said.of_batch
        filled = self._statements.execute(statement, parameters)
        self._pending.wrote(filled, stretch.size)
        return Written(filled, self._cursor(stretch.last) if filled else None, stretch.last)

    def _between(self, first: Row, last: Row, start: int, beyond: int) -> dict[str, Any]:
        place = self._statements.place
        return {
            **place("first", first),
            **place("last", last),
            "reserved_tick": self._tick(first) if start else -1,
            "start": start,
            "last_tick": self._tick(last),
            "beyond": beyond,
        }

    def _cursor(self, last: Row) -> Cursor:
        """Behind that row, where the next one of its tick goes on."""
        rows = self._target.rows.filter(pk=last[1])
        made = rows.values_list(self._target.field.name, flat=True).get()
        if made is None:
            return self._cursor_of_last_given(last)
        return Cursor(*last, Position(*self._scheme.parts(made)))

    def _cursor_of_last_given(self, last: Row) -> Cursor:
        """Where more rows of a tick than were counted left none to the last one: behind the one
        that got the last id. That of a row next to it may be of another tick, or be no id of this
        run.
        """
        target, name, layout = self._target, self._target.field.name, self._scheme.layout
        assert self._statements.last_given, "in one statement all rows are counted"
        with self._connection.cursor() as cursor:
            cursor.execute(self._statements.last_given)
            tick, rank = map(int, cursor.fetchone())
        if tick != self._tick(last):
            return Cursor(*last, None)
        width = layout.suffixes // self._composition.ranks
        suffixes = (rank * width, (rank + 1) * width - 1)
        ids = sorted(self._scheme.from_trusted(layout.join(tick, suffix)) for suffix in suffixes)
        given = target.rows.filter(target.between(*target.tick_of(last[0])))
        created, pk, made = target.first(given.filter(**{f"{name}__range": ids}), name)
        return Cursor(created, pk, Position(*self._scheme.parts(made)))

    def _tick(self, row: Row) -> int:
        return self._scheme.tick(self._target.at(row[0]))

    # Interleaved

    @cached_property
    def _interleaves(self) -> bool:
        return self._engine.interleaves(self._target)

    def _first_part(self, cursor: Cursor | None, size: int) -> Batch | None:
        stretch = self._pending.stretch(cursor, PARTS * size)
        if stretch is None or self._tick(stretch.first) == self._tick(stretch.last):
            return None
        ample = replace(stretch, size=_AMPLE * stretch.size, beyond=_AMPLE * stretch.beyond)
        if not self._fits(ample, self._start(stretch.first, cursor)):
            return None
        span = Span.whole(stretch.first, stretch.last, stretch.size)
        position = cursor.position if cursor else None
        return self._part(Cursor(*stretch.last, position, span), span)

    def _part(self, cursor: Cursor, span: Span) -> Batch:
        write = self._write_part if span.rest else self._write_last_part
        return Batch([span.first, span.last], span.rows, lambda: write(cursor, span))

    def _write_part(self, cursor: Cursor, span: Span) -> Written:
        parameters = self._between(span.first, span.last, self._start(span.first, cursor), 0)
        return Written(self._execute_part(span, parameters), replace(cursor, span=span.rest))

    def _write_last_part(self, cursor: Cursor, span: Span) -> Written:
        """With the last tick, or what others have left of it meanwhile."""
        start, last = self._start(span.first, cursor), self._pending.last_of(span)
        if last is None:
            parameters = self._between(span.first, span.last, start, 0)
            filled = self._execute_part(span, parameters)
            return Written(filled, replace(cursor, position=None, span=None))
        beyond = self._pending.beyond(last) + span.size
        parameters = self._between(span.first, last, start, beyond)
        filled = self._execute_part(span, parameters, with_last_tick=True)
        return Written(filled, self._cursor(last) if filled else None, last)

    def _execute_part(
        self, span: Span, parameters: dict[str, Any], with_last_tick: bool = False
    ) -> int:
        part = {"mask": span.left[0].mask, "part": span.left[0].value}
        parameters |= part | {"with_last_tick": with_last_tick}
        return self._statements.execute(self._statements.of_part, parameters)
