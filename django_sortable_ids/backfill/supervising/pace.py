"""How many rows go into a batch, and how long the run rests behind it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .control import Control

FEWEST, MOST = 500, 100_000
"""Bounds of a batch whose size follows its time."""

_SMOOTHING = 0.4
"""Weight of the last batch in the average."""
_LOOK_SECONDS = 0.5
"""How often is looked whether a pause is over."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run must keep to; as the options of the command."""

    target_time: float | None = None
    """Seconds that a batch is to take; None for batches of the plan's size."""
    rows_per_second: float | None = None
    sleep: float = 0.0
    """Seconds between two batches."""
    pause_file: Path | None = None
    """The run rests while it exists."""
    retry_time: float = 60.0
    """Seconds after which is given up what the database refuses."""


class BatchSize:
    """Rows in a batch: as many as take the target time, by an exponential average."""

    def __init__(self, first: int, limits: Limits) -> None:
        self._wanted = first
        self._target_time = limits.target_time
        # No more than a second's worth, so that a slow pace is an even one.
        self._most = max(1, int(limits.rows_per_second or MOST))
        self._limit: int | None = None
        self._rate: float | None = None

    @property
    def rows(self) -> int:
        return min(self._wanted, self._most, self._limit or self._wanted)

    def took(self, rows: int, seconds: float) -> None:
        """Learn from a batch that was committed."""
        if self._limit is not None:
            self._limit = None if 2 * self._limit >= self._wanted else 2 * self._limit
        elif self._target_time is not None and rows >= self.rows:
            rate = rows / max(seconds, 1e-6)
            before = rate if self._rate is None else self._rate
            self._rate = _SMOOTHING * rate + (1 - _SMOOTHING) * before
            wanted = min(int(self._rate * self._target_time), 2 * self._wanted)
            self._wanted = max(FEWEST, min(MOST, wanted))

    def halve(self) -> None:
        """Hold fewer locks; it grows again with every batch that is committed."""
        self._limit = max(1, self.rows // 2)


class Pace:
    """Rests behind each batch for as long as the limits want it."""

    def __init__(
        self,
        limits: Limits,
        control: Control,
        lag: Callable[[], str] = lambda: "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``lag`` says why replicas can't follow, and nothing where they can."""
        self._limits = limits
        self._control = control
        self._lag = lag
        self._clock = clock
        self._free_at = clock()

    def rest(self, rows: int) -> None:
        """Wait after a batch of so many rows, or before the first; raises ``Stopped`` where the run
        is to end.
        """
        self._control.check()
        if self._limits.rows_per_second:
            # From now where it has fallen behind: it doesn't catch up in a burst.
            begun = max(self._free_at, self._clock() - 1)
            self._free_at = begun + rows / self._limits.rows_per_second
            self._control.pause(self._free_at - self._clock())
        if rows:
            self._control.pause(self._limits.sleep)
        self.wait()

    def wait(self) -> None:
        """Wait for as long as somebody wants a pause."""
        said = ""
        while why := self._why_paused():
            if not said:
                self._control.say(f"paused: {why}")
            said = why
            self._control.pause(_LOOK_SECONDS)
        if said:
            self._control.say("goes on")

    def _why_paused(self) -> str:
        file = self._limits.pause_file
        if file is not None and file.exists():
            return f"{file} exists"
        return self._lag()
