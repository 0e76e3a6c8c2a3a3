"""Rows that appeared before the cursor of a run: their ids go between the existing ones."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet

from ...db import chunks
from ...fields import LexicalSequenceField
from ...schemes import ID
from ...sequences import counters
from ..target import Row
from .batch import Batch, Cursor, Written
from .minting import mint_between
from .writer import Writer

LATE_ROWS = 1000
"""How many late rows are read at a time."""
NEIGHBOURS = 10
"""How many ids are read on each side of a late row, to see which of them are out of order."""


class LateRows:
    """The rows without an id before a cursor: inserted without one, or committed late."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._target = writer.target

    def count(self, cursor: Cursor) -> int:
        return chunks.count(self._before(cursor))

    def some(self, cursor: Cursor, most: int, last: Row | None) -> list[Row]:
        """Up to ``most`` of them in order, after the row ``last`` of the previous call."""
        rows = self._before(cursor)
        if last is not None:
            rows = rows.filter(self._target.after(*last))
        return self._target.read(rows[: min(most, LATE_ROWS)])

    def batch(self, rows: Sequence[Row], cursor: Cursor) -> Batch:
        """The first of the rows, and all others between the same two ids of its tick."""
        target, field = self._target, self._target.field
        with self._writer.naming(rows[0]):
            if (known := self._writer.known(rows)) is not None:
                return self._batch_of(rows, known)
            if isinstance(field, LexicalSequenceField):
                return self._batch_of(
                    rows, counters.take(field, field.scheme, len(rows), target.using)
                )
            gap, before, after, last = self._gap(rows[0], cursor)
            in_gap = target.read(gap[:LATE_ROWS])
            if rows[0] not in in_gap:
                if not target.lacks_id(rows[0]):
                    return Batch(rows[:1], 1, lambda: Written(0, None))
                # Its time is in an hour that a clock change skips or repeats.
                in_gap = [rows[0]]
            count = gap.count() if len(in_gap) == LATE_ROWS else len(in_gap)
            at = target.at(rows[0][0])
            ids = mint_between(target.scheme, at, before, after, last, len(in_gap), count)
            return self._batch_of(in_gap, ids)

    def _batch_of(self, rows: Sequence[Row], ids: Sequence[ID]) -> Batch:
        return Batch(rows, len(rows), lambda: Written(self._writer.send(rows, ids), None, rows[0]))

    def _gap(
        self, row: Row, cursor: Cursor
    ) -> tuple[QuerySet[Any, Any], list[ID], list[ID], ID | None]:
        """The rows without an id around this one, up to the next ids of its tick; the ids before
        and after them; and the id of the cursor, if it is in the tick."""
        target, scheme, name = self._target, self._target.scheme, self._target.field.name
        start, stop = target.tick_of(row[0])
        # A row whose time was edited may have an id of another tick.
        has_id = Q(**{f"{name}__created_at__gte": start, f"{name}__created_at__lt": stop})
        given = target.rows.filter(target.between(start, stop), has_id).order_by(*target.order)
        before = target.read(given.filter(target.before(*row)).reverse()[:NEIGHBOURS], name)
        following = given.filter(target.after(*row))
        last = cursor.last(scheme, target.tick(row[0]))
        if last:
            # Rows after the cursor's row use the rest of the tick, even if that row is gone.
            following = following.filter(target.before(*last[:2]))
        after = target.read(following[:NEIGHBOURS], name)
        gap = target.missing_in_order.filter(target.between(start, stop))
        if before:
            gap = gap.filter(target.after(*before[0][:2]))
        if end := after[0] if after else last:
            gap = gap.filter(target.before(*end[:2]))
        return gap, [each[2] for each in before], [each[2] for each in after], last and last[2]

    def _before(self, cursor: Cursor) -> QuerySet[Any, Any]:
        return self._target.missing_in_order.filter(self._target.before(*cursor.place))
