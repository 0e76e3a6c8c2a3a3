"""Makes batches of rows in the order of their creation times, then of rows that appeared before the
cursor, and writes their ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any

from django.db import NotSupportedError
from django.db.models import Q, QuerySet
from django.utils.functional import cached_property

from ..errors import BackfillError
from ..fields import LexicalSequenceField
from ..functions.generate import Composition
from ..schemes import ID, InvalidID, OutOfRange, SequenceExhausted, TimeScheme
from ..workers import counters
from .batch import (
    NOTHING,
    PARTS,
    Batch,
    Cursor,
    Position,
    RowLeftEmpty,
    Span,
    TickFull,
    Written,
    mint,
    mint_between,
)
from .engines.base import HASHES, Engine
from .pending_rows import Bounds, PendingRows
from .sources.base import Row
from .sources.target import Target

LATE_ROWS = 1000  # read at a time
NEIGHBOURS = 10
"""How many ids are read on each side of a late row, to see which of them are out of order."""


class Writer:
    """Makes the batches of a target and writes them, for the plan and for the run.

    The database computes the ids of a batch in one UPDATE if it can. Otherwise Python generates
    them and sends them.
    """

    def __init__(self, target: Target, engine: Engine) -> None:
        self.target = target
        self.pending = PendingRows(target, finds_ends_by_time=engine.finds_ends_by_time)
        self._connection = engine.connection
        self.statements = engine.statements(target)
        """How Python sends ids."""
        self.computes = True
        """Set to False, Python sends the next ids: only to rows that it has read."""
        self._computing: ComputingIDs | None = None
        times, has_times = target.source.own_times, isinstance(target.field.scheme, TimeScheme)
        # Python is faster on SQLite, and only Python knows the zone of other times.
        if engine.computes and has_times and times is not None and times.knows_utc:
            with suppress(NotSupportedError):
                self._computing = ComputingIDs(target, engine, self.pending)

    @property
    def shown_statements(self) -> Iterator[tuple[str, str]]:
        """When each statement is executed, and the statement."""
        if self._computing is None:
            yield "for each batch", self.statements.sending_sql
            return
        yield from self._computing.shown_statements
        yield "for rows that appear during the run", self.statements.sending_sql

    def next_batch(self, cursor: Cursor | None, size: int) -> Batch:
        """The next ``size`` rows without an id after the cursor, or as many as there are.

        Raises ``BackfillError``, naming a row, if an id can't be generated.
        """
        computing = self._computing if self.computes or (cursor and cursor.span) else None
        computed = computing.next_batch(cursor, size) if computing else None
        batch = computed or self._from_python(cursor, size)
        if batch.size:
            self.pending.made(batch.rows[0], batch.rows[-1], batch.size)
        return batch

    def catch_up(self) -> None:
        """Before a run: have a sequence count on from the last number of the table."""
        target, field = self.target, self.target.field
        if isinstance(field, LexicalSequenceField):
            try:
                counters.catch_up(field, field.scheme, target.using)
            except SequenceExhausted as error:
                raise BackfillError(f"{target.label}: {error}") from error

    def _independent_ids(self, rows: Sequence[Row]) -> Sequence[ID] | None:
        """The ids of any rows, if they don't depend on other rows: the source knows them, or a
        counter has them."""
        target, field = self.target, self.target.field
        if (known := target.source.known_ids(target, rows)) is not None:
            return known
        if isinstance(field, LexicalSequenceField):
            return counters.take(field, field.scheme, len(rows), target.using)
        return None

    @contextmanager
    def _naming(self, row: Row) -> Iterator[None]:
        """Raise ``BackfillError``, naming that row, if an id can't be generated in the block."""
        try:
            yield
        except (OutOfRange, SequenceExhausted) as error:
            raise self.target.stopped(row, error) from error

    def _from_python(self, cursor: Cursor | None, size: int) -> Batch:
        """The next rows, with values for the column, and where the next batch continues."""
        target, rows = self.target, self.pending.next_rows(cursor, size)
        if not rows:
            return NOTHING
        position: Position | None = None
        with self._naming(rows[-1]):
            if (known := self._independent_ids(rows)) is not None:
                stored = self._stored(known)
            else:
                for end in (rows[0], rows[-1]):  # They are in the order of time.
                    target.checked_tick(end)
                microseconds: list[int] = []
                try:
                    for since_1970 in target.source.microseconds(place for place, _ in rows):
                        microseconds.append(since_1970)  # one by one, to know the row of an error
                except InvalidID as error:
                    raise target.stopped(rows[len(microseconds)], error) from error
                scheme, before = target.scheme, cursor.position if cursor else None
                ticks = scheme.ticks(microseconds)
                more_in_tick = self.pending.left(cursor, rows[-1], ticks, len(rows))
                try:
                    # Leave room for as many rows that may be inserted later.
                    numbers, position = mint(scheme, ticks, before, more_in_tick + len(rows))
                except TickFull as error:
                    with self._naming(rows[error.last]):
                        numbers, position = mint(scheme, ticks, before, more_in_tick)
                storage = target.field.stored(self._connection)
                stored = storage.all_to_db(numbers, self._connection)

        def write() -> Written:
            reached = None if target.source.comes_last else Cursor(rows[-1], position)
            return Written(self._send(rows, stored), reached, rows[-1])

        return Batch([rows[0], rows[-1]], len(rows), write)

    def _send(self, rows: Sequence[Row], stored: Sequence[Any]) -> int:
        # zip(*rows) would take a fifth of the time of a fill.
        places, pks = [place for place, _ in rows], [pk for _, pk in rows]
        return self.statements.send(self.target.stored_keys(pks), stored, places)

    def _stored(self, ids: Iterable[ID]) -> list[Any]:
        save = self.target.field.get_db_prep_save
        return [save(value, self._connection) for value in ids]

    # Late rows

    @property
    def needs_neighbours(self) -> bool:
        """Whether the id of a late row depends on those of other rows."""
        target = self.target
        has_times = isinstance(target.field.scheme, TimeScheme)
        return has_times and target.source.known_ids(target, ()) is None

    def late_rows(self, cursor: Cursor) -> QuerySet[Any, Any]:
        """The rows without an id up to a cursor: inserted without one, or committed late. With the
        cursor's row, which may have lost its id."""
        return self.target.missing.filter(self.target.source.until(*cursor.row))

    def some_late_rows(self, cursor: Cursor, most: int, last: Row | None) -> list[Row]:
        """Up to ``most`` late rows in order, after the row ``last`` of the previous call."""
        rows = self.late_rows(cursor)
        if last is not None:
            rows = rows.filter(self.target.source.after(*last))
        return self.target.read(rows[: min(most, LATE_ROWS)])

    def late_batch(self, rows: Sequence[Row], cursor: Cursor) -> Batch:
        """In each tick one gap: its first late row, and all others up to the next id."""
        with self._naming(rows[0]):
            if (known := self._independent_ids(rows)) is not None:
                return self._late(dict(zip(rows, known, strict=True)))
        ids: dict[Row, ID | None] = {}
        ticks = set()
        for row in rows:
            # One gap of each tick: the ids of this batch are no neighbours yet.
            if row not in ids and (tick := self.target.checked_tick(row)) not in ticks:
                ticks.add(tick)
                with self._naming(row):
                    ids |= {row: None} | self._between_neighbours(row, cursor)
        return self._late(ids)

    def _late(self, ids: Mapping[Row, ID | None]) -> Batch:
        """A batch of rows that get these ids; None for a row that needs none any more."""
        sent = {row: value for row, value in ids.items() if value is not None}
        rows, stored = list(sent), self._stored(sent.values())

        def write() -> Written:
            return Written(self._send(rows, stored), None, rows[0]) if rows else Written(0, None)

        return Batch(list(ids), len(ids), write)

    def _between_neighbours(self, row: Row, cursor: Cursor) -> dict[Row, ID]:
        """Ids for the rows without one around this row, up to the next ids of its tick."""
        target, scheme, name = self.target, self.target.scheme, self.target.field.name
        source = target.source
        start, stop = target.tick_of(row[0])
        # A row whose time was edited may have an id of another tick.
        has_id = Q(**{f"{name}__created_at__gte": start, f"{name}__created_at__lt": stop})
        with_ids = target.rows.filter(source.between(start, stop), has_id).order_by(*source.order)
        before = target.read(with_ids.filter(source.before(*row)).reverse()[:NEIGHBOURS], name)
        following = with_ids.filter(source.after(*row))
        last = cursor.last(scheme, target.tick(row[0]))
        if last:
            # Rows after the cursor's row use the rest of the tick, even if that row is gone.
            following = following.filter(source.before(*last[:2]))
        after = target.read(following[:NEIGHBOURS], name)
        gap = target.missing.filter(source.between(start, stop))
        if before:
            gap = gap.filter(source.after(*before[0][:2]))
        if end := after[0] if after else last:
            gap = gap.filter(source.before(*end[:2]))
        rows = target.read(gap[:LATE_ROWS])
        if row not in rows:
            if not target.lacks_id(row):
                return {}
            # Its time is in an hour that a clock change skips or repeats.
            rows = [row]
        ids = mint_between(
            scheme,
            source.at(row[0]),
            [neighbour[2] for neighbour in before],
            [neighbour[2] for neighbour in after],
            last and last[2],
            len(rows),
            gap.count() if len(rows) == LATE_ROWS else len(rows),
        )
        return dict(zip(rows, ids, strict=True))


_AMPLE = 16
"""A tick must have room for so many times its rows: more may come between parts of a span."""


class ComputingIDs:
    """Each batch is of consecutive rows. An engine that interleaves takes a larger span instead,
    where its ticks have ample room, and writes it in parts, chosen by a hash of the tick.

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
    def shown_statements(self) -> Iterator[tuple[str, str]]:
        """When each statement is executed, and the statement."""
        statements = self._statements
        if self._interleaves:
            yield f"for each part of {PARTS} batches of neighbours", statements.part_sql
        yield "for each batch", statements.batch_sql
        if statements.counting_sql:
            yield "before it, to count the rows of its largest tick", statements.counting_sql
        if statements.one_time_sql:
            yield "for a batch that continues the time of the previous one", statements.one_time_sql

    def next_batch(self, cursor: Cursor | None, size: int) -> Batch | None:
        """The next rows; None if there are none, or if Python must check the room in a tick."""
        if cursor and cursor.span:
            return self._part(cursor, cursor.span, size)
        tick = self._target.tick
        bounds = self._pending.bounds(cursor, PARTS * size) if self._interleaves else None
        if bounds and tick(bounds.first[0]) != tick(bounds.last[0]):
            ample = _AMPLE * (bounds.size + bounds.more_in_tick)
            if self._fits(ample, bounds.last, self._start(bounds.first, cursor)):
                span = Span(bounds.first, bounds.last, bounds.size)
                position = cursor.position if cursor else None
                return self._part(Cursor(bounds.last, position, span), span, size)
        bounds = self._pending.bounds(cursor, size)
        if bounds is None:
            return None
        start, later = self._start(bounds.first, cursor), bounds.more_in_tick
        # If possible, leave room for as many rows that may be inserted later.
        for beyond in (later + bounds.size, later):
            if self._fits(bounds.size + beyond, bounds.last, start):
                write = partial(self._compute, bounds, start, beyond)
                return Batch([bounds.first, bounds.last], bounds.size, write)
        return None

    def _start(self, first: Row, cursor: Cursor | None) -> int:
        """The first free rank in the tick of the first row."""
        position = cursor.position if cursor else None
        if position is None or self._target.tick(first[0]) != position.tick:
            return 0
        layout = self._scheme.layout
        width = layout.new.suffixes // self._composition.ranks
        return -(-layout.new_below(position.suffix + 1) // width)

    def _fits(self, rows: int, last: Row, start: int) -> bool:
        """Whether every tick surely has room for so many rows; else Python checks each tick."""
        layout, tick = self._scheme.layout.new, self._target.tick(last[0])
        # The last tick of a scheme may be cut off.
        is_whole = layout.capacity(tick) == layout.suffixes
        return is_whole and rows <= self._composition.ranks - start

    def _compute(self, bounds: Bounds, start: int, beyond: int) -> Written:
        parameters = self._parameters(bounds.first, bounds.last, start, beyond)
        statements = self._statements
        if statements.counting_sql:
            with self._connection.cursor() as cursor:
                cursor.execute(statements.counting_sql, parameters | {"size": bounds.size})
        of_one_time = statements.one_time_sql if bounds.continues_time else None
        filled = statements.execute(of_one_time or statements.batch_sql, parameters)
        self._pending.wrote(filled, bounds.size)
        return Written(filled, self._cursor_after(bounds.last) if filled else None, bounds.last)

    def _parameters(self, first: Row, last: Row, start: int, beyond: int) -> dict[str, Any]:
        parameters_of = self._statements.parameters_of
        return {
            **parameters_of("first", first),
            **parameters_of("last", last),
            "reserved_tick": self._target.tick(first[0]) if start else -1,
            "start": start,
            "last_tick": self._target.tick(last[0]),
            "beyond": beyond,
        }

    def _cursor_after(self, last: Row) -> Cursor:
        """The cursor after that row; the next row of its tick continues at its position. Raises
        ``RowLeftEmpty`` if it has no id: another row took its place in the tick."""
        rows = self._target.rows.filter(pk=last[1])
        last_id = rows.values_list(self._target.field.name, flat=True).get()
        if last_id is None:
            raise RowLeftEmpty
        return Cursor(last, Position(*self._scheme.parts(last_id)))

    # A span, in parts

    def _part(self, cursor: Cursor, span: Span, size: int) -> Batch:
        """The next part of the span. The last one includes the last tick, as far as other
        transactions have left rows of it."""
        end = span.end(size)
        is_last = end == HASHES

        def write() -> Written:
            last = self._pending.last_of(span) if is_last else None
            left = self._pending.left(None, last, (), span.size) if last else 0
            start = self._start(span.first, cursor)
            beyond = left + span.size if last else 0
            parameters = self._parameters(span.first, last or span.last, start, beyond)
            parameters |= {"first_hash": span.start, "last_hash": end - 1}
            parameters["with_last_tick"] = last is not None
            filled = self._statements.execute(self._statements.part_sql, parameters)
            if last:
                return Written(filled, self._cursor_after(last) if filled else None, last)
            if is_last:
                return Written(filled, replace(cursor, position=None, span=None))
            return Written(filled, replace(cursor, span=replace(span, start=end)))

        rows = max(1, span.size * (end - span.start) // HASHES)
        return Batch([span.first, span.last], rows, write)
