"""Ids of now: strictly increasing within a process, safe between threads and across forks."""

import os
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

from .clock import is_travelling, now_ns, rollback_rule
from .errors import ClockRollback, OutOfRange
from .layout import Layout
from .randomness import Randomness

IDS_PER_MICROSECOND = 16
"""How many ids a tick must have room for, whatever random steps are drawn."""

MOST_AHEAD_NS = 10_000_000
"""How far ids may run ahead of the clock where their ticks are full, but for one whole tick."""

TRAVEL_NS = 10_000_000_000
"""How far a test's clock must jump to be followed."""

_BEFORE_ALL: int = -(1 << 127)
"""Earlier than any tick that a clock can give."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a generator takes time and chance from."""

    clock: Callable[[], int] = now_ns
    """Unix time in ns."""
    below: Callable[[int], int] | None = None
    """``below(n)`` is in ``range(n)``. None: ``Randomness``, each generator with its own."""
    sleep: Callable[[float], None] = time.sleep
    travels: Callable[[], bool] = is_travelling
    """Whether the clock is one of a test."""


class Generator:
    """Hands out (tick, tail) pairs, each greater than the one before.

    A new tick starts at a random tail in the lower half of its range, and each further id of the
    tick adds a random step, so that one id doesn't tell the next. A step is any number from 1 to
    ``largest_step``, each as likely: at least 59 random bits for a UUIDv7, 65 for a ULID, hex ULID,
    Timeflake and SCRU128, 57 for a push id, 49 for a UUIDv6 and COMB, 103 for a KSUID and kuuid, 39
    for an xid and ObjectId. Those of 64 bits have little to spare: 7 for a snowflake and TSID, 5
    for a Sonyflake, 3 for a time64; and with a worker number none: the tail is that number and a
    sequence from 0.

    A full tick is followed by the next one, used early: up to ``MOST_AHEAD_NS`` or one tick ahead
    of the clock, whichever is more; from there on, each tick is waited for as long as it lasts.

    While the clock stands still or goes back a little, the last tick goes on being used; where it
    goes back a lot, the process's ``RollbackRule`` says what happens. The clock of a test, which
    jumps, is followed instead: its ids are of the time that it shows, and none of them is repeated.
    """

    _peak: int
    """The latest tick that the clock has shown."""

    def __init__(
        self,
        layout: Layout,
        tick_of: Callable[[int], int],
        *,
        tick_ns: int,
        worker: int | None = None,
        sources: Sources | None = None,
    ) -> None:
        """``tick_of`` gives the tick of a Unix time in ns.

        Raises ``ValueError`` for a worker number that the layout has no place for.
        """
        self._tails = None if worker is None else layout.tails_of(worker)
        self._layout = layout
        self._tick_of = tick_of
        self._tick_ns = tick_ns
        self._sources = sources or _default_sources
        per_tick = max(4096, tick_ns * IDS_PER_MICROSECOND // 1000)
        self.largest_step = max(1, layout.tails // 2 // per_tick)
        self._most_ahead = max(1, MOST_AHEAD_NS // tick_ns)
        self._travel = max(1, TRAVEL_NS // tick_ns)
        self._restart()
        _generators.add(self)

    def next(self) -> tuple[int, int]:
        """The next tick and tail.

        Raises ``OutOfRange`` where the clock's time doesn't fit, and ``ClockRollback`` as the
        process's ``RollbackRule`` says.
        """
        with self._lock:
            now = self._now()
            jump = now - self._peak
            if not 0 <= jump <= self._travel:
                if abs(jump) > self._travel and self._sources.travels():
                    return self._visit(now)
                now = self._after_rollback(now)
            if now > self._tick:
                self._start(now)
                self._peak = now
            else:
                self._tail += self._step()
                if self._tail >= self._stop:
                    self._start(self._next_tick(now))
            return self._tick, self._tail

    def _now(self) -> int:
        return self._tick_of(self._sources.clock())

    def _after_rollback(self, now: int) -> int:
        """The clock's tick, once the rule lets ids be made at it."""
        rule = rollback_rule()
        limit = rule.limit_ns // self._tick_ns
        while (behind := self._peak - now) > limit and rule.policy != "advance":
            seconds = behind * self._tick_ns / 1e9
            if rule.policy == "raise":
                raise ClockRollback(
                    f"the clock is {seconds:.1f} s behind the last id, more than the "
                    f"{rule.limit_ns / 1e9:g} s that are allowed"
                )
            self._sources.sleep(min(seconds - rule.limit_ns / 1e9, 1.0))
            now = self._now()
        return now

    def _next_tick(self, now: int) -> int:
        """The tick that follows a full one."""
        following = self._tick + 1
        self._peak = max(self._peak, now)
        if following - self._peak > self._most_ahead and not self._sources.travels():
            # For as long as the tick lasts and no longer: the clock may stand still, or be behind.
            self._sources.sleep(self._tick_ns / 1e9)
            now = self._now()
            self._peak = max(self._peak, now)
        return max(following, now)

    def _start(self, tick: int) -> None:
        tail, stop = self._first(tick)
        self._tick, self._tail, self._stop = tick, tail, stop

    def _first(self, tick: int) -> tuple[int, int]:
        """The first tail in a tick, and the end of those that there are."""
        layout = self._layout
        if not layout.first_tick <= tick <= layout.last_tick:
            raise OutOfRange("the clock's time is outside of what the scheme can hold")
        stop = layout.capacity(tick)
        if self._tails is None:
            tail = self._below(max(1, stop // 2))
        else:
            tail = self._tails.start
            stop = min(self._tails.stop, stop)
        if tail >= stop:
            raise OutOfRange("the scheme's last tick is cut in front of this worker's ids")
        return tail, stop

    def _step(self) -> int:
        if self._tails is not None:
            return self._tails.step
        return 1 + self._below(self.largest_step)

    def _visit(self, tick: int) -> tuple[int, int]:
        """The next id at a time that a test went to, behind those which that tick has already."""
        while tick in self._visited:
            tail, stop = self._visited[tick]
            tail += self._step()
            if tail < stop:
                break
            tick += 1
        else:
            tail, stop = self._first(tick)
        self._visited[tick] = tail, stop
        return tick, tail

    def _restart(self) -> None:
        self._lock = Lock()
        self._below = self._sources.below or Randomness().below
        self._tick = _BEFORE_ALL
        self._tail = self._stop = 0
        self._peak = _BEFORE_ALL
        self._visited: dict[int, tuple[int, int]] = {}


_generators: weakref.WeakSet[Generator] = weakref.WeakSet()
_default_sources = Sources()


@contextmanager
def replaced_sources(sources: Sources) -> Iterator[None]:
    """Let every generator start anew with these sources, and go on at the end where it was.

    Not while other threads make ids.
    """
    global _default_sources
    before = _default_sources
    states = {generator: vars(generator).copy() for generator in _generators}
    _default_sources = sources
    for generator in states:
        generator._sources = sources
        generator._restart()
    try:
        yield
    finally:
        _default_sources = before
        for generator in list(_generators):
            generator._sources = before
            generator._restart()
            vars(generator).update(states.get(generator, {}))


def _restart_all() -> None:
    for generator in _generators:
        generator._restart()


# A child that went on from its parent's counter would make the parent's next ids.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart_all)
