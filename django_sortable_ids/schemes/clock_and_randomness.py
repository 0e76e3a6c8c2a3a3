"""The time and the random numbers of id generators, and their rules if the clock goes back."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from struct import unpack
from typing import Literal, NamedTuple, get_args

from .support import ones

UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Policy = Literal["advance", "wait", "raise"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


class RollbackRule(NamedTuple):
    """What a generator does while its clock is more than ``limit_ns`` before its latest time.

    ``"advance"`` continues after the last id: new ids are of the last tick and, as it fills, of
    later ticks. ``"wait"`` blocks the thread, and others that need ids, until the clock is within
    the limit. ``"raise"`` raises ``ClockRollback`` until then. Smaller steps back are always
    handled as by ``"advance"``.
    """

    policy: Policy = "advance"
    limit_ns: int = 10_000_000_000


def system_ns() -> int:
    """Unix time of the system in ns, even if a test shows another time."""
    freezegun = sys.modules.get("freezegun.api")
    time_machine = sys.modules.get("time_machine")
    if time_machine and time_machine.escape_hatch.is_travelling():
        return int(time_machine.escape_hatch.time.time_ns())
    return int(freezegun.real_time_ns()) if freezegun else time.time_ns()


def is_travelling() -> bool:
    """Whether freezegun or time-machine shows a time other than the system's."""
    freezegun = sys.modules.get("freezegun.api")
    time_machine = sys.modules.get("time_machine")
    return bool(freezegun and freezegun.freeze_factories) or bool(
        time_machine and time_machine.escape_hatch.is_travelling()
    )


def unix_ns(at: datetime) -> int:
    """Unix time in ns of an aware time; ``ValueError`` for a naive one, ``TypeError`` for none."""
    if not isinstance(at, datetime):
        raise TypeError(f"expected an aware datetime, found {type(at).__name__}: {at!r}")
    if at.utcoffset() is None:
        raise ValueError(
            f"{at.isoformat()} is a naive time; give an aware one, such as "
            f"datetime(2026, 1, 1, tzinfo=timezone.utc)"
        )
    # The base class subtracts: pendulum and pandas have differences of their own.
    return datetime.__sub__(at, UNIX_EPOCH) // MICROSECOND * 1000


class Sources(NamedTuple):
    """Where a generator gets its time and its random numbers."""

    clock: Callable[[], int] | None = None
    """Unix time in ns; None: ``time.time_ns``."""
    below: Callable[[int], int] | None = None
    """``below(n)`` is in ``range(n)``. None: each generator has its own ``Randomness``."""
    sleep: Callable[[float], None] = time.sleep
    travels: Callable[[], bool] = is_travelling
    """Whether the clock is a test's."""


# Random numbers

AT_ONCE = 128
"""How many words of 64 bits are drawn at once."""


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

    A forked child must not use the numbers that are left: create a new instance there.
    """

    def __init__(self, source: Callable[[int], bytes] = os.urandom) -> None:
        """``source(n)`` returns n random bytes."""
        self._source = source
        self._words: list[int] = []
        """Random numbers of 64 bits that no call has used."""
        self._below, self._further_words, self._unused_bits = 0, range(0), 0

    def below(self, n: int) -> int:
        """A uniform random number in ``range(n)``; n is 1 or more, mostly that of the last call."""
        if n != self._below:
            further_words, last_bit = divmod(max(n - 1, 1).bit_length() - 1, 64)
            self._below, self._further_words = n, range(further_words)
            self._unused_bits = 63 - last_bit
        while True:
            try:
                number = self._words.pop()
                if self._further_words:  # in less time than a loop over none
                    for _ in self._further_words:
                        number = number << 64 | self._words.pop()
            except IndexError:
                self._words = memoryview(self._source(8 * AT_ONCE)).cast("Q").tolist()
                continue
            if (number := number >> self._unused_bits) < n:
                return number

    def steps(self, count: int, bits: int) -> list[int]:
        """``count`` uniform random numbers from 1 to ``2**bits``; ``bits`` is at most 63."""
        # All at once: one long integer has 64 bits for each number.
        all_1 = ones(count, 64)
        drawn = int.from_bytes(self._source(8 * count), "big") & all_1 * ((1 << bits) - 1)
        return list(unpack(f">{count}Q", (drawn + all_1).to_bytes(8 * count, "big")))
