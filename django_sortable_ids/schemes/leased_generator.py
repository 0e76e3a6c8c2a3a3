"""Ids of a leased worker number, each of a time within the lease."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol

from .generator import Generator
from .layout import Layout


class Lease(Protocol):
    """A worker number of this process, for ids of ``starts_ns <= time < ends_ns`` (Unix ns).

    Earlier and later leases of the number, on this or another host, are for other times. So no id
    is generated twice, however far the clocks of two hosts differ.
    """

    number: int
    starts_ns: int
    ends_ns: int
    """It may become later, never earlier."""
    ended: bool
    """Whether no more ids may be generated: the lease was lost or given back."""

    def extend(self, to_ns: int) -> None:
        """Move ``ends_ns`` to after ``to_ns``. Raises ``LeaseLost`` if the lease has ended."""

    def used_by(self, latest_ns: Callable[[], int]) -> None:
        """Register what to call for the latest id's time when the number is given back."""


LeaseSource = Callable[[int], Lease]
"""Takes a layout's count of worker numbers, and returns the lease of this process.

It is called at the generator's first id, and at the first one in a forked child.
"""


class LeasedGenerator(Generator):
    """A generator that leases its worker number at the first id.

    The time in each id is checked after the id is generated. So a process that is suspended after
    it read the clock, and resumes when another process has the number, can't use it. Ids of a time
    before the lease are never generated. For ids after its end, the lease is extended first; if
    that fails, they are not handed out.

    While a test shows a time other than the system's, ids have that time, and the lease is not
    extended to it.
    """

    _lease: Lease | None
    _end: int
    """The first tick after the lease."""

    def __init__(self, layout: Layout, source: LeaseSource, **options: Any) -> None:
        """``options`` are those of a ``Generator``.

        Raises ``ValueError`` if the layout has no worker numbers, or is descending.
        """
        layout.suffixes_of(0)
        if layout.descending:
            raise ValueError("descending layout: leases need a layout whose numbers sort by time")
        self._source = source
        super().__init__(layout, **options)

    def next(self, at: datetime | None = None) -> Any:
        """Like ``Generator.next``; also raises ``LeaseLost``, and the errors of getting a lease."""
        if at is not None:
            return super().next(at)
        lease = self._lease or self._start_lease()
        value = super().next()
        # The tick of the id, or a later one that another thread has started since.
        if self._tick >= self._end or lease.ended:
            self._extend(lease)
        return value

    def take(self, count: int) -> list[Any]:
        """Like ``Generator.take``; raises what ``next`` raises."""
        lease = self._lease or self._start_lease()
        values = super().take(count)
        if values and (self._tick >= self._end or lease.ended):
            self._extend(lease)
        return values

    def _start_lease(self) -> Lease:
        lease = self._source(self._layout.workers or 0)
        suffixes = self._layout.suffixes_of(lease.number)
        with self._lock:
            if self._lease is None:
                self._suffixes = suffixes
                # As if the tick before the first one that starts within the lease were full.
                self._tick = self._ceiling(lease.starts_ns) - 1
                self._stop = self._suffix + 1
                self._end = self._ceiling(lease.ends_ns)
                lease.used_by(self.latest_ns)
                self._lease = lease
            return self._lease

    def _extend(self, lease: Lease) -> None:
        """Extend the lease to the tick of the id that is about to be handed out."""
        if self._sources.travels() and not lease.ended:
            return
        lease.extend(self._epoch_ns + self._tick * self._tick_ns)
        self._end = self._ceiling(lease.ends_ns)

    def latest_ns(self) -> int:
        """Unix time in ns of the latest tick that has numbers."""
        # A thread that generated an id before the lease ended has released the lock. A thread may
        # sleep while it holds the lock, after the clock went back: don't wait for that one.
        locked = self._lock.acquire(timeout=1)
        try:
            return self._epoch_ns + self._tick * self._tick_ns
        finally:
            if locked:
                self._lock.release()

    def _ceiling(self, ns: int) -> int:
        """The first tick that starts at or after a Unix time in ns."""
        return -((self._epoch_ns - ns) // self._tick_ns)

    def _restart(self) -> None:
        super()._restart()
        self._lease = None
        self._suffixes = None
        self._end = 0
