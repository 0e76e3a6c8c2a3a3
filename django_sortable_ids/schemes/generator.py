"""Ids of now: strictly increasing within a process, safe between threads and across forks."""

import os
import time
import weakref
from collections.abc import Callable
from secrets import randbelow
from threading import Lock

from .errors import OutOfRange
from .layout import Layout

IDS_PER_MICROSECOND = 16
"""How many ids a tick must have room for, whatever random steps are drawn."""

_BEFORE_ALL = -(1 << 127)
"""Earlier than any tick that a clock can give."""


class Generator:
    """Hands out (tick, tail) pairs, each greater than the one before.

    A new tick starts at a random tail in the lower half of its range, and each further id of the
    tick adds a random step, so that one id doesn't tell the next. With a worker number the tail is
    that number and a sequence from 0. A full tick is followed by the next one, used early. While
    the clock stands still or goes back, the last tick goes on being used.
    """

    def __init__(
        self,
        layout: Layout,
        tick_of: Callable[[int], int],
        *,
        tick_ns: int,
        worker: int | None = None,
        clock: Callable[[], int] = time.time_ns,
        below: Callable[[int], int] = randbelow,
    ) -> None:
        """``clock`` gives Unix time in ns and ``tick_of`` its tick; ``below(n)`` is in range(n).

        Raises ``ValueError`` for a worker number that the layout has no place for.
        """
        self._tails = None if worker is None else layout.tails_of(worker)
        self._layout = layout
        self._tick_of = tick_of
        self._clock = clock
        self._below = below
        per_tick = max(4096, tick_ns * IDS_PER_MICROSECOND // 1000)
        self._largest_step = max(1, layout.tails // 2 // per_tick)
        self._restart()
        _generators.add(self)

    def next(self) -> tuple[int, int]:
        """The next tick and tail. Raises ``OutOfRange`` where the clock's time doesn't fit."""
        with self._lock:
            now = self._tick_of(self._clock())
            if now > self._tick:
                self._start(now)
            else:
                self._tail += self._step()
                if self._tail >= self._stop:
                    self._start(self._tick + 1)
            return self._tick, self._tail

    def _start(self, tick: int) -> None:
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
        self._tick, self._tail, self._stop = tick, tail, stop

    def _step(self) -> int:
        return 1 + self._below(self._largest_step) if self._tails is None else self._tails.step

    def _restart(self) -> None:
        self._lock = Lock()
        self._tick = _BEFORE_ALL
        self._tail = self._stop = 0


_generators: weakref.WeakSet[Generator] = weakref.WeakSet()


def _restart_all() -> None:
    for generator in _generators:
        generator._restart()


# A child that went on from its parent's counter would make the parent's next ids.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restart_all)
