"""Random instants of a migration at which it is killed."""

import random
from typing import NamedTuple

from .process import PHASES


class Instant(NamedTuple):
    phase: int
    statement: int
    """Of the phase, from 0."""
    seconds: float
    """After that statement started."""

    def __str__(self) -> str:
        return f"{PHASES[self.phase]} {self.statement} + {self.seconds * 1000:.1f} ms"


class Trace:
    """The statements of a migration that nobody killed, and how long each of them took."""

    def __init__(self, statements: list[tuple[float, int]], ended: float) -> None:
        self._starts = [at for at, _ in statements]
        self._phases = [phase for _, phase in statements]
        self._ends = [*self._starts[1:], ended]

    def draw(self, random_: random.Random) -> Instant:
        """Half of them anywhere in time, and half of them in any phase that
        changes something, since some are short."""
        if random_.random() < 0.5:
            seconds = self._ends[-1] - self._starts[0]
            return Instant(0, 0, random_.uniform(0, seconds))
        phase = random_.choice(sorted({*self._phases} - {0}))
        first = self._phases.index(phase)
        chosen = random_.randrange(first, first + self._phases.count(phase))
        seconds = self._ends[chosen] - self._starts[chosen]
        return Instant(phase, chosen - first, random_.uniform(0, seconds))
