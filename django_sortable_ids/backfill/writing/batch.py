"""Rows that are given their ids in one transaction, and where a run stands after them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeGuard

from ...schemes import ID, TimeScheme
from ..target import Row, Target
from .minting import Position

PARTS = 4
"""Of a span. More of them save little more, and each has to look at all rows of the span."""


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


@dataclass(frozen=True, slots=True)
class Cursor:
    """A place in the order of (creation time, key), kept as JSON."""

    created: Any
    """The time of a row, or its old id."""
    pk: Any
    position: Position | None
    """None for a sequence, whose counter knows, and where the last rows of a tick are gone."""
    span: Span | None = None
    """What is still to be written in front of the place; its position is where that begins."""

    @property
    def place(self) -> tuple[Any, Any]:
        return self.created, self.pk

    def last(self, scheme: TimeScheme, tick: int) -> tuple[datetime, Any, ID] | None:
        """Place and id of the last row, where it is of that tick."""
        if self.position is None or self.position.tick != tick:
            return None
        return *self.place, scheme.from_trusted(scheme.layout.join(tick, self.position.suffix))

    def dump(self) -> dict[str, Any]:
        position, span = self.position, self.span
        saved = {
            **dump_place(self.place),
            # As text: a suffix of 80 bits is more than other readers of JSON keep.
            "position": position and [str(position.tick), str(position.suffix)],
        }
        if span:
            left = [[part.mask, part.value] for part in span.left]
            saved["span"] = {"first": dump_place(span.first), "size": span.size, "left": left}
        return saved

    @classmethod
    def load(cls, target: Target, saved: dict[str, Any]) -> "Cursor":
        position, place = saved["position"], load_place(target, saved)
        span = None
        if "span" in saved:
            first, size, left = (saved["span"][name] for name in ("first", "size", "left"))
            parts = tuple(Part(*part) for part in left)
            span = Span(load_place(target, first), place, size, parts)
        return cls(*place, position and Position(*map(int, position)), span)


def dump_place(place: Row) -> dict[str, Any]:
    """A place in the order as JSON."""
    created, pk = place
    return {
        "created": created.isoformat() if _is_time(created) else str(created),
        "pk": dump_key(pk),
    }


def load_place(target: Target, saved: dict[str, Any]) -> Row:
    return target.load_place(saved["created"]), load_key(target, saved["pk"])


def dump_key(pk: Any) -> str | list[str]:
    """A primary key as JSON."""
    return [*map(str, pk)] if isinstance(pk, tuple) else str(pk)


def load_key(target: Target, saved: str | list[str]) -> Any:
    if isinstance(saved, str):
        return target.model._meta.pk.to_python(saved)
    fields = target.key_fields
    return tuple(field.to_python(part) for field, part in zip(fields, saved, strict=True))


def _is_time(created: Any) -> TypeGuard[datetime]:
    return isinstance(created, datetime)


@dataclass(frozen=True, slots=True)
class Written:
    filled: int
    """How many rows still had no id."""
    cursor: Cursor | None
    """Where the run stands then; None where it stays."""
    expected: Row | None = None
    """A row that has an id now, unless another transaction has changed it since it was read."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that are given their ids in one transaction."""

    rows: Sequence[Row]
    """Of a batch that the database makes, the first and the last one."""
    size: int
    """How many there are; 0 ends it."""
    write: Callable[[], Written]


NOTHING = Batch([], 0, lambda: Written(0, None))
