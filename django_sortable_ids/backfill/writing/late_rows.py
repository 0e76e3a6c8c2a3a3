"""Rows that appeared in front of the place where a run stands, and the ids between those there."""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from ...db import chunks
from ...fields import LexicalSequenceField
from ...schemes import ID, TimeScheme
from ...sequences import counters
from ..target import Row
from .batch import Batch, Cursor, Written
from .minting import mint_between
from .writer import Writer

LATE_ROWS = 1000
"""How many late rows are looked up at a time."""


class LateRows:
    """The rows without an id in front of a cursor: inserted without one, or committed late."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._target = writer.target

    def count(self, cursor: Cursor) -> int:
        return chunks.count(self._in_front(cursor))

    def some(self, cursor: Cursor, most: int, last: Row | None) -> list[Row]:
        """In order; those behind ``last``, where the ones up to it were looked up before."""
        rows = self._in_front(cursor)
        if last is not None:
            rows = rows.filter(self._target.after(*last))
        return self._target.read(rows[: min(most, LATE_ROWS)])

    def batch(self, rows: Sequence[Row], cursor: Cursor) -> Batch:
        """The first of the rows, and those that lie between the same two ids of its tick."""
        target, field, scheme = self._target, self._target.field, self._target.field.scheme
        with self._writer.naming(rows[0]):
            if (known := self._writer.known(rows)) is not None:
                return self._given(rows, known)
            if isinstance(field, LexicalSequenceField):
                return self._given(
                    rows, counters.take(field, field.scheme, len(rows), target.using)
                )
            assert isinstance(scheme, TimeScheme), "every other scheme has a time"
            gap, before, behind = self._gap(scheme, rows[0], cursor)
            found = target.read(gap[:LATE_ROWS])
            if rows[0] not in found:
                if not target.lacks_id(rows[0]):
                    return Batch(rows[:1], 1, lambda: Written(0, None))
                # Its hour is one that a clock change skips or repeats.
                found = [rows[0]]
            count = gap.count() if len(found) == LATE_ROWS else len(found)
            at = target.at(rows[0][0])
            return self._given(found, mint_between(scheme, at, before, behind, len(found), count))

    def _given(self, rows: Sequence[Row], ids: Sequence[ID]) -> Batch:
        return Batch(rows, len(rows), lambda: Written(self._writer.send(rows, ids), None, rows[0]))

    def _gap(
        self, scheme: TimeScheme, row: Row, cursor: Cursor
    ) -> tuple[QuerySet[Any, Any], ID | None, ID | None]:
        """The rows without an id around this one, up to the next ids of its tick, and these."""
        target, name = self._target, self._target.field.name
        given = target.given_in_tick(row[0])
        before = target.first(given.filter(target.before(*row)).reverse(), name)
        following = given.filter(target.after(*row))
        held = cursor.last(scheme, scheme.tick(target.at(row[0])))
        if held:
            # The rows behind it get the rest of the tick, though it may have gone itself.
            following = following.filter(target.before(*held[:2]))
        behind = target.first(following, name) or held
        end = behind
        if before and behind and scheme.parts(behind[2])[1] < scheme.parts(before[2])[1]:
            # The application made them, or moved their rows, and nothing fits between them.
            sign, way = ("lt", "-") if scheme.descending else ("gt", "")
            beyond = following.filter(**{f"{name}__{sign}": before[2]})
            end = target.first(beyond.order_by(f"{way}{name}"), name) or held
        gap = target.missing_in_order.filter(target.between(*target.tick_of(row[0])))
        if before:
            gap = gap.filter(target.after(*before[:2]))
        if behind:
            gap = gap.filter(target.before(*behind[:2]))
        return gap, before and before[2], end and end[2]

    def _in_front(self, cursor: Cursor) -> QuerySet[Any, Any]:
        return self._target.missing_in_order.filter(self._target.before(*cursor.place))
