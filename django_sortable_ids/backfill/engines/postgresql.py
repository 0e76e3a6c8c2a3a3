"""PostgreSQL: the UPDATE of a batch computes the ids.

Neighbours on the disk are written in different transactions if that saves PostgreSQL work.

An UPDATE writes a new version of each row. The page of the old version rarely has room for it, so
it goes to another page, with a new entry in every index. If earlier transactions have left dead
versions in the page, the new version takes their room, and no index changes (a heap-only tuple,
HOT). So a span of rows is written in parts, each in its own transaction. This takes half the time,
and the table grows by 60 % instead of 100 %. All rows of a tick are in one part, which orders them.
"""

from collections.abc import Iterator
from typing import Any

from ...errors import BackfillError
from ..target import Target
from . import postgresql_side_effects
from .base import LOCK_SECONDS, Engine
from .postgresql_statements import NumberedByWindows, PostgreSQLStatements

_ALIGNED = 0.5
"""From this correlation of times with places on the disk, a batch has neighbours on the disk."""

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
    sending = PostgreSQLStatements
    computing = NumberedByWindows
    rows_per_second = (5_000.0, 40_000.0)

    def interleaves(self, target: Target) -> bool:
        """Whether neighbours in time are neighbours on the disk, and no index has the id."""
        if target.source.model is not target.model:
            return False
        table = self._quoted(target)
        with self.connection.cursor() as cursor:
            cursor.execute(_INDEXES_WITH_COLUMN, [table, target.field.column])
            if cursor.fetchone()[0]:
                return False
            cursor.execute(_CORRELATION, [table, target.source.column])
            correlation = cursor.fetchone()
        return correlation is None or abs(correlation[0] or 0.0) >= _ALIGNED

    def side_effects(self, target: Target) -> Iterator[str]:
        return postgresql_side_effects.effects(target, self.connection)

    def side_effect_warnings(self, target: Target) -> Iterator[str]:
        return postgresql_side_effects.warnings(target, self.connection)

    def version_bytes(self, target: Target, rows: int) -> int:
        # reltuples is an estimate: counting the rows takes as long as finding those without an id.
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
        replicas, visible, lag = self._fetched(_LAG_OF_REPLICAS)
        if not replicas:
            raise BackfillError(
                f"no replica follows {alias!r}: connect one, or omit --max-replica-lag"
            )
        if not visible:
            raise BackfillError(
                f"the database user of {alias!r} can't see the lag of its replicas: GRANT "
                f"pg_monitor to this user"
            )
        return float(lag)

    def lag_of_this_replica(self) -> float | None:
        follows, lag = self._fetched(_LAG_OF_THIS_REPLICA)
        if not follows:
            raise self._no_replica()
        return None if lag is None else float(lag)

    def _fetched(self, sql: str) -> Any:
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchone()

    def _quoted(self, target: Target) -> str:
        return str(self.connection.ops.quote_name(target.model._meta.db_table))
