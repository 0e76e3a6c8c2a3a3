"""Random numbers of the operating system, drawn many at a time."""

import os
from collections.abc import Callable, Iterator, Sequence
from secrets import randbelow
from struct import unpack

from ..support import ones

BUFFER_BYTES = 1024


def drawn_below(sizes: Sequence[int]) -> list[int]:
    """A random number below each of the sizes, drawn from the operating system all at once.

    Uniform to 1 in 2**64. Takes half the time of numbers drawn one by one.
    """
    if not sizes:
        return []
    width = -(-(max(sizes).bit_length() + 64) // 8)
    drawn, bits = os.urandom(width * len(sizes)), 8 * width
    return [
        int.from_bytes(drawn[start : start + width], "big") * size >> bits
        for start, size in zip(range(0, len(drawn), width), sizes, strict=True)
    ]


class Randomness:
    """Uniform random numbers of a cryptographic source. Not thread-safe: the caller must lock.

    A forked child must not use the rest of the buffer: create a new instance there.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        """``source(n)`` returns n random bytes."""
        self._source = source
        self._buffer = b""
        self._used = 0

    def below(self, n: int) -> int:
        """A uniform random number in ``range(n)``; n is 1 or more."""
        bits = (n - 1).bit_length()
        while True:
            number = self._number(bits)
            if number < n:
                return number

    def steps(self, count: int, bits: int) -> list[int]:
        """``count`` uniform random numbers from 1 to ``2**bits``; ``bits`` is at most 63."""
        # All at once: one long integer has 64 bits for each number.
        all_1 = ones(count, 64)
        drawn = int.from_bytes(self._source(8 * count), "big") & all_1 * ((1 << bits) - 1)
        return list(unpack(f">{count}Q", (drawn + all_1).to_bytes(8 * count, "big")))

    def _number(self, bits: int) -> int:
        size = (bits + 7) // 8
        start = self._used
        self._used = end = start + size
        if end > len(self._buffer):
            self._buffer = self._source(BUFFER_BYTES + size)
            start, self._used = 0, size
            end = size
        return int.from_bytes(self._buffer[start:end], "big") >> (size * 8 - bits)


def spread(
    count: int,
    start: int,
    stop: int,
    *,
    among: int | None = None,
    below: Callable[[int], int] = randbelow,
) -> Iterator[int]:
    """``count`` suffixes in ``range(start, stop)``, strictly increasing.

    The range is cut into ``among`` equal slots, one for each id that the tick still has to take (at
    least ``count``, the default). A random suffix is drawn from each of the first ``count`` slots.
    So a batch may end inside a tick, and the next one continues after its last suffix. The caller
    guarantees at least one suffix per slot.
    """
    slots = count if among is None else among
    size = (stop - start) // slots
    for slot in range(start, start + count * size, size):
        yield slot + below(size)
