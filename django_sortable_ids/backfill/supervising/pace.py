"""The number of rows in a batch, and the pause after it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .control import Control

FEWEST, MOST = 500, 100_000
"""Bounds for the rows of a batch that has a target time."""

_SMOOTHING = 0.4
"""Weight of the last batch in the average."""
_LOOK_SECONDS = 0.5
"""How often a pause checks whether it is over."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run, as the options of the command."""

    target_time: float | None = None
    """Seconds that a batch should take; None for batches of the plan's size."""
    rows_per_second: float | None = None
    sleep: float = 0.0
    """Seconds between two batches."""
    pause_file: Path | None = None
    """The run pauses while this file exists."""
    retry_time: float = 60.0
    """Give up after this many seconds of retries."""


class BatchSize:
    """The rows of a batch: as many as take the target time, by an exponential average."""

    def __init__(self, first: int, limits: Limits) -> None:
        self._wanted = first
        self._target_time = limits.target_time
        # At most the rows of one second, so that a slow pace is even.
        self._most = max(1, int(limits.rows_per_second or MOST))
        self._limit: int | None = None
        self._rate: float | None = None

    @property
    def rows(self) -> int:
        return min(self._wanted, self._most, self._limit or self._wanted)

    def took(self, rows: int, seconds: float) -> None:
        """Adapt to a committed batch of ``rows``."""
        if self._limit is not None:
            self._limit = None if 2 * self._limit >= self._wanted else 2 * self._limit
        elif self._target_time is not None and rows >= self.rows:
            rate = rows / max(seconds, 1e-6)
            before = rate if self._rate is None else self._rate
            self._rate = _SMOOTHING * rate + (1 - _SMOOTHING) * before
            wanted = min(int(self._rate * self._target_time), 2 * self._wanted)
            self._wanted = max(FEWEST, min(MOST, wanted))

    def halve(self) -> None:
        """Halve the batch, so that it holds fewer locks; it grows again with each commit."""
        self._limit = max(1, self.rows // 2)


class Pace:
    """Pauses after each batch for as long as the limits require."""

    def __init__(
        self,
        limits: Limits,
        control: Control,
        lag: Callable[[], str] = lambda: "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``lag`` tells why the replicas are too late, or gives an empty text."""
        self._limits = limits
        self._control = control
        self._lag = lag
        self._clock = clock
        self._free_at = clock()

    def rest(self, rows: int) -> None:
        """Wait after a batch of ``rows``, or before the first one; raises ``Stopped`` if the run
        shall end.
        """
        self._control.check()
        if self._limits.rows_per_second:
            # A late run catches up at most one second, not in a burst.
            start = max(self._free_at, self._clock() - 1)
            self._free_at = start + rows / self._limits.rows_per_second
            self._control.pause(self._free_at - self._clock())
        if rows:
            self._control.pause(self._limits.sleep)
        self.wait()

    def wait(self) -> None:
        """Wait while there is a reason to pause."""
        is_paused = False
        while why := self._why_paused():
            if not is_paused:
                self._control.say(f"paused: {why}")
            is_paused = True
            self._control.pause(_LOOK_SECONDS)
        if is_paused:
            self._control.say("resumed")

    def _why_paused(self) -> str:
        file = self._limits.pause_file
        if file is not None and file.exists():
            return f"{file} exists"
        return self._lag()
