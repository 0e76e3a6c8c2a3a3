"""New ids: strictly increasing within a process, safe between threads and across forks.

1. ``next()`` reads the clock. Mostly from the third call of a tick on, a finished id is popped
   from a list. That is atomic and needs no lock, so it is the only path that takes none.
2. Otherwise a lock is taken. If the clock shows a later tick, the first id of that tick gets a
   random suffix. If the list is empty, ids of the tick are finished for it: twice as many each
   time, half as many in a new tick. Each is a random step after the one before.
3. After a full tick the next one is used early. If ids run too far ahead of the clock, the
   generator waits for the length of a tick before each new tick.
4. While the clock stands still or goes back a little, the last tick stays in use. If it goes back
   further, the ``RollbackRule`` of the process applies. A test's clock that jumps is followed
   instead: ids have the time that it shows, and none is repeated.
5. A forked child starts again, with other random numbers.
"""

import os
import time
import weakref
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import accumulate
from threading import Lock
from typing import Any, ClassVar

from .clock_and_randomness import Randomness, RollbackRule, Sources
from .errors import ClockRollback, OutOfRange
from .layout import Layout

IDS_PER_MICROSECOND = 16
"""How many ids per microsecond a tick must have room for, whatever random steps are drawn."""

HEADROOM_BITS = 10
"""The first id of a tick is drawn from all but the last ``1 / 2**HEADROOM_BITS`` of its range."""

MOST_AHEAD_NS = 10_000_000
"""How far ids may run ahead of the clock if ticks are full; at least one whole tick."""

TRAVEL_NS = 10_000_000_000
"""A test's clock is followed if it jumps further than this."""

MOST_STEP_BITS = 63
"""A step needs no more random bits; with the sign they fill a machine word."""

LEAST_STEP_BITS = 7
"""Steps do not shrink below this as the tick fills: one id would reveal the next."""

LARGEST_BATCH = 128
"""How many ids are finished at most: twice as many each time, half as many in a new tick."""

IDS_AT_A_TIME = 4096
"""How many ids are generated at most without reading the clock or letting other threads in."""

_BEFORE_ALL: int = -(1 << 127)
"""Before any tick that a clock can show."""


class Generator:
    """Generates the ids of a layout, each later in the layout's order than the one before.

    The first id of a tick has a random suffix from the whole range of the tick, except its last
    1,024th, so that processes that share a tick rarely collide. This headroom has room for at least
    16,384 further ids of a UUIDv7 or ULID, 32 of a snowflake and 12 of a time64.

    Each further id of the tick adds a random step, so that one id does not reveal the next. A step
    is a uniform random number from 1 to a power of two. While half of the range is left, this power
    has ``step_bits``: 59 random bits for a UUIDv7, 7 for a snowflake. Each time that the rest of
    the range halves, steps lose one bit, so that large steps do not fill the tick; steps of ids of
    64 bits keep theirs. With a worker number nothing is random: the suffix is this number and a
    sequence from 0.
    """

    rule: ClassVar[RollbackRule] = RollbackRule()
    """The rule of all generators of this process."""
    _current: tuple[int, int, Callable[[], Any]]
    """While the clock is from the first to before the second (Unix time in ns), the third pops a
    finished id. Replaced as a whole, so a thread never pops an id for another tick's time."""
    _ready: list[Any]
    """Finished ids of the tick, the next one last."""
    _batch: int
    """How many are finished next time."""
    _tick: int
    _suffix: int
    """The last suffix of the tick that was handed out or finished."""
    _stop: int
    """The end (excluded) of the tick's suffixes."""
    step_bits: int
    """How many random bits the largest step has."""
    _ample: int
    """Steps are the largest ones while this much of the tick's range is left; 0: always."""
    _peak: int
    """The latest tick that the clock has shown."""
    _first_until: int
    """A clock that is after ``_tick`` and before this tick gets the first id of its own tick: no id
    is finished, and the suffix is random."""

    def __init__(
        self,
        layout: Layout,
        *,
        epoch_ns: int,
        tick_ns: int,
        worker: int | None = None,
        write: Callable[[int], Any] = int,
        write_all: Callable[[Sequence[int]], Sequence[Any]] = list,
        of_time: Any = None,
        sources: Sources | None = None,
    ) -> None:
        """Tick 0 starts at ``epoch_ns`` (Unix time), and each tick lasts ``tick_ns``. ``write`` and
        ``write_all`` turn numbers into ids, and ``of_time`` generates an id of a time.

        Raises ``ValueError`` if the layout has no such worker number.
        """
        self._suffixes = None if worker is None else layout.suffixes_of(worker)
        self._layout = layout
        self._epoch_ns = epoch_ns
        self._tick_ns = tick_ns
        self._write = write
        self._write_all = write_all
        self._of_time = of_time
        self._sources = sources or _default_sources
        self._join_all = layout.joiner.join_all
        self._join = layout.joiner.join
        per_tick = max(4096, tick_ns * IDS_PER_MICROSECOND // 1000)
        self._per_tick_bits = (per_tick - 1).bit_length()
        most = (layout.suffixes // 2).bit_length() - 1 - self._per_tick_bits
        self.step_bits = most = min(max(most, 0), MOST_STEP_BITS)
        self._ample = 1 << most + self._per_tick_bits if most > LEAST_STEP_BITS else 0
        self._most_first = layout.suffixes - (layout.suffixes >> HEADROOM_BITS)
        self._most_ahead = max(1, MOST_AHEAD_NS // tick_ns)
        self._travel = max(1, TRAVEL_NS // tick_ns)
        self._ready = []
        self._restart()
        _generators.add(self)

    def next(self, at: datetime | None = None) -> Any:
        """The next id; with ``at``, one of that time.

        Raises ``OutOfRange`` if the layout can't hold the clock's time, and ``ClockRollback`` if
        the process's ``RollbackRule`` demands it.
        """
        if at is not None:
            return self._of_time(at)
        # Looked up at each call: freezegun replaces the function.
        ns = (self._clock or time.time_ns)()
        since, until, pop = self._current
        if since <= ns < until:
            # list.pop() is atomic, with and without a global interpreter lock. Another thread may
            # start the next tick concurrently. The ids of this list stay unique, and neither
            # call has returned yet, so either id may be the later one.
            try:
                return pop()
            except IndexError:
                pass
        with self._lock:
            now = (ns - self._epoch_ns) // self._tick_ns
            if self._tick < now < self._first_until:
                # _next_in, in less time: with ticks of 100 ns, each id is the first of its tick.
                self._tick = self._peak = now
                self._suffix = suffix = self._below(self._most_first)
                return self._write(self._join(now, suffix))
            return self._next_in(now)

    def take(self, count: int) -> list[Any]:
        ids: list[Any] = []
        while len(ids) < count:
            with self._lock:
                now = self._now()
                ids.append(self._next_in(now))
                if now not in self._visited:
                    wanted = min(count, len(ids) + IDS_AT_A_TIME)
                    # One by one, because other threads pop concurrently.
                    with suppress(IndexError):
                        while len(ids) < wanted:
                            ids.append(self._ready.pop())
                    ids += self._further(wanted - len(ids))[::-1]
        return ids

    def _next_in(self, now: int) -> Any:
        """The next id in the clock's tick, in which finished ids may be outdated."""
        jump = now - self._peak
        if not 0 <= jump <= self._travel:
            if abs(jump) > self._travel and self._sources.travels():
                return self._visit(now)
            # The time may have been read before others, which went on: it is read again.
            now, rule = self._now(), Generator.rule
            limit = rule.limit_ns // self._tick_ns
            while (rollback := self._peak - now) > limit and rule.policy != "advance":
                seconds = rollback * self._tick_ns / 1e9
                if rule.policy == "raise":
                    raise ClockRollback(
                        f"the clock is {seconds:.1f} s before the last id, more than the allowed "
                        f"{rule.limit_ns / 1e9:g} s; correct it, or wait until it has caught up"
                    )
                self._sources.sleep(min(seconds - rule.limit_ns / 1e9, 1.0))
                now = self._now()
        if now > self._tick:
            value = self._start(now)
            self._peak = now
            if self._suffixes is None and self._batch == 1:
                self._first_until = min(now + self._travel + 1, self._layout.last_tick)
            return value
        if (value := self._next_of_tick()) is None:
            following, latest = self._tick + 1, now
            self._peak = max(self._peak, now)
            if following - self._peak > self._most_ahead and not self._sources.travels():
                # Only for the length of a tick: the clock may stand still, or have gone back.
                self._sources.sleep(self._tick_ns / 1e9)
                latest = self._now()
                self._peak = max(self._peak, latest)
            value = self._start(max(following, latest))
        since = self._epoch_ns + now * self._tick_ns
        self._current = since, since + self._tick_ns, self._ready.pop
        return value

    def _now(self) -> int:
        return ((self._clock or time.time_ns)() - self._epoch_ns) // self._tick_ns

    def _start(self, tick: int) -> Any:
        suffix, self._stop = self._first(tick)
        self._tick, self._suffix = tick, suffix
        if self._batch > 1:
            self._batch //= 2
            # Threads that are about to pop an id of the tick before take the lock.
            self._ready.clear()
        return self._write(self._join(tick, suffix))

    def _next_of_tick(self) -> Any:
        """The next id of the tick; None if it is full."""
        try:
            return self._ready.pop()
        except IndexError:
            ready = self._further(self._batch)
        self._batch = min(2 * self._batch, self._largest_batch)
        self._first_until = _BEFORE_ALL
        value = ready.pop() if ready else None
        # From now on, other threads pop from it.
        self._ready = ready
        return value

    def _further(self, count: int) -> list[Any]:
        """The next ``count`` ids of the tick in reverse order, or fewer at the tick's end."""
        if self._suffixes is None:
            steps = self._steps(count, self._stop - self._suffix)
            suffixes: Sequence[int] = list(accumulate(steps, initial=self._suffix))
            suffixes = suffixes[: bisect_left(suffixes, self._stop)]
        else:
            suffixes = range(self._suffix, self._stop, self._suffixes.step)[: count + 1]
        self._suffix = suffixes[-1]
        return list(self._write_all(self._join_all(self._tick, suffixes[:0:-1])))

    def _first(self, tick: int) -> tuple[int, int]:
        """The first suffix in a tick, and the end (excluded) of its suffixes."""
        layout = self._layout
        if not layout.first_tick <= tick <= layout.last_tick:
            raise OutOfRange(
                "the clock's time is outside the range of the scheme; correct the clock, or "
                "the field's epoch_ms"
            )
        stop = layout.suffixes if tick < layout.last_tick else layout.capacity(tick)
        if self._suffixes is None:
            return self._below(stop - (stop >> HEADROOM_BITS)), stop
        suffix, stop = self._suffixes.start, min(self._suffixes.stop, stop)
        if suffix >= stop:
            raise OutOfRange("the scheme's last tick ends before the suffixes of this worker")
        return suffix, stop

    def _steps(self, count: int, room: int) -> list[int]:
        """The distances from ``count`` ids to their successors; random ones are drawn each time.

        ``room`` is how much of the tick's range is left.
        """
        if self._suffixes is not None:
            return [self._suffixes.step] * count
        bits = self.step_bits
        if room < self._ample:
            bits = max(room.bit_length() - 1 - self._per_tick_bits, LEAST_STEP_BITS)
        if self._sources.below:
            return [1 + self._below(1 << bits) for _ in range(count)]
        return self._randomness.steps(count, bits)

    def _visit(self, tick: int) -> Any:
        """The next id at a tick that a test's clock jumped to, after the earlier ones there."""
        while tick in self._visited:
            suffix, stop = self._visited[tick]
            suffix += self._steps(1, stop - suffix)[0]
            if suffix < stop:
                break
            self._visited[tick] = stop, stop  # full: a smaller step would go back to it
            tick += 1
        else:
            suffix, stop = self._first(tick)
        self._visited[tick] = suffix, stop
        return self._write(self._layout.join(tick, suffix))

    def _restart(self) -> None:
        self._lock = Lock()
        self._clock = self._sources.clock
        self._randomness = Randomness()
        self._below = self._sources.below or self._randomness.below
        # Numbers that a test has fixed are drawn one by one, so that none is lost.
        self._largest_batch = 1 if self._sources.below else LARGEST_BATCH
        self._batch = 1
        # In place: a fork in a signal handler may have interrupted a call that is about to pop.
        self._ready.clear()
        self._current = 0, 0, self._ready.pop
        self._suffix = self._stop = 0
        self._tick = self._peak = self._first_until = _BEFORE_ALL
        self._visited: dict[int, tuple[int, int]] = {}


_generators: weakref.WeakSet[Generator] = weakref.WeakSet()
_default_sources = Sources()


@contextmanager
def replaced_sources(sources: Sources) -> Iterator[None]:
    """Restart every generator with these sources; at the end, each resumes where it was.

    Don't use this while other threads generate ids.
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


# A forked child that continued its parent's state would generate the parent's next ids.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart_all)
