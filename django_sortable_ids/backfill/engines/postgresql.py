"""PostgreSQL: ids are computed by the UPDATE of a batch.

Neighbours on the disk are written in different transactions, where that saves PostgreSQL work.

An UPDATE writes a new version of each row, and seldom is there room for it in the page of the old
one: it goes into another page, with a new entry in every index. Where earlier transactions have
left old versions in the page, the new one takes their room, and no index has to know (a heap-only
tuple, HOT). So a span of rows is written in parts, each in a transaction of its own: that takes
half the time, and the table grows by three fifths where it would double. All rows of a tick are in
one part, which puts them in order.
"""

from collections.abc import Iterator
from typing import Any

from django.db import NotSupportedError

from ...errors import BackfillError
from ...functions.composition import Composition
from ..target import Target
from . import postgresql_side_effects
from .base import LOCK_SECONDS, Engine
from .postgresql_statements import NumberedByWindows, PostgreSQLStatements

_ALIGNED = 0.5
"""The least correlation of places on the disk with times, at which neighbours meet in a batch."""

_CORRELATION = """
SELECT correlation FROM pg_stats
WHERE to_regclass(quote_ident(schemaname) || '.' || quote_ident(tablename)) = to_regclass(%s)
AND attname = %s
"""
_INDEXES_WITH_COLUMN = """
SELECT count(*) FROM pg_attribute JOIN pg_index ON indrelid = attrelid
WHERE attrelid = to_regclass(%s) AND attname = %s AND (
  attnum = ANY(indkey)
  -- its expressions, and its condition
  OR EXISTS (
    SELECT FROM pg_depend WHERE objid = indexrelid AND refobjid = indrelid AND refobjsubid = attnum
  )
)
"""
_LAG_OF_REPLICAS = """
SELECT count(*), count(state),
       coalesce(max(extract(epoch FROM replay_lag)), 0)::float FROM pg_stat_replication
"""
_LAG_OF_THIS_REPLICA = """
SELECT pg_is_in_recovery(), CASE
  WHEN pg_last_wal_receive_lsn() IS NOT NULL AND NOT EXISTS (SELECT FROM pg_stat_wal_receiver)
  THEN NULL
  WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
  ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float END
"""


class PostgreSQL(Engine):
    rows_per_second = (5_000.0, 40_000.0)

    def statements(self, target: Target, *, with_times: bool = True) -> PostgreSQLStatements:
        return PostgreSQLStatements(target, self.connection, with_times=with_times)

    def computed(self, target: Target, composition: Composition) -> NumberedByWindows:
        if not target.times.knows_utc:
            raise NotSupportedError("Python knows the time zone better")
        return NumberedByWindows(target, self.connection, composition)

    def interleaves(self, target: Target) -> bool:
        """Whether neighbours in time are neighbours on the disk, and no index has the column."""
        if target.source.model is not target.model:
            return False
        table = self._quoted(target)
        with self.connection.cursor() as cursor:
            cursor.execute(_INDEXES_WITH_COLUMN, [table, target.field.column])
            if cursor.fetchone()[0]:
                return False
            cursor.execute(_CORRELATION, [table, target.source.column])
            found = cursor.fetchone()
        return found is None or abs(found[0] or 0.0) >= _ALIGNED

    def side_effects(self, target: Target) -> Iterator[str]:
        return postgresql_side_effects.effects(target, self.connection)

    def side_effect_warnings(self, target: Target) -> Iterator[str]:
        return postgresql_side_effects.warnings(target, self.connection)

    def version_bytes(self, target: Target, rows: int) -> int:
        # It knows about how many rows a table has: to count them would take as long as to find
        # those without an id.
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_table_size(oid), reltuples FROM pg_class WHERE oid = to_regclass(%s)",
                [self._quoted(target)],
            )
            size, known = cursor.fetchone()
        return int(size * rows / max(rows, known))

    def begin_batch(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")

    def lag_of_replicas(self) -> float | None:
        alias = self.connection.alias
        replicas, visible, lag = self._asked(_LAG_OF_REPLICAS)
        if not replicas:
            raise BackfillError(f"no replica follows {alias!r}, so that it has no lag to keep to")
        if not visible:
            raise BackfillError(
                f"the lag of the replicas of {alias!r} is hidden from its user: GRANT pg_monitor "
                f"to it"
            )
        return float(lag)

    def lag_of_this_replica(self) -> float | None:
        follows, lag = self._asked(_LAG_OF_THIS_REPLICA)
        if not follows:
            raise self._no_replica()
        return None if lag is None else float(lag)

    def _asked(self, sql: str) -> Any:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()

    def _quoted(self, target: Target) -> str:
        return str(self.connection.ops.quote_name(target.model._meta.db_table))
