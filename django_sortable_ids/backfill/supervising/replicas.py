"""How far replicas are behind what a backfill writes."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connections

from ...errors import BackfillError
from ..engines import engine_of

LOOK_SECONDS = 1.0


def watch(
    using: str, replica: str | None, most: float, clock: Callable[[], float] = time.monotonic
) -> Callable[[], str]:
    """What says why the replicas are too late, and nothing where they are at most ``most`` seconds
    behind. It asks the database once a second.

    ``replica`` is the alias of a database to ask; None asks ``using`` itself, which PostgreSQL
    alone can answer. Raises ``BackfillError`` where nobody knows the lag; later on that is a reason
    to rest, until somebody knows it again.
    """
    asked = replica or using
    measure = _measure(using, replica)
    if measure() is None:
        raise BackfillError(_unknown(asked))
    looked, said = clock() - LOOK_SECONDS, ""

    def look() -> str:
        nonlocal looked, said
        if clock() - looked >= LOOK_SECONDS:
            looked, said = clock(), why()
        return said

    def why() -> str:
        try:
            lag = measure()
        except BackfillError as error:
            return str(error)
        except (OperationalError, InterfaceError) as error:
            connections[asked].close()
            # Of the database that is filled, the next batch finds out by itself.
            return f"{asked!r} can't be asked for its lag: {error}" if replica else ""
        if lag is None:
            return _unknown(asked)
        return f"replicas are {lag:.0f} s behind, at most {most:g}" if lag > most else ""

    return look


def _measure(using: str, replica: str | None) -> Callable[[], float | None]:
    if replica:
        return lambda: engine_of(replica).lag_of_this_replica()
    return lambda: engine_of(using).lag_of_replicas()


def _unknown(asked: str) -> str:
    return f"the lag of {asked!r} is not known: its replication has stopped"
