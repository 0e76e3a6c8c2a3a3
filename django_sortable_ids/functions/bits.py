"""Where the bits of an id's tick and suffix are in its number."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from itertools import pairwise

from ..schemes.layout import PLAIN, ByteFractionTemplate, Layout


class Part(Enum):
    """Where bits come from."""

    TICK = "tick"
    SUFFIX = "suffix"
    FIXED = "fixed"
    """They are the same in every id."""
    RANK = "rank"
    """The first bits of the suffix; the others are random."""
    RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive bits of a number that are consecutive in the part that they come from, too."""

    part: Part
    low: int
    """The lowest of the bits in the part; of a fixed run, the value of all of them."""
    at: int
    """The lowest of the bits in the number."""
    bits: int

    @property
    def stop(self) -> int:
        return self.at + self.bits

    def between(self, start: int, stop: int) -> "Run | None":
        """The bits of the run from ``start`` to ``stop`` (excluded) of the number, if any."""
        first, last = max(self.at, start), min(self.stop, stop)
        if first >= last:
            return None
        skipped = first - self.at
        if self.part is Part.FIXED:
            low = self.low >> skipped & ((1 << last - first) - 1)
        else:
            low = self.low + skipped
        return replace(self, low=low, at=first, bits=last - first)


@lru_cache
def runs(layout: Layout, size: int) -> tuple[Run, ...]:
    """The runs of a number of ``size`` bits, the most significant first.

    The layout has a power of two as its number of suffixes. The ticks of a byte fraction are in the
    number as seconds and a byte. Those of a descending layout are its complements.
    """
    suffix_bits = layout.suffixes.bit_length() - 1
    template, last = layout.template, layout.ticks * layout.suffixes - 1
    if isinstance(template, ByteFractionTemplate):
        last, template = template.wrap(last), PLAIN
    fixed = template.wrap(0)
    found: dict[int, tuple[Part, int]] = {}
    for bit in range(last.bit_length()):
        place = (template.wrap(1 << bit) ^ fixed).bit_length() - 1
        of_tick = bit >= suffix_bits
        found[place] = (Part.TICK, bit - suffix_bits) if of_tick else (Part.SUFFIX, bit)
    single = (
        Run(*found.get(place, (Part.FIXED, fixed >> place & 1)), at=place, bits=1)
        for place in reversed(range(size))
    )
    return tuple(_merged(single))


def _merged(pieces: Iterable[Run]) -> Iterator[Run]:
    """The same bits in as few runs as possible; the most significant come first."""
    last: Run | None = None
    for run in pieces:
        if last and last.part is run.part and last.at == run.stop:
            if run.part is Part.FIXED:
                last = replace(
                    last, low=last.low << run.bits | run.low, at=run.at, bits=last.bits + run.bits
                )
                continue
            if last.low == run.low + run.bits:
                last = replace(run, bits=last.bits + run.bits)
                continue
        if last:
            yield last
        last = run
    if last:
        yield last


def _drawn(pieces: Iterable[Run], random_bits: int) -> Iterator[Run]:
    """The runs with the suffix divided into its rank and its last ``random_bits`` bits."""
    for run in pieces:
        if run.part is not Part.SUFFIX:
            yield run
            continue
        border = run.at + max(0, min(run.bits, random_bits - run.low))
        if high := run.between(border, run.stop):
            yield replace(high, part=Part.RANK, low=high.low - random_bits)
        if low := run.between(run.at, border):
            yield replace(low, part=Part.RANDOM)


DIGIT = 4
"""Bits of a hexadecimal digit."""

WORD = 63
"""Bits of the numbers of a database that are 0 or more."""

_MOST_BITS = 60
"""Those of the digits that are written together."""

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
    number = list(_drawn(runs(layout, size), random_bits))
    if layout.template.version is None:
        return (tuple(_groups(number, size)),)
    high = [part for run in number if (part := run.between(80, 128))]
    middle = [part for run in number if (part := run.between(64, 76))]
    first = _merged(
        [
            *(replace(run, at=run.at - 68) for run in high),
            *(replace(run, at=run.at - 64) for run in middle),
        ]
    )
    rest = [part for run in number if (part := run.between(0, 64))]
    return tuple(_groups(first, 60)), tuple(_groups(rest, 64))


def _groups(pieces: Iterable[Run], size: int) -> Iterator[Group]:
    """The groups of a number of ``size`` bits, from the left: it is cut where random digits begin
    and end, at ends of runs that are ends of digits, and where a group would have over 60 bits."""
    pieces = list(pieces)
    cuts = {0, size}
    for run in pieces:
        first, last = -(-run.at // DIGIT) * DIGIT, run.stop // DIGIT * DIGIT
        if run.part is Part.RANDOM and first < last:
            cuts |= {first, last}
        cuts |= {end for end in (run.at, run.stop) if end % DIGIT == 0}
    for start, stop in pairwise(sorted(cuts)):
        inside = [each for run in pieces if (each := run.between(start, stop))]
        if any(run.part is not Part.RANDOM for run in inside):
            cuts |= {*range(start + _MOST_BITS, stop, _MOST_BITS)}
    for stop, start in pairwise(sorted(cuts, reverse=True)):
        inside = [each for run in pieces if (each := run.between(start, stop))]
        yield (stop - start) // DIGIT, tuple(replace(run, at=run.at - start) for run in inside)


@lru_cache
def tick_runs(layout: Layout, size: int) -> tuple[Run, ...]:
    """The last 63 bits of the tick in a number of ``size`` bits, the most significant first; each
    run is in at most 15 digits."""
    ticks = [run for run in runs(layout, size) if run.part is Part.TICK]
    found: list[Run] = []
    for run in sorted(ticks, key=lambda run: -run.low):
        stop = run.at + max(0, min(run.bits, WORD - run.low))
        # An end of a digit, so that no digit is read twice.
        middle = (run.at + 48) // DIGIT * DIGIT
        ends = [stop, middle, run.at] if stop - run.at > 56 else [stop, run.at]
        found += [part for stop, at in pairwise(ends) if (part := run.between(at, stop))]
    return tuple(found)


def digits_of(run: Run, size: int) -> range:
    """The hexadecimal digits that hold the bits of the run, counted from 1."""
    return range((size - run.stop) // DIGIT + 1, (size - run.at - 1) // DIGIT + 2)
