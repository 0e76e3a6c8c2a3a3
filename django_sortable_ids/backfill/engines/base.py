"""The parts of a backfill that depend on the database: the SQL of batches, sessions, replicas."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from django.db import NotSupportedError
from django.db.models import Q

from ...errors import BackfillError
from ...functions.composition import Composition
from ..target import Target
from .statements import ComputedStatements, Statements

LOCK_SECONDS = 1
"""How long a statement waits for a lock: later writers queue up after it."""


class Engine(ABC):
    """The database-specific part of a backfill, one for each connection."""

    sending: type[Statements]
    """The statements that write ids from Python."""
    computing: type[ComputedStatements] | None = None
    """The statements that compute ids in the database; None if Python is faster."""
    rows_per_second: tuple[float, float]
    """Lower bound: wide rows with many indexes on a slow disk. Upper bound: the benchmarks on two
    cores."""
    looks_up_ids = False
    """Whether rows are read from an index on the time alone if nearly all are without an id:
    looking up the id of each row takes as long as half of an UPDATE."""
    writes_first = False
    """Whether a transaction must begin with a write: one that has only read can't write after
    another writer's commit."""

    adds_not_null = True
    """Whether a statement makes an existing column NOT NULL."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection

    def statements(self, target: Target, *, with_times: bool = True) -> Statements:
        """The statements that write ids from Python; ``with_times`` skips rows whose time has
        changed since.
        """
        return self.sending(target, self.connection, with_times=with_times)

    def computed(self, target: Target, composition: Composition) -> ComputedStatements:
        """The statements that compute ids in the database. Raises ``NotSupportedError`` if it can't
        compute them, or if Python is faster.
        """
        if self.computing is None:
            raise NotSupportedError("Python is faster")
        return self.computing(target, self.connection, composition)

    def interleaves(self, target: Target) -> bool:
        """Whether neighbouring rows are written in different transactions."""
        return False

    @abstractmethod
    def side_effects(self, target: Target) -> Iterator[str]:
        """The side effects of an UPDATE of the ids, as text."""

    def side_effect_warnings(self, target: Target) -> Iterator[str]:
        """Possible side effects, as text."""
        yield from ()

    # Checks

    def check(self, target: Target) -> None:
        """Raise ``BackfillError`` for times that Django and the database don't read alike, and for
        a table that can't be committed together with the run."""
        return

    def check_session(self, target: Target) -> None:
        """Raise ``BackfillError`` if a time is ambiguous in the time zone of the session."""
        return

    def misread(self, target: Target) -> Q | None:
        """The rows that ``check`` refuses; None if only it can find them."""
        return None

    def version_bytes(self, target: Target, rows: int) -> int:
        """Upper bound for the new versions of ``rows`` until a VACUUM, in bytes; 0 if rows are
        written in place.
        """
        return 0

    # Sessions

    def prepare_session(self) -> None:
        """Set the options of a new session that can't be set for one transaction."""
        return

    def begin_batch(self) -> None:
        """Set a short lock timeout for this transaction."""
        return

    def end_session(self) -> None:
        """Undo the changes of ``prepare_session``."""
        return

    # Replicas

    def lag_of_replicas(self) -> float | None:
        """The largest lag in seconds, queried from the primary; None if it is unknown. Raises
        ``BackfillError`` if the database can't tell.
        """
        raise BackfillError(f"--max-replica-lag: {self.connection.vendor} has no replicas")

    def lag_of_this_replica(self) -> float | None:
        """As ``lag_of_replicas``, but queried from the replica itself."""
        return self.lag_of_replicas()

    def _no_replica(self) -> BackfillError:
        return BackfillError(
            f"the database {self.connection.alias!r} is no replica: name one with --replica"
        )
