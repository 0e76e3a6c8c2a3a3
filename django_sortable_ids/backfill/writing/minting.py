"""Ids for rows in the order of their creation times."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby
from operator import add, itemgetter

from ...schemes import ID, OutOfRange, TimeScheme
from ...schemes.generation.randomness import drawn_below


@dataclass(frozen=True, slots=True)
class Position:
    """Tick and suffix of the last generated id."""

    tick: int
    suffix: int


def mint(
    scheme: TimeScheme, ticks: Sequence[int], position: Position | None, more: int
) -> tuple[list[int], Position]:
    """An id, as a number, for each of the ascending ``ticks`` (at least one). Each is greater than
    the one before it and than ``position``; less, if the scheme is descending.

    ``more``: how many later rows share the last tick; room is left for them. Raises ``OutOfRange``
    if a tick has no room for its rows. Returns the position of the last id as well.
    """
    counted = [(tick, len(list(group))) for tick, group in groupby(ticks)]
    return mint_counted(scheme, counted, position, more)


def mint_counted(
    scheme: TimeScheme, counted: Sequence[tuple[int, int]], position: Position | None, more: int
) -> tuple[list[int], Position]:
    """``mint`` for ascending ticks that are different, each with the number of its rows."""
    layout = scheme.layout
    starts: list[int] = []
    """Of the slots, as payloads."""
    sizes: list[int] = []
    rest = sum(count for _, count in counted)
    for tick, count in counted:
        resumes = position if position and tick == position.tick else None
        start = layout.new_below(resumes.suffix + 1) if resumes else 0
        rest -= count
        rows, room = count if rest else count + more, layout.new.capacity(tick) - start
        if rows > room:
            raise OutOfRange(
                f"{rows} rows share one tick of {scheme.tick_ns} ns, and {scheme.title} has "
                f"room for {room} there"
            )
        size = room // rows
        first = tick * layout.new.suffixes + start
        starts += range(first, first + count * size, size)
        sizes += [size] * count
    numbers = layout.new.join_payloads(list(map(add, starts, drawn_below(sizes))))
    last = layout.split(numbers[-1])
    assert last is not None
    return numbers, Position(*last)


def ascending(ticks: Iterable[int], position: Position | None) -> list[int]:
    """The ticks, each raised to at least the previous one and the tick of ``position``.

    Ticks of ordered local times may descend, since clock changes repeat and skip hours.
    """
    if position is None:
        return list(accumulate(ticks, max))
    return list(accumulate(ticks, max, initial=position.tick))[1:]


def ascending_counts(
    counted: Iterable[tuple[int, int]], position: Position | None
) -> list[tuple[int, int]]:
    """``ascending`` for ticks with the number of their rows; those of one tick are added."""
    ticks, counts = zip(*counted, strict=True)
    raised = zip(ascending(ticks, position), counts, strict=True)
    return [
        (tick, sum(count for _, count in same)) for tick, same in groupby(raised, key=itemgetter(0))
    ]


def mint_between(
    scheme: TimeScheme,
    at: datetime,
    before: Sequence[ID],
    after: Sequence[ID],
    last: ID | None,
    count: int,
    rows: int,
) -> list[ID]:
    """``count`` ids of the tick of ``at``, between those of their neighbours in the same tick.

    ``before`` are the ids of rows that come before the new ones, ``after`` those of rows that come
    after them. These may contradict each other, if the application generated them or the time of a
    row was edited: the gap is taken that contradicts the fewest. All new ids are smaller than
    ``last``. ``rows`` need ids in the gap, these ``count`` among them, and each finds room.

    Raises ``OutOfRange`` if there is no room.
    """
    tick, layout = scheme.tick(at), scheme.layout
    limit = None if last is None else scheme.parts(last)[1]
    around = [(scheme.parts(value)[1], -1) for value in before]
    around += [(scheme.parts(value)[1], 1) for value in after]
    sides = sorted(each for each in around if limit is None or each[0] < limit)
    end = layout.new.capacity(tick) if limit is None else layout.new_below(limit)
    first = [0, *(layout.new_below(suffix + 1) for suffix, _ in sides)]
    ends = [*(layout.new_below(suffix) for suffix, _ in sides), end]
    contradicted = accumulate((side for _, side in sides), initial=0)
    *_, start, stop = max(
        (-contradictions, stop - start >= rows, start, stop)
        for contradictions, start, stop in zip(contradicted, first, ends, strict=True)
    )
    if rows > stop - start:
        raise OutOfRange(
            f"{rows} more rows share one tick of {scheme.tick_ns} ns, and {scheme.title} has "
            f"room for {stop - start} between their neighbours"
        )
    # If possible, leave room for as many rows with greater keys that may be inserted later.
    size = (stop - start) // (2 * rows if 2 * rows <= stop - start else rows)
    starts = range(start, start + count * size, size)
    suffixes = list(map(add, starts, drawn_below([size] * count)))
    return list(scheme.all_from_trusted(layout.new.join_all(tick, suffixes)))
