"""The layout of a time-ordered id: how its number is composed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from .bit_templates import PLAIN, BitTemplate, SetBitTemplate


class SuffixPart(NamedTuple):
    """What the definition of a format calls a part of the suffix, for people who read an id."""

    name: str
    """Such as ``"node"``."""
    size: int
    """How many values it has; the product of all sizes is ``Layout.suffixes``."""
    role: Literal["worker", "sequence", "random"] = "random"
    """What it is for: it tells machines apart, it counts, or neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Ticks since the epoch, then a suffix; a bit template adds the fixed bits last::

        number = template.wrap(tick * suffixes + suffix)

    The parts are bit fields if ``suffixes`` is a power of two, and groups of decimal digits if it
    is a power of ten. Nothing else differs between the two. The suffix is random, or a worker
    number followed by a sequence number::

        suffix = worker * (suffixes // workers) + sequence

    or, with ``worker_last``, the reverse::

        suffix = sequence * workers + worker
    """

    ticks: int
    """How many ticks there are, numbered from 0 to ``ticks - 1``."""
    suffixes: int
    """How many ids fit into one tick."""
    template: BitTemplate = PLAIN
    workers: int | None = None
    """How many worker numbers there are; None: the whole suffix is random."""
    worker_last: bool = False
    """The worker number comes after the sequence number."""
    descending: bool = False
    """The newest id is the smallest: the payload is subtracted from the largest one."""
    smallest: int = 0
    """The smallest payload; above 0 if ids need a fixed number of digits."""
    largest: int | None = None
    """The largest payload, if it is less than ticks and suffixes allow."""

    set_bit: int | None = None
    """This bit of the suffix is 1 in new ids; ids without it are valid, too."""

    @property
    def new(self) -> "Layout":
        """The layout of new ids: this one without the suffixes that lack ``set_bit``."""
        return self if self.set_bit is None else _of_new_ids(self)

    def new_below(self, suffix: int) -> int:
        """How many suffixes of new ids are below ``suffix``."""
        if self.set_bit is None:
            return suffix
        half = 1 << self.set_bit
        above, below = divmod(suffix, 2 * half)
        return above * half + max(below - half, 0)

    @property
    def last(self) -> int:
        """The largest payload."""
        return self.ticks * self.suffixes - 1 if self.largest is None else self.largest

    @property
    def first_tick(self) -> int:
        return -(-self.smallest // self.suffixes)

    @property
    def last_tick(self) -> int:
        return self.last // self.suffixes

    def capacity(self, tick: int) -> int:
        """How many ids fit into the tick: ``suffixes``, or fewer if ``largest`` cuts the tick."""
        return min(self.suffixes, self.last + 1 - tick * self.suffixes)

    def suffixes_of(self, worker: int) -> range:
        """The suffixes of a worker, in the order of their sequence numbers.

        Raises ``ValueError`` if the layout has no such worker number.
        """
        if self.workers is None:
            raise ValueError(f"worker number {worker}: this layout has no worker numbers")
        if not 0 <= worker < self.workers:
            raise ValueError(f"worker number {worker}: expected 0 to {self.workers - 1}")
        if self.worker_last:
            return range(worker, self.suffixes, self.workers)
        size = self.suffixes // self.workers
        return range(worker * size, (worker + 1) * size)

    def join(self, tick: int, suffix: int) -> int:
        """The number of a tick and a suffix, which must be within their bounds."""
        payload = tick * self.suffixes + suffix
        return self.template.wrap(self.last - payload if self.descending else payload)

    def join_all(self, tick: int, suffixes: Sequence[int]) -> list[int]:
        """``join`` for many suffixes of one tick."""
        first = self.join(tick, 0)
        if self.descending:
            return [first - suffix for suffix in suffixes]
        bits = self.template.run_bits
        if bits == 0:
            return [self.join(tick, suffix) for suffix in suffixes]
        if bits is None or self.suffixes <= 1 << bits:
            return [first + suffix for suffix in suffixes]
        gap = self.join(tick, 1 << bits) - first - (1 << bits)
        return [first + suffix + (suffix >> bits) * gap for suffix in suffixes]

    def join_each(self, ticks: Sequence[int], suffixes: Sequence[int]) -> list[int]:
        """``join`` for pairs of a tick and a suffix."""
        size = self.suffixes
        return self.join_payloads(
            [tick * size + suffix for tick, suffix in zip(ticks, suffixes, strict=True)]
        )

    def join_payloads(self, payloads: list[int]) -> list[int]:
        """``join`` for pairs of a tick and a suffix, each given as tick * suffixes + suffix."""
        if self.descending:
            last = self.last
            payloads = [last - payload for payload in payloads]
        return self.template.wrap_all(payloads)

    def split(self, number: int) -> tuple[int, int] | None:
        """Tick and suffix of a number; None if it does not belong to this layout."""
        payload = self.template.unwrap(number)
        if payload is None or not self.smallest <= payload <= self.last:
            return None
        return divmod(self.last - payload if self.descending else payload, self.suffixes)

    def between(self, first_tick: int, last_tick: int) -> tuple[int, int]:
        """The smallest and the largest number from the first to the last tick, both included."""
        oldest = self.join(first_tick, 0)
        newest = self.join(last_tick, self.capacity(last_tick) - 1)
        return (newest, oldest) if self.descending else (oldest, newest)


@lru_cache
def _of_new_ids(layout: Layout) -> Layout:
    assert layout.set_bit is not None
    template = SetBitTemplate(layout.template, layout.set_bit)
    return replace(layout, suffixes=layout.suffixes // 2, template=template, set_bit=None)
