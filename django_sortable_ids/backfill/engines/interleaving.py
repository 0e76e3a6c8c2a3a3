"""Neighbours on the disk are written in different transactions, where that saves PostgreSQL work.

An UPDATE writes a new version of each row, and seldom is there room for it in the page of the old
one: it goes into another page, with a new entry in every index. Where earlier transactions have
left old versions in the page, the new one takes their room, and no index has to know (a heap-only
tuple, HOT). So a span of rows is written in parts, each in a transaction of its own: that takes
half the time, and the table grows by three fifths where it would double. All rows of a tick are in
one part, which puts them in order.
"""

from dataclasses import dataclass, replace
from typing import Any

from ..target import Target
from .statements import Row

PARTS = 4
"""Of a span. More of them save little more, and each has to look at all rows of the span."""

_ALIGNED = 0.5
"""The least correlation of places on the disk with times, at which neighbours meet in a batch."""

_CORRELATION = """
SELECT correlation FROM pg_stats
WHERE to_regclass(quote_ident(schemaname) || '.' || quote_ident(tablename)) = to_regclass(%s)
AND attname = %s
"""
_INDEXES_WITH_COLUMN = """
SELECT count(*) FROM pg_attribute JOIN pg_index ON indrelid = attrelid
WHERE attrelid = to_regclass(%s) AND attname = %s AND (
  attnum = ANY(indkey)
  -- its expressions, and its condition
  OR EXISTS (
    SELECT FROM pg_depend WHERE objid = indexrelid AND refobjid = indrelid AND refobjsubid = attnum
  )
)
"""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of the ticks whose hash, masked, is this value."""

    mask: int
    value: int

    @property
    def halves(self) -> "tuple[Part, Part]":
        bit = self.mask + 1
        return Part(self.mask | bit, self.value), Part(self.mask | bit, self.value | bit)


@dataclass(frozen=True, slots=True)
class Span:
    """Rows between two places, both included, of which some parts are still to be written."""

    first: Row
    last: Row
    size: int
    """How many rows it had in all."""
    left: tuple[Part, ...]
    """In their order; the last one has the last tick as well, whatever its hash."""

    @classmethod
    def whole(cls, first: Row, last: Row, size: int) -> "Span":
        mask = PARTS - 1
        return cls(first, last, size, tuple(Part(mask, value) for value in range(PARTS)))

    @property
    def rows(self) -> int:
        """How many rows the next part has, about."""
        return max(1, self.size // (self.left[0].mask + 1))

    def in_parts_of(self, size: int) -> "Span":
        """With the next part cut in halves until it hardly has more rows than that."""
        span = self
        while 2 * span.rows > 3 * size:
            part, *rest = span.left
            span = replace(span, left=(*part.halves, *rest))
        return span

    @property
    def rest(self) -> "Span | None":
        """Behind the next part."""
        return replace(self, left=self.left[1:]) if self.left[1:] else None


def saves_work(target: Target, connection: Any) -> bool:
    """Whether neighbours in time are neighbours on the disk, and no index has the column."""
    if connection.vendor != "postgresql" or target.source.model is not target.model:
        return False
    table = connection.ops.quote_name(target.model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(_INDEXES_WITH_COLUMN, [table, target.field.column])
        if cursor.fetchone()[0]:
            return False
        cursor.execute(_CORRELATION, [table, target.source.column])
        found = cursor.fetchone()
    return found is None or abs(found[0] or 0.0) >= _ALIGNED
