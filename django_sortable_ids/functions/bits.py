"""Where the bits of an id's tick and suffix are in its number."""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ..schemes.layout import PLAIN, ByteFractionTemplate, Layout


class Part(Enum):
    TICK = "tick"
    SUFFIX = "suffix"
    FIXED = "fixed"
    """They are the same in every id."""
    RANK = "rank"
    """The first bits of the suffix; the others are random."""
    RANDOM = "random"


Bit = tuple[Part, int]
"""The part that a bit comes from, and its place there; for a fixed bit, its value."""


class Run(NamedTuple):
    """Consecutive bits of a number that are consecutive in the part that they come from, too."""

    part: Part
    low: int
    """The lowest of the bits in the part; for a fixed run, the value of all of them."""
    at: int
    """The lowest of the bits in the number."""
    bits: int

    @property
    def stop(self) -> int:
        return self.at + self.bits


@lru_cache
def bits_of(layout: Layout, size: int) -> tuple[Bit, ...]:
    """Where the bits of a number of ``size`` bits come from, the least significant first.

    The layout has a power of two as its number of suffixes. The ticks of a byte fraction are in the
    number as seconds and a byte. The ticks of a descending layout are there as complements.
    """
    suffix_bits = layout.suffixes.bit_length() - 1
    template, last = layout.template, layout.ticks * layout.suffixes - 1
    if isinstance(template, ByteFractionTemplate):
        last, template = template.wrap(last), PLAIN
    fixed = template.wrap(0)
    bits = [(Part.FIXED, fixed >> place & 1) for place in range(size)]
    for bit in range(last.bit_length()):
        place = (template.wrap(1 << bit) ^ fixed).bit_length() - 1
        of_tick = bit >= suffix_bits
        bits[place] = (Part.TICK, bit - suffix_bits) if of_tick else (Part.SUFFIX, bit)
    return tuple(bits)


def _runs(bits: Iterable[Bit]) -> list[Run]:
    """The bits, the least significant first, as few runs; the most significant comes first."""
    runs: list[Run] = []
    for at, (part, low) in enumerate(bits):
        last = runs[-1] if runs else None
        if last and part is last.part is Part.FIXED:
            runs[-1] = Run(part, last.low | low << last.bits, last.at, last.bits + 1)
        elif last and part is last.part and low == last.low + last.bits:
            runs[-1] = last._replace(bits=last.bits + 1)
        else:
            runs.append(Run(part, low, at, 1))
    return runs[::-1]


DIGIT = 4
"""Bits of a hexadecimal digit."""

WORD = 63
"""Bits of the numbers of a database that are 0 or more."""

_MOST_BITS = 60
"""The most bits of the digits that are written together."""

Group = tuple[int, tuple[Run, ...]]
"""Hexadecimal digits that are written together: how many, and their runs, counted from their own
lowest bit. They are all random or of at most 60 bits."""


@lru_cache
def groups_of_new(layout: Layout, size: int, random_bits: int) -> tuple[tuple[Group, ...], ...]:
    """The digits of a new number of ``size`` bits, from the left. The last ``random_bits`` bits of
    the suffix are random.

    A UUID has two halves, without the digit of its version, bits 76 to 79: the 15 digits before
    and after that, and the 16 that begin with the variant.
    """
    bits: list[Bit] = []
    for part, low in bits_of(layout, size):
        if part is Part.SUFFIX:
            is_random = low < random_bits
            part, low = (Part.RANDOM, low) if is_random else (Part.RANK, low - random_bits)
        bits.append((part, low))
    if layout.template.version is None:
        return (tuple(_groups(bits)),)
    return tuple(_groups(bits[64:76] + bits[80:])), tuple(_groups(bits[:64]))


def _groups(bits: Sequence[Bit]) -> Iterator[Group]:
    """The groups of a number, from the left: it is cut where random digits begin and end, at ends
    of runs that are ends of digits, and where a group would have over 60 bits."""
    cuts = {0, len(bits)}
    for run in _runs(bits):
        first, last = -(-run.at // DIGIT) * DIGIT, run.stop // DIGIT * DIGIT
        if run.part is Part.RANDOM and first < last:
            cuts |= {first, last}
        cuts |= {end for end in (run.at, run.stop) if end % DIGIT == 0}
    for start, stop in pairwise(sorted(cuts)):
        if any(part is not Part.RANDOM for part, _ in bits[start:stop]):
            cuts |= {*range(start + _MOST_BITS, stop, _MOST_BITS)}
    for stop, start in pairwise(sorted(cuts, reverse=True)):
        yield (stop - start) // DIGIT, tuple(_runs(bits[start:stop]))


@lru_cache
def tick_runs(layout: Layout, size: int) -> tuple[Run, ...]:
    """The last 63 bits of the tick in a number of ``size`` bits, the most significant first; each
    run is in at most 15 digits."""
    ticks = [run for run in _runs(bits_of(layout, size)) if run.part is Part.TICK]
    runs: list[Run] = []
    for run in sorted(ticks, key=lambda run: -run.low):
        stop = run.at + max(0, min(run.bits, WORD - run.low))
        # An end of a digit, so that no digit is read twice.
        middle = (run.at + 48) // DIGIT * DIGIT
        ends = [stop, middle, run.at] if stop - run.at > 56 else [stop, run.at]
        for end, at in pairwise(ends):
            if at < end:
                runs.append(Run(run.part, run.low + at - run.at, at, end - at))
    return tuple(runs)


def digits_of(run: Run, size: int) -> range:
    """The hexadecimal digits that hold the bits of the run, counted from 1."""
    return range((size - run.stop) // DIGIT + 1, (size - run.at - 1) // DIGIT + 2)
