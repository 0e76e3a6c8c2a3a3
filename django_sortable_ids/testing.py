"""For tests: ids that are the same in every run."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from .schemes.generation.clock import Sources, now_ns, unix_ns
from .schemes.generation.generator import replaced_sources

__all__ = ["IDClock", "deterministic_ids"]


class IDClock:
    """The time of new ids: it stands still until it is set, and may be set back."""

    def __init__(self, at: datetime | None) -> None:
        self._at = at

    def move_to(self, at: datetime) -> None:
        """Set the time of new ids to ``at``, an aware datetime."""
        unix_ns(at)  # rejects a naive time now, not at the next id
        self._at = at

    def move_by(self, step: timedelta) -> None:
        """Move the time of new ids by ``step``, backwards if it is negative."""
        self.move_to((self._at or datetime.now(UTC)) + step)

    def unix_ns(self) -> int:
        return now_ns() if self._at is None else unix_ns(self._at)


@contextmanager
def deterministic_ids(at: datetime | None = None, *, seed: int = 0) -> Iterator[IDClock]:
    """New ids of all schemes carry the time ``at`` (aware); ``seed`` determines their random bits.

    They increase as long as the clock does. Without ``at``, and until the clock is set, they carry
    the current time, which freezegun and time-machine may set. If the clock goes back, no id waits
    and none is refused. This affects the generators of the whole process, which resume afterwards
    where they were. So no other thread may generate ids concurrently.
    """
    clock = IDClock(None)
    if at is not None:
        clock.move_to(at)
    sources = Sources(
        clock=clock.unix_ns, below=random.Random(seed).randrange, travels=lambda: True
    )
    with replaced_sources(sources):
        yield clock
