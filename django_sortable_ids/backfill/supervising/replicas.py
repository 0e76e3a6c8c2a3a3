"""The lag of the replicas during a backfill."""

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
    """A function that tells why the replicas are too late, or gives an empty text if their lag is
    at most ``most`` seconds. It queries the database once a second.

    ``replica`` is the alias of the database to query. None queries ``using`` itself, which only
    PostgreSQL can answer. Raises ``BackfillError`` if the lag is unknown. If it becomes unknown
    later, that is a reason to pause until it is known again.
    """
    source = replica or using
    measure = _measure(using, replica)
    if measure() is None:
        raise BackfillError(_unknown(source))
    looked, reason = clock() - LOOK_SECONDS, ""

    def look() -> str:
        nonlocal looked, reason
        if clock() - looked >= LOOK_SECONDS:
            looked, reason = clock(), why()
        return reason

    def why() -> str:
        try:
            lag = measure()
        except BackfillError as error:
            return str(error)
        except (OperationalError, InterfaceError) as error:
            connections[source].close()
            # If the filled database itself is unreachable, the next batch handles it.
            return f"the lag of {source!r} can't be queried: {error}" if replica else ""
        if lag is None:
            return _unknown(source)
        return f"replicas are {lag:.0f} s behind, at most {most:g}" if lag > most else ""

    return look


def _measure(using: str, replica: str | None) -> Callable[[], float | None]:
    if replica:
        return lambda: engine_of(replica).lag_of_this_replica()
    return lambda: engine_of(using).lag_of_replicas()


def _unknown(source: str) -> str:
    return f"the lag of {source!r} is not known: its replication has stopped"
