"""What differs between databases in a backfill: the SQL of its batches, and its sessions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from django.db import NotSupportedError

from ...errors import BackfillError
from ...functions.composition import Composition
from ..target import Target
from .statements import ComputedStatements, Statements

LOCK_SECONDS = 1
"""How long a statement waits for a lock: writers that come later would queue up behind it."""


class Engine(ABC):
    """One for each connection."""

    rows_per_second: tuple[float, float]
    """Of wide rows with many indexes on a slow disk, and as the benchmarks measure on two cores."""
    looks_up_ids = False
    """Whether rows are read from an index on the time alone where nearly all are without an id:
    to look each of them up for that takes as long as half of an UPDATE."""
    writes_first = False
    """Whether a transaction that has only read can't go on behind another writer."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    @abstractmethod
    def statements(self, target: Target, *, with_times: bool = True) -> Statements:
        """What writes ids that Python made; ``with_times`` where rows have not moved since."""

    def computed(self, target: Target, composition: Composition) -> ComputedStatements:
        """What computes ids in the database. Raises ``NotSupportedError`` where it can't, or Python
        is faster, or knows the time zone better.
        """
        raise NotSupportedError("Python is faster")

    def interleaves(self, target: Target) -> bool:
        """Whether neighbours are to be written in different transactions."""
        return False

    @abstractmethod
    def side_effects(self, target: Target) -> Iterator[str]:
        """What an UPDATE of the ids changes besides."""

    def side_effect_warnings(self, target: Target) -> Iterator[str]:
        """What it may change besides."""
        yield from ()

    def version_bytes(self, target: Target, rows: int) -> int:
        """What new versions of so many rows take at most, until they are vacuumed; 0 where rows are
        written in place.
        """
        return 0

    # Sessions

    def prepare_session(self) -> None:
        """Say what can't be said of one transaction."""
        return

    def begin_batch(self) -> None:
        """Let the statements of this transaction wait for locks for a short time only."""
        return

    def end_session(self) -> None:
        """Leave a session behind that nobody has changed."""
        return

    # Replicas

    def lag_of_replicas(self) -> float | None:
        """In seconds, asked of the database that they follow; None where it is not known. Raises
        ``BackfillError`` where the database can't say.
        """
        raise BackfillError(f"--max-replica-lag: {self.connection.vendor} has no replicas")

    def lag_of_this_replica(self) -> float | None:
        """As ``lag_of_replicas``, of the database itself."""
        return self.lag_of_replicas()

    def _no_replica(self) -> BackfillError:
        return BackfillError(
            f"the database {self.connection.alias!r} is no replica: --replica needs one"
        )
