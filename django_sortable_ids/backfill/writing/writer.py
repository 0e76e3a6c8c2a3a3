"""Makes batches of rows in the order of their creation times, and of those that appeared before the
cursor, and writes their ids."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db.models import Q, QuerySet

from ...fields import LexicalSequenceField
from ...schemes import ID, InvalidID, OutOfRange, SequenceExhausted
from ...workers import counters
from ..engines.base import Engine
from ..sources.base import Row
from ..sources.target import Target
from .batch import NOTHING, Batch, Cursor, Position, Written, mint, mint_between
from .computing import computing_ids
from .pending_rows import PendingRows

LATE_ROWS = 1000
"""How many late rows are read at a time."""
NEIGHBOURS = 10
"""How many ids are read on each side of a late row, to see which of them are out of order."""


class Writer:
    """Makes the batches of a target and writes them, for the plan and for the run.

    One UPDATE computes the ids of a batch in the database if it can compute them. Otherwise Python
    generates them and sends them in one UPDATE.
    """

    def __init__(self, target: Target, engine: Engine) -> None:
        self.target = target
        self.pending = PendingRows(target, looks_up_ids=engine.looks_up_ids)
        self._connection = engine.connection
        self.sql = engine.statements(target)
        """How Python sends ids."""
        self._computing = computing_ids(target, engine, self.pending)

    @property
    def statements(self) -> Iterator[tuple[str, str]]:
        if self._computing is None:
            yield "for each batch", self.sql.sending_sql
            return
        yield from self._computing.statements
        yield "for rows that appear during the run", self.sql.sending_sql

    def next(self, cursor: Cursor | None, size: int) -> Batch:
        """The next ``size`` rows without an id after the cursor, or as many as there are.

        Raises ``BackfillError``, naming a row, if an id can't be generated.
        """
        computed = self._computing.next(cursor, size) if self._computing else None
        batch = computed or self._from_python(cursor, size)
        if batch.size:
            self.pending.made(batch.rows[0], batch.rows[-1], batch.size)
        return batch

    def _independent_ids(self, rows: Sequence[Row]) -> Sequence[ID] | None:
        """The ids of any rows, if they don't depend on those of other rows: the source knows them,
        or a counter has them."""
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
        rows = self.pending.next_rows(cursor, size)
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
        with self._naming(rows[-1]):
            if (known := self._independent_ids(rows)) is not None:
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
        return self.sql.send(self.target.stored_keys(pks), stored, places)

    def _stored(self, ids: Sequence[ID]) -> list[Any]:
        save = self.target.field.get_db_prep_save
        return [save(value, self._connection) for value in ids]

    # Late rows

    def late_rows(self, cursor: Cursor) -> QuerySet[Any, Any]:
        """The rows without an id up to a cursor: inserted without one, or committed late. With the
        cursor's row, which may have lost its id."""
        return self.target.missing.filter(self.target.source.until(*cursor.row))

    def some_late_rows(self, cursor: Cursor, most: int, last: Row | None) -> list[Row]:
        """Up to ``most`` of them in order, after the row ``last`` of the previous call."""
        rows = self.late_rows(cursor)
        if last is not None:
            rows = rows.filter(self.target.source.after(*last))
        return self.target.read(rows[: min(most, LATE_ROWS)])

    def late_batch(self, rows: Sequence[Row], cursor: Cursor) -> Batch:
        """The first of the rows, and all others between the same two ids of its tick."""
        with self._naming(rows[0]):
            if (known := self._independent_ids(rows)) is not None:
                return self._late(rows, known)
            return self._between_neighbours(rows[0], cursor)

    def _late(self, rows: Sequence[Row], ids: Sequence[ID]) -> Batch:
        def write() -> Written:
            return Written(self._send(rows, self._stored(ids)), None, rows[0])

        return Batch(rows, len(rows), write)

    def _between_neighbours(self, row: Row, cursor: Cursor) -> Batch:
        """The rows without an id around this one, up to the next ids of its tick."""
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
                return Batch([row], 1, lambda: Written(0, None))
            # Its time is in an hour that a clock change skips or repeats.
            rows = [row]
        ids = mint_between(
            scheme,
            source.at(row[0]),
            [each[2] for each in before],
            [each[2] for each in after],
            last and last[2],
            len(rows),
            gap.count() if len(rows) == LATE_ROWS else len(rows),
        )
        return self._late(rows, ids)
