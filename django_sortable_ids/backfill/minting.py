"""Ids for rows in the order of their creation times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate, groupby

from ..schemes import ID, OutOfRange, TimeScheme
from ..schemes.spread import spread


@dataclass(frozen=True, slots=True)
class Position:
    """Tick and tail of the last id that was given."""

    tick: int
    tail: int


def mint(
    scheme: TimeScheme, times: Sequence[datetime], position: Position | None, beyond: int
) -> tuple[list[ID], Position]:
    """An id for each of the aware ``times``, which ascend: of its tick, greater than the one before
    it and than ``position`` (less, where the scheme is reversed).

    ``beyond`` is how many rows after these share the tick of the last one: room is left for them.
    Raises ``OutOfRange`` where a tick has no room for its rows, or the scheme for the time.
    """
    last = position or Position(-1, -1)
    numbers: list[int] = []
    for tick, group in groupby(times, key=scheme.tick):
        count = len(list(group))
        start = last.tail + 1 if tick == last.tick else 0
        rows = count + (beyond if len(numbers) + count == len(times) else 0)
        last = _fill(scheme, tick, start, count, rows, numbers)
    return list(scheme.all_from_trusted(numbers)), last


def ascending(
    scheme: TimeScheme, times: Iterable[datetime], position: Position | None
) -> list[datetime]:
    """The aware ``times``, none before the one in front of it nor before ``position``.

    The order of local times, which clock changes repeat and skip, may not be that of their ticks.
    """
    # Times of one zone would be compared as its clocks show them.
    times = (at.astimezone(UTC) for at in times)
    if position is None:
        return list(accumulate(times, max))
    last = scheme.created_at(scheme.from_trusted(scheme.layout.join(position.tick, 0)))
    return list(accumulate(times, max, initial=last))[1:]


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
    tails = list(spread(count, start, stop, among=rows))
    return list(scheme.all_from_trusted(scheme.layout.join_all(tick, tails)))


def _fill(
    scheme: TimeScheme, tick: int, start: int, count: int, rows: int, numbers: list[int]
) -> Position:
    stop = scheme.layout.capacity(tick)
    if rows > stop - start:
        raise OutOfRange(
            f"{rows} rows share one tick of {scheme.resolution_ns} ns, and {scheme.title} has room "
            f"for {stop - start} there"
        )
    tails = list(spread(count, start, stop, among=rows))
    numbers += scheme.layout.join_all(tick, tails)
    return Position(tick, tails[-1])
