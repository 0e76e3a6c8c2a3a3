"""Ids for rows in the order of their creation times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby
from operator import add

from ...schemes import ID, OutOfRange, TimeScheme
from ...schemes.generation.randomness import drawn_below


@dataclass(frozen=True, slots=True)
class Position:
    """Tick and suffix of the last id that was given."""

    tick: int
    suffix: int


def mint(
    scheme: TimeScheme, ticks: Sequence[int], position: Position | None, beyond: int
) -> tuple[list[int], Position]:
    """The number of an id for each of the ``ticks``, at least one, which ascend: greater than the
    one before it and than ``position`` (less, where the scheme is reversed).

    ``beyond`` is how many rows after these share the tick of the last one: room is left for them.
    Raises ``OutOfRange`` where a tick has no room for its rows.
    """
    starts: list[int] = []
    sizes: list[int] = []
    for tick, group in groupby(ticks):
        count = len(list(group))
        start = position.suffix + 1 if position and tick == position.tick else 0
        rows = count + (beyond if len(starts) + count == len(ticks) else 0)
        size = _slot(scheme, tick, start, rows)
        starts += range(start, start + count * size, size)
        sizes += [size] * count
    suffixes = list(map(add, starts, drawn_below(sizes)))
    return scheme.layout.join_each(ticks, suffixes), Position(ticks[-1], suffixes[-1])


def ascending(ticks: Iterable[int], position: Position | None) -> list[int]:
    """The ticks, none before the one in front of it nor before ``position``.

    The order of local times, which clock changes repeat and skip, may not be that of their ticks.
    """
    if position is None:
        return list(accumulate(ticks, max))
    return list(accumulate(ticks, max, initial=position.tick))[1:]


def mint_between(
    scheme: TimeScheme, at: datetime, before: ID | None, behind: ID | None, count: int, rows: int
) -> list[ID]:
    """``count`` ids of the tick of ``at``, between two others of that tick, as far as there are
    any, that leave room for the rest of the ``rows`` there.

    Raises ``OutOfRange`` where there is no room.
    """
    tick = scheme.tick(at)
    start = 0 if before is None else scheme.parts(before)[1] + 1
    stop = scheme.layout.capacity(tick) if behind is None else scheme.parts(behind)[1]
    if stop < start:
        # The application made them, and not in the order of the rows.
        stop = scheme.layout.capacity(tick)
    if rows > stop - start:
        raise OutOfRange(
            f"{rows} more rows share one tick of {scheme.resolution_ns} ns, and {scheme.title} has "
            f"room for {stop - start} between their neighbours"
        )
    # As many rows may still come, whose keys are greater, where there is room for them.
    size = (stop - start) // (2 * rows if 2 * rows <= stop - start else rows)
    starts = range(start, start + count * size, size)
    suffixes = list(map(add, starts, drawn_below([size] * count)))
    return list(scheme.all_from_trusted(scheme.layout.join_all(tick, suffixes)))


def _slot(scheme: TimeScheme, tick: int, start: int, rows: int) -> int:
    """How many suffixes there are for each of the rows, from ``start`` on."""
    stop = scheme.layout.capacity(tick)
    if rows > stop - start:
        raise OutOfRange(
            f"{rows} rows share one tick of {scheme.resolution_ns} ns, and {scheme.title} has room "
            f"for {stop - start} there"
        )
    return (stop - start) // rows
