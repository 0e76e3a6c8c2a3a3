"""Rows that get their ids in one transaction, and the cursor of the run after them."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ...schemes import ID, TimeScheme
from ..sources.base import Row
from ..sources.target import Target
from .minting import Position

PARTS = 4
"""Parts of a span. More parts save little, and each one reads all rows of the span."""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of the ticks whose hash & ``mask`` is ``value``."""

    mask: int
    value: int


@dataclass(frozen=True, slots=True)
class Span:
    """The rows between two, both included, some parts of which still have to be written."""

    first: Row
    last: Row
    size: int
    """Number of rows of the whole span."""
    left: tuple[Part, ...]
    """The parts to write, in order. The last one includes the last tick, whatever its hash."""

    @classmethod
    def whole(cls, first: Row, last: Row, size: int) -> "Span":
        mask = PARTS - 1
        return cls(first, last, size, tuple(Part(mask, value) for value in range(PARTS)))

    @property
    def rows(self) -> int:
        """The approximate number of rows of the next part."""
        return max(1, self.size // (self.left[0].mask + 1))

    def in_parts_of(self, size: int) -> "Span":
        """With the next part halved until it has at most 3/2 of ``size`` rows, about."""
        span = self
        while 2 * span.rows > 3 * size:
            part, *rest = span.left
            bit = part.mask + 1
            halves = (Part(part.mask | bit, value) for value in (part.value, part.value | bit))
            span = replace(span, left=(*halves, *rest))
        return span

    @property
    def rest(self) -> "Span | None":
        """The span without its next part; None if it was the last one."""
        return replace(self, left=self.left[1:]) if self.left[1:] else None


@dataclass(frozen=True, slots=True)
class Cursor:
    """The end of a batch in the order of the run, stored as JSON."""

    row: Row
    """The last row that the run has reached."""
    position: Position | None
    """None for a sequence, which has a counter, and if the last rows of a tick are gone."""
    span: Span | None = None
    """Rows before that row which still have to be written; ``position`` is where they begin."""

    def last(self, scheme: TimeScheme, tick: int) -> tuple[datetime, Any, ID] | None:
        """Place and id of the last row, if it is of that tick."""
        if self.position is None or self.position.tick != tick:
            return None
        return *self.row, scheme.from_trusted(scheme.layout.join(tick, self.position.suffix))

    def dump(self) -> dict[str, Any]:
        position, span = self.position, self.span
        saved = {
            **dump_row(self.row),
            # As text: many JSON parsers lose digits of an 80-bit suffix.
            "position": position and [str(position.tick), str(position.suffix)],
        }
        if span:
            left = [[part.mask, part.value] for part in span.left]
            saved["span"] = {"first": dump_row(span.first), "size": span.size, "left": left}
        return saved

    @classmethod
    def load(cls, target: Target, saved: dict[str, Any]) -> "Cursor":
        position, row = saved["position"], load_row(target, saved)
        span = None
        if "span" in saved:
            first, size, left = (saved["span"][name] for name in ("first", "size", "left"))
            parts = tuple(Part(*part) for part in left)
            span = Span(load_row(target, first), row, size, parts)
        return cls(row, position and Position(*map(int, position)), span)


def dump_row(row: Row) -> dict[str, Any]:
    place, pk = row
    # What to_python of the field reads: of a BinaryField, base64.
    texts = [
        b64encode(part).decode() if isinstance(part, bytes | memoryview) else str(part)
        for part in (pk if isinstance(pk, tuple) else [pk])
    ]
    return {
        "created": place.isoformat() if isinstance(place, datetime) else str(place),
        "pk": texts if isinstance(pk, tuple) else texts[0],
    }


def load_row(target: Target, saved: dict[str, Any]) -> Row:
    pk = saved["pk"]
    if isinstance(pk, str):
        key = target.model._meta.pk.to_python(pk)
    else:
        pairs = zip(target.key_fields, pk, strict=True)
        key = tuple(field.to_python(part) for field, part in pairs)
    return target.source.load_place(saved["created"]), key


@dataclass(frozen=True, slots=True)
class Written:
    filled: int
    """Number of rows that got an id."""
    cursor: Cursor | None
    """The new cursor of the run; None if it doesn't change."""
    expected: Row | None = None
    """A row that must have an id now, unless another transaction has changed it since the read."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that get their ids in one transaction."""

    rows: Sequence[Row]
    """All rows, or the first and the last one if the database computes the ids."""
    size: int
    """Number of rows; 0 ends the run."""
    write: Callable[[], Written]


NOTHING = Batch([], 0, lambda: Written(0, None))
