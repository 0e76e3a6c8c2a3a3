"""How far replicas are behind what a backfill writes."""

from __future__ import annotations

import time
from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connections

from ...errors import BackfillError
from ..writing.execution import named_rows

LOOK_SECONDS = 1.0

_POSTGRESQL_PRIMARY = """
SELECT count(*), count(state),
       coalesce(max(extract(epoch FROM replay_lag)), 0)::float FROM pg_stat_replication
"""
_POSTGRESQL_REPLICA = """
SELECT pg_is_in_recovery(), CASE
  WHEN pg_last_wal_receive_lsn() IS NOT NULL AND NOT EXISTS (SELECT FROM pg_stat_wal_receiver)
  THEN NULL
  WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
  ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float END
"""
_LAG_COLUMNS = ("Seconds_Behind_Source", "Seconds_Behind_Master")


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
    vendor = connections[replica or using].vendor
    if vendor == "postgresql":
        return (lambda: _of_postgresql_replica(replica)) if replica else lambda: _of_primary(using)
    if vendor == "mysql" and replica:
        return lambda: _of_mysql_replica(replica)
    if vendor == "mysql":
        raise BackfillError(
            "a server of MariaDB or MySQL doesn't know the lag of its replicas: name the database "
            "alias of one to ask, --replica ALIAS"
        )
    raise BackfillError(f"--max-replica-lag: {vendor} has no replicas")


def _unknown(asked: str) -> str:
    return f"the lag of {asked!r} is not known: its replication has stopped"


def _of_primary(using: str) -> float | None:
    with connections[using].cursor() as cursor:
        cursor.execute(_POSTGRESQL_PRIMARY)
        replicas, visible, lag = cursor.fetchone()
    if not replicas:
        raise BackfillError(f"no replica follows {using!r}, so that it has no lag to keep to")
    if not visible:
        raise BackfillError(
            f"the lag of the replicas of {using!r} is hidden from its user: GRANT pg_monitor to it"
        )
    return float(lag)


def _of_postgresql_replica(alias: str) -> float | None:
    with connections[alias].cursor() as cursor:
        cursor.execute(_POSTGRESQL_REPLICA)
        follows, lag = cursor.fetchone()
    if not follows:
        raise _no_replica(alias)
    return None if lag is None else float(lag)


def _of_mysql_replica(alias: str) -> float | None:
    with connections[alias].cursor() as cursor:
        cursor.execute("SHOW REPLICA STATUS")
        sources = named_rows(cursor)
    if not sources:
        raise _no_replica(alias)
    lag = next(sources[0][name] for name in _LAG_COLUMNS if name in sources[0])
    return None if lag is None else float(lag)


def _no_replica(alias: str) -> BackfillError:
    return BackfillError(f"the database {alias!r} is no replica: --replica needs one")
