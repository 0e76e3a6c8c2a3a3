"""Random numbers of the operating system, fetched many at a time."""

import os
from collections.abc import Callable, Iterator, Sequence
from secrets import randbelow
from struct import unpack

from ..support import ones

BUFFER_BYTES = 1024


def drawn_below(sizes: Sequence[int]) -> list[int]:
    """A number below each of the sizes, drawn from the operating system all at once.

    As likely as each other to 1 in 2**64, which takes half the time of numbers drawn one by one.
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
    """Uniform random numbers of a cryptographic source. The caller guards it against threads.

    What is left in the buffer must not be used in a forked child: make a new one there.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        """``source(n)`` gives n random bytes."""
        self._source = source
        self._buffer = b""
        self._used = 0

    def below(self, n: int) -> int:
        """A number in ``range(n)``, each as likely as any other; n is 1 or more."""
        bits = (n - 1).bit_length()
        while True:
            number = self._number(bits)
            if number < n:
                return number

    def steps(self, count: int, bits: int) -> list[int]:
        """``count`` numbers from 1 to ``2**bits``, each as likely; ``bits`` is 63 at the most."""
        # All of them at once: 64 bits of a long integer for each.
        each = ones(count, 64)
        lanes = int.from_bytes(self._source(8 * count), "big") & each * ((1 << bits) - 1)
        return list(unpack(f">{count}Q", (lanes + each).to_bytes(8 * count, "big")))

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

    The range is cut into ``among`` equal slots, one for each id that the tick still has to take
    (at least ``count``, the default), and a suffix is drawn at random from each of the first
    ``count`` slots. So a batch may end inside a tick, and the next one goes on behind its last
    suffix. The caller guarantees at least one suffix a slot.
    """
    slots = count if among is None else among
    size = (stop - start) // slots
    for slot in range(start, start + count * size, size):
        yield slot + below(size)
