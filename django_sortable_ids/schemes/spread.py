"""Tails for ids that share a tick: strictly increasing, yet not to be guessed."""

from collections.abc import Callable, Iterator
from secrets import randbelow


def spread(
    count: int,
    start: int,
    stop: int,
    *,
    among: int | None = None,
    below: Callable[[int], int] = randbelow,
) -> Iterator[int]:
    """``count`` tails in ``range(start, stop)``, strictly increasing.

    The range is cut into ``among`` equal slots, one for each id that the tick still has to take
    (at least ``count``, the default), and a tail is drawn at random from each of the first
    ``count`` slots. So a batch may end inside a tick, and the next one goes on behind its last
    tail. The caller guarantees at least one tail a slot.
    """
    slots = count if among is None else among
    size = (stop - start) // slots
    for slot in range(start, start + count * size, size):
        yield slot + below(size)
