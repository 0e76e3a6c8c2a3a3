"""Rows that get their ids at the end of a run, since they appeared before its cursor."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Q, QuerySet

from ...schemes import ID
from ..sources.base import Row
from .batch import Batch, Cursor, Written, mint_between
from .writer import Writer

LATE_ROWS = 1000
"""How many late rows are read at a time."""
NEIGHBOURS = 10
"""How many ids are read on each side of a late row, to see which of them are out of order."""


class LateRows:
    """The rows without an id up to a cursor: inserted without one, or committed late."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._target = writer.target

    def count(self, cursor: Cursor) -> int:
        return self._reached(cursor).count()

    def some(self, cursor: Cursor, most: int, last: Row | None) -> list[Row]:
        """Up to ``most`` of them in order, after the row ``last`` of the previous call."""
        rows = self._reached(cursor)
        if last is not None:
            rows = rows.filter(self._target.source.after(*last))
        return self._target.read(rows[: min(most, LATE_ROWS)])

    def batch(self, rows: Sequence[Row], cursor: Cursor) -> Batch:
        """The first of the rows, and all others between the same two ids of its tick."""
        with self._writer.naming(rows[0]):
            if (known := self._writer.independent_ids(rows)) is not None:
                return self._batch_of(rows, known)
            return self._between_neighbours(rows[0], cursor)

    def _batch_of(self, rows: Sequence[Row], ids: Sequence[ID]) -> Batch:
        return Batch(rows, len(rows), lambda: Written(self._writer.send(rows, ids), None, rows[0]))

    def _between_neighbours(self, row: Row, cursor: Cursor) -> Batch:
        """The rows without an id around this one, up to the next ids of its tick."""
        target, scheme, name = self._target, self._target.scheme, self._target.field.name
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
        return self._batch_of(rows, ids)

    def _reached(self, cursor: Cursor) -> QuerySet[Any, Any]:
        """With the cursor's row, which may have lost its id."""
        return self._target.missing.filter(self._target.source.until(*cursor.row))
