"""A clock that is moved again and again."""

from collections.abc import Callable

_SECOND = 1_000_000_000
_MILLISECOND = 1_000_000
_STOP = None
ROUND = (
    -3 * _MILLISECOND,
    _STOP,
    3 * _SECOND,
    -2 * _SECOND,
    -3600 * _SECOND,
    _STOP,
    3600 * _SECOND,
    3 * _MILLISECOND - _SECOND,
)
"""By how many ns the clock steps: it is right again behind the last one. A step ends a stop."""


class SteppingClock:
    """``time.time_ns`` with a step after every so many reads."""

    def __init__(self, time_ns: Callable[[], int], reads_between: int) -> None:
        self._time_ns = time_ns
        self._reads_between = max(1, reads_between)
        self._reads = 0
        self._offset = 0
        self._stopped_at: int | None = None
        self.steps = 0

    def __call__(self) -> int:
        # Threads may lose each other's reads: a step then comes a little later.
        self._reads += 1
        if self._reads >= self._reads_between:
            self._reads = 0
            self._step()
        stopped_at = self._stopped_at
        return self._time_ns() + self._offset if stopped_at is None else stopped_at

    def _step(self) -> None:
        step = ROUND[self.steps % len(ROUND)]
        self.steps += 1
        if step is _STOP:
            self._stopped_at = self._time_ns() + self._offset
        else:
            self._offset += step
            self._stopped_at = None
