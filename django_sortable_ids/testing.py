"""For the tests of projects: ids that are the same in every run."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from .schemes.generation.clock import Sources, now_ns, unix_ns
from .schemes.generation.generator import replaced_sources

__all__ = ["IDClock", "deterministic_ids"]


class IDClock:
    """The time of new ids: it stands still until it is set, and may go back."""

    def __init__(self, at: datetime | None) -> None:
        self._at = at

    def move_to(self, at: datetime) -> None:
        """New ids are of ``at``, which is aware."""
        unix_ns(at)  # refuses a naive time now, not at the next id
        self._at = at

    def move_by(self, step: timedelta) -> None:
        """New ids are later by ``step``, or earlier if it is negative."""
        self.move_to((self._at or datetime.now(UTC)) + step)

    def unix_ns(self) -> int:
        return now_ns() if self._at is None else unix_ns(self._at)


@contextmanager
def deterministic_ids(at: datetime | None = None, *, seed: int = 0) -> Iterator[IDClock]:
    """New ids of all schemes are of ``at`` (aware), and their random parts follow from ``seed``.

    They still increase, as long as the clock does. Without ``at``, and until the clock is set,
    they are of the current time, which freezegun and time-machine may set. No id waits, and none
    is refused for a clock that goes back. The generators of the whole process are affected, and
    go on behind it where they were; so no other thread may make ids meanwhile.
    """
    clock = IDClock(None)
    if at is not None:
        clock.move_to(at)
    sources = Sources(
        clock=clock.unix_ns, below=random.Random(seed).randrange, travels=lambda: True
    )
    with replaced_sources(sources):
        yield clock
