"""Rows that get their ids in one transaction: the cursor of the run after them, and ids in their
order."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby
from operator import add
from typing import Any

from django.core.exceptions import ValidationError

from ..schemes import ID, OutOfRange, TimeScheme
from ..schemes.clock_and_randomness import drawn_below
from .engines.base import HASHES
from .sources.base import Row
from .sources.target import Target


@dataclass(frozen=True, slots=True)
class Position:
    """Tick and suffix of the last generated id."""

    tick: int
    suffix: int


PARTS = 4
"""Batches in a span, on PostgreSQL. More would save little, and each reads all rows of the span."""


@dataclass(frozen=True, slots=True)
class Span:
    """On PostgreSQL: rows that follow each other, and are written in parts, by the hashes of their
    ticks. The last part includes the last tick, whatever its hash."""

    first: Row
    last: Row
    size: int  # in rows
    start: int = 0
    """The first hash that still has to be written."""

    def end(self, size: int) -> int:
        """The hash where the next part ends, which has about ``size`` rows; up to half more, so
        that no smaller part remains."""
        end = self.start + max(1, HASHES * size // self.size)
        return end if 2 * (HASHES - end) > end - self.start else HASHES


@dataclass(frozen=True, slots=True)
class Cursor:
    """The end of a batch in the order of the run, stored as JSON."""

    row: Row
    """The last row that the run has reached."""
    position: Position | None
    """None for a sequence, which has a counter, and if no row of the last tick is left."""
    span: Span | None = None
    """Rows before that row which still have to be written; ``position`` is where they begin."""

    def last(self, scheme: TimeScheme, tick: int) -> tuple[Any, Any, ID] | None:
        """Place, key and id of the last row, if it is of that tick."""
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
            first = dump_row(span.first)
            saved["span"] = {"first": first, "size": span.size, "start": span.start}
        return saved

    @classmethod
    def load(cls, target: Target, saved: dict[str, Any] | None) -> "Cursor | None":
        """None before the first batch, and if its row can't be found after a move of the key."""
        if not saved:
            return None
        position, span = saved["position"] and Position(*map(int, saved["position"])), None
        with suppress(ValidationError, ValueError):
            row = load_row(target, saved)
            if "span" in saved:
                first, size, start = (saved["span"][name] for name in ("first", "size", "start"))
                span = Span(load_row(target, first), row, size, start)
            return cls(row, position, span)
        if not position:
            return None
        # Its key is another now: it is the row with its id.
        last_id = target.scheme.layout.join(position.tick, position.suffix)
        value = {target.field.name: target.scheme.from_trusted(last_id)}
        last_row = target.first(target.rows.filter(**value))
        return last_row and cls(last_row, position)


def dump_row(row: Row) -> dict[str, Any]:
    place, pk = row
    key = list(map(_dumped, pk)) if isinstance(pk, tuple) else _dumped(pk)
    return {"created": _dumped(place), "pk": key}


def _dumped(value: Any) -> str:
    """The text that ``to_python`` of the field reads: base64 for a ``BinaryField``."""
    if isinstance(value, bytes | memoryview):
        return b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else str(value)


def load_row(target: Target, saved: dict[str, Any]) -> Row:
    pk = saved["pk"]
    if isinstance(pk, str):
        key = target.model._meta.pk.to_python(pk)
    else:
        pairs = zip(target.model._meta.pk_fields, pk, strict=True)
        key = tuple(field.to_python(part) for field, part in pairs)
    return target.source.load_place(saved["created"]), key


@dataclass(frozen=True, slots=True)
class Written:
    filled: int
    cursor: Cursor | None
    """The new cursor of the run; None if it doesn't change."""
    must_have_id: Row | None = None
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


class RowLeftEmpty(Exception):
    """An UPDATE has left a row without an id on which the next batch depends: it is rolled back."""


class TickFull(OutOfRange):
    """A tick has no room for its rows."""

    def __init__(self, message: str, last: int) -> None:
        super().__init__(message)
        self.last = last
        """The number of its last row, from 0."""


def mint(
    scheme: TimeScheme, ticks: Sequence[int], position: Position | None, more_in_tick: int
) -> tuple[list[int], Position]:
    """An id, as a number, for each of the ascending ``ticks`` (at least one). Each is greater than
    the one before it and than ``position``; less, if the scheme is descending.

    ``more_in_tick`` later rows share the last tick; room is left for them. Raises ``TickFull`` if
    a tick has no room for its rows. Returns the position of the last id as well.
    """
    layout = scheme.layout
    starts: list[int] = []
    """The first payload of each slot."""
    sizes: list[int] = []
    later = len(ticks)
    for tick, group in groupby(ticks):
        count = len(list(group))
        resumes = position if position and tick == position.tick else None
        start = layout.new_below(resumes.suffix + 1) if resumes else 0
        later -= count
        rows, room = count if later else count + more_in_tick, layout.new.capacity(tick) - start
        if rows > room:
            raise TickFull(
                f"{rows} rows share one tick of {scheme.tick_ns} ns, and {scheme.title} has "
                f"room for {room} there",
                len(starts) + count - 1,
            )
        size = room // rows
        first = tick * layout.new.suffixes + start
        starts += range(first, first + count * size, size)
        sizes += [size] * count
    numbers = layout.new.join_payloads(list(map(add, starts, drawn_below(sizes))))
    last = layout.split(numbers[-1])
    assert last is not None
    return numbers, Position(*last)


def mint_between(
    scheme: TimeScheme,
    at: datetime,
    before: Sequence[ID],
    after: Sequence[ID],
    last: ID | None,
    count: int,
    rows: int,
) -> list[ID]:
    """``count`` ids of the tick of ``at``, between the ids of their neighbours in the same tick.

    ``before`` and ``after`` are the ids of rows that come before and after the new ones. They may
    contradict each other, if the application generated them or the time of a row was edited: the
    new ids go into the gap that contradicts the fewest. All new ids are smaller than ``last``.
    ``rows`` need ids in the gap, these ``count`` among them, and each finds room.

    Raises ``OutOfRange`` if there is no room.
    """
    tick, layout = scheme.tick(at), scheme.layout
    limit = None if last is None else scheme.parts(last)[1]
    around = [(scheme.parts(value)[1], -1) for value in before]
    around += [(scheme.parts(value)[1], 1) for value in after]
    sides = sorted(neighbour for neighbour in around if limit is None or neighbour[0] < limit)
    end = layout.new.capacity(tick) if limit is None else layout.new_below(limit)
    first = [0, *(layout.new_below(suffix + 1) for suffix, _ in sides)]
    ends = [*(layout.new_below(suffix) for suffix, _ in sides), end]
    contradicted = accumulate((side for _, side in sides), initial=0)

    def preference(gap: tuple[int, int, int]) -> tuple[int, bool, int]:
        contradictions, start, stop = gap
        return -contradictions, stop - start >= rows, start

    _, start, stop = max(zip(contradicted, first, ends, strict=True), key=preference)
    if rows > stop - start:
        raise OutOfRange(
            f"{rows} more rows share one tick of {scheme.tick_ns} ns, and {scheme.title} has "
            f"room for {stop - start} between their neighbours"
        )
    # If possible, leave room for as many rows with greater keys that may be inserted later.
    size = (stop - start) // (2 * rows if 2 * rows <= stop - start else rows)
    starts = range(start, start + count * size, size)
    suffixes = list(map(add, starts, drawn_below([size] * count)))
    return list(scheme.all_from_trusted(layout.new.joiner.join_all(tick, suffixes)))
