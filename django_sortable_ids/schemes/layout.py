"""What the number of a time-ordered id is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

from .bit_templates import PLAIN, Frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Ticks since the epoch in front, a tail behind, fixed bits put in last::

        number = frame.wrap(tick * tails + tail)

    With ``tails`` a power of two this is a bit field, with a power of ten a group of decimal
    digits; nothing else tells these shapes apart. The tail is random, or it is a worker number
    followed by a sequence number::

        tail = worker * (tails // workers) + sequence

    or, with ``worker_last``, the other way round::

        tail = sequence * workers + worker
    """

    ticks: int
    """How many ticks there are: they are numbered from 0 to ``ticks - 1``."""
    tails: int
    """How many ids fit in one tick."""
    frame: Frame = PLAIN
    workers: int | None = None
    """How many worker numbers there are; None where the whole tail is random."""
    worker_last: bool = False
    """The worker number stands behind the sequence number."""
    descending: bool = False
    """The newest id is the smallest: the payload is taken from the largest one."""
    smallest: int = 0
    """The smallest payload; above 0 where an id must have a certain number of digits."""
    largest: int | None = None
    """The largest payload, where it is less than ticks and tails allow."""

    @property
    def last(self) -> int:
        """The largest payload."""
        return self.ticks * self.tails - 1 if self.largest is None else self.largest

    @property
    def first_tick(self) -> int:
        return -(-self.smallest // self.tails)

    @property
    def last_tick(self) -> int:
        return self.last // self.tails

    def capacity(self, tick: int) -> int:
        """How many ids the tick has room for: ``tails``, or less in a last tick that is cut."""
        return min(self.tails, self.last + 1 - tick * self.tails)

    def tails_of(self, worker: int) -> range:
        """The tails of a worker, in the order of their sequence numbers.

        Raises ``ValueError`` for a number that there is no place for.
        """
        if self.workers is None:
            raise ValueError(f"worker number {worker}: this layout has no worker numbers")
        if not 0 <= worker < self.workers:
            raise ValueError(f"worker number {worker}: expected 0 to {self.workers - 1}")
        if self.worker_last:
            return range(worker, self.tails, self.workers)
        size = self.tails // self.workers
        return range(worker * size, (worker + 1) * size)

    def join(self, tick: int, tail: int) -> int:
        """The number with this tick and tail, both within their bounds."""
        payload = tick * self.tails + tail
        return self.frame.wrap(self.last - payload if self.descending else payload)

    def join_all(self, tick: int, tails: Sequence[int]) -> list[int]:
        """``join`` for many tails of one tick."""
        first = self.join(tick, 0)
        if self.descending:
            return [first - tail for tail in tails]
        bits = self.frame.run_bits
        if bits is None or self.tails <= 1 << bits:
            return [first + tail for tail in tails]
        gap = self.join(tick, 1 << bits) - first - (1 << bits)
        return [first + tail + (tail >> bits) * gap for tail in tails]

    def join_each(self, ticks: Sequence[int], tails: Sequence[int]) -> list[int]:
        """``join`` for many ticks, each with a tail."""
        size, last = self.tails, self.last
        payloads = [tick * size + tail for tick, tail in zip(ticks, tails, strict=True)]
        if self.descending:
            payloads = [last - payload for payload in payloads]
        return self.frame.wrap_all(payloads)

    def split(self, number: int) -> tuple[int, int] | None:
        """Tick and tail of a number, or None where it isn't one of this layout's."""
        payload = self.frame.unwrap(number)
        if payload is None or not self.smallest <= payload <= self.last:
            return None
        return divmod(self.last - payload if self.descending else payload, self.tails)

    def between(self, first_tick: int, last_tick: int) -> tuple[int, int]:
        """The smallest and the largest number whose ticks lie between the two, both included."""
        oldest = self.join(first_tick, 0)
        newest = self.join(last_tick, self.capacity(last_tick) - 1)
        return (newest, oldest) if self.descending else (oldest, newest)
