"""Ids of a worker whose number is leased: each of a time that lies in the lease."""

from collections.abc import Callable
from typing import Protocol

from ..layout import Layout
from .clock import Sources
from .generator import Generator


class Lease(Protocol):
    """A worker number that this process has for ids of ``starts_ns <= time < ends_ns``, Unix ns.

    Whoever has the number before or after it, here or on another host, has it for other times; so
    no id is made twice, however far the clocks of two hosts are apart.
    """

    @property
    def number(self) -> int: ...

    @property
    def starts_ns(self) -> int: ...

    @property
    def ends_ns(self) -> int:
        """It may become later, never earlier."""

    @property
    def ended(self) -> bool:
        """Whether no more ids may be made: it was lost or given back."""

    def extend(self, to_ns: int) -> None:
        """See that ``ends_ns`` is after ``to_ns``. Raises ``LeaseLost`` where it has ended."""

    def used_by(self, latest_ns: Callable[[], int]) -> None:
        """Remember whom to ask for the time of the latest id when the number is given back."""


LeaseSource = Callable[[int], Lease]
"""Gives the lease of this process to a generator whose layout has places for so many workers.

It is asked at the generator's first id, and at the first one in a forked child.
"""


class LeasedGenerator(Generator):
    """A generator that gets its worker number at the first id.

    What counts is the time in the id, looked at when the id is made: a process that is stopped
    after it has read the clock, and goes on when its number is another's, can't slip through. Ids
    of a time before the lease are never made, and for those at its end it is extended first; where
    that fails they are not handed out.

    While a test shows another time than the system's, ids are of that time, and the lease is not
    extended to it.
    """

    _lease: Lease | None
    _end: int
    """The first number that is not the lease's: numbers sort by their times."""

    def __init__(
        self,
        layout: Layout,
        source: LeaseSource,
        *,
        epoch_ns: int,
        tick_ns: int,
        sources: Sources | None = None,
    ) -> None:
        """Raises ``ValueError`` where the layout has no worker numbers, or is descending."""
        layout.suffixes_of(0)
        if layout.descending:
            raise ValueError("a descending layout: expected one whose numbers sort by their times")
        self._source = source
        super().__init__(layout, epoch_ns=epoch_ns, tick_ns=tick_ns, sources=sources)

    def next(self) -> int:
        """As of every generator; raises ``LeaseLost``, and what stands in the way of a lease."""
        lease = self._lease or self._begin()
        number = super().next()
        if number >= self._end or lease.ended:
            self._extend(lease, number)
        return number

    def take(self, count: int) -> list[int]:
        """As of every generator; raises what ``next`` raises."""
        lease = self._lease or self._begin()
        numbers = super().take(count)
        if numbers and (numbers[-1] >= self._end or lease.ended):
            self._extend(lease, numbers[-1])
        return numbers

    def _begin(self) -> Lease:
        lease = self._source(self._layout.workers or 0)
        suffixes = self._layout.suffixes_of(lease.number)
        with self._lock:
            if self._lease is None:
                self._suffixes = suffixes
                # As if the tick in front of the first that begins within the lease were full.
                self._tick = self._ceiling(lease.starts_ns) - 1
                self._stop = self._suffix + 1
                self._end = self._end_of(lease)
                lease.used_by(self.latest_ns)
                self._lease = lease
            return self._lease

    def _extend(self, lease: Lease, number: int) -> None:
        """See that the lease has the number, the last of those that are about to be handed out."""
        if self._sources.travels() and not lease.ended:
            return
        payload = self._layout.template.unwrap(number) or 0
        lease.extend(self._epoch_ns + payload // self._layout.suffixes * self._tick_ns)
        self._end = self._end_of(lease)

    def latest_ns(self) -> int:
        """Unix time of the latest tick that numbers were made of."""
        # Whoever made one before the lease ended has left the lock; nobody waits for one who
        # sleeps in it, for a clock that went back.
        locked = self._lock.acquire(timeout=1)
        try:
            return self._epoch_ns + self._tick * self._tick_ns
        finally:
            if locked:
                self._lock.release()

    def _end_of(self, lease: Lease) -> int:
        return self._layout.join(self._ceiling(lease.ends_ns), 0)

    def _ceiling(self, ns: int) -> int:
        """The first tick that begins at or after a Unix time in ns."""
        return -((self._epoch_ns - ns) // self._tick_ns)

    def _restart(self) -> None:
        super()._restart()
        self._lease = None
        self._suffixes = None
        self._end = 0


def generator_for(
    layout: Layout, worker: int | LeaseSource | None, *, epoch_ns: int, tick_ns: int
) -> Generator:
    """A generator for the worker with that number, or whose number is leased.

    Raises ``ValueError`` for a number that the layout has no place for.
    """
    if callable(worker):
        return LeasedGenerator(layout, worker, epoch_ns=epoch_ns, tick_ns=tick_ns)
    return Generator(layout, epoch_ns=epoch_ns, tick_ns=tick_ns, worker=worker)
