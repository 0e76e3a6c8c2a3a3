"""PostgreSQL: the UPDATE of a batch computes the ids.

Neighbours on the disk are written in different transactions if that saves PostgreSQL work.

An UPDATE writes a new version of each row. The page of the old version rarely has room for it, so
it goes to another page, with a new entry in every index. If earlier transactions have left dead
versions in the page, the new version takes their room, and no index changes (a heap-only tuple,
HOT). So a span of rows is written in parts, each in its own transaction. This takes half the time,
and the table grows by 60 % instead of 100 %. All rows of a tick are in one part, which orders them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import cached_property

from ... import db
from ...db import tables
from ...db.transactions import lift_statement_limit
from ..sources.target import Target
from .base import HASHES, LOCK_SECONDS, Engine, Statements

_IN_PART = (
    " WHERE CASE WHEN tick = %(last_tick)s THEN %(with_last_tick)s "
    f"ELSE hashint8(tick) & {HASHES - 1} BETWEEN %(first_hash)s AND %(last_hash)s END"
)


class PostgreSQLStatements(Statements):
    """Ids from Python are arrays. The database numbers the rows of a table by window functions."""

    _tick_and_rank = ("d.tick", "d.rank")

    @cached_property
    def sending_sql(self) -> str:
        names = [*self._key_names, "id"]
        types = [key.rel_db_type(self.connection) for key in self.target.model._meta.pk_fields]
        types.append(self.target.field.db_type(self.connection))
        if self._compares_times:
            names.append("created")
            types.append(self.target.source.field.db_type(self.connection))
        pairs = zip(names, types, strict=True)
        lists = ", ".join(f"%({name})s::{column_type}[]" for name, column_type in pairs)
        rows = f"SELECT * FROM unnest({lists}) u({', '.join(names)})"
        keys = zip(self._keys, self._key_names, strict=True)
        on = " AND ".join(f"t.{key} = d.{name}" for key, name in keys)
        return self._update("d.id", rows, f"{on}{self._same_time}")

    def send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        return self.execute(self.sending_sql, self._lists(keys, stored, times))

    def execute(self, sql: str, parameters: Mapping[str, Any]) -> int:
        with self.connection.cursor() as cursor:
            # Otherwise the planner may read the whole table for the join of every batch.
            cursor.execute("SET LOCAL enable_hashjoin = off")
            cursor.execute("SET LOCAL enable_mergejoin = off")
        return super().execute(sql, parameters)

    def _update(self, value: str, rows: str, on: str) -> str:
        """An UPDATE that sets ``value`` in each of ``rows`` that still has no id."""
        return (
            f"UPDATE {self._table} AS t SET {self._set(value)} FROM ({rows}) d "
            f"WHERE {on} AND t.{self._column} IS NULL"
        )

    @cached_property
    def batch_sql(self) -> str:  # type: ignore[override]
        return self._computed()

    @cached_property
    def one_time_sql(self) -> str:  # type: ignore[override]
        return self._computed(of_one_time=True)

    @cached_property
    def part_sql(self) -> str:  # type: ignore[override]
        return self._computed(where=_IN_PART)

    def _computed(self, of_one_time: bool = False, where: str = "") -> str:
        """The UPDATE of the rows without an id from the first to the last one, both included, for
        which ``where`` is true."""
        time = f"s.{self._source_column}"
        pairs = zip(self._keys, self._key_names, strict=True)
        keys = ", ".join(f"s.{key} AS {name}" for key, name in pairs)
        key, first, last = self._ends("s")
        within = (
            f"{time} >= %(first_time)s AND ({time} > %(first_time)s OR {key} >= {first}) "
            f"AND {time} <= %(last_time)s AND ({time} < %(last_time)s OR {key} <= {last})"
        )
        if of_one_time:
            # In this form an index finds the first key: millions of rows may share one time.
            within = f"{time} = %(first_time)s AND {key} >= {first} AND {key} <= {last}"
        batch = (
            f"SELECT {keys}, s.ctid AS tuple, s.tableoid AS of_table, {time} AS created "
            f"FROM {self._table} s WHERE s.{self._column} IS NULL AND {within}"
        )
        # The random number is drawn in the SELECT of the windows. PostgreSQL would compute a window
        # that is written twice two times.
        windows = (
            "row_number() OVER (PARTITION BY tick "
            f"ORDER BY created, {', '.join(self._key_names)}) AS number, "
            "count(*) OVER (PARTITION BY tick) AS ties"
        )
        start, divisor = self._start_and_divisor("tick", "ties")
        width = f"(({self._ranks} - {start}) / {divisor})"
        ranked = (
            f"SELECT tuple, of_table, created, tick, "
            f"{start} + (number - 1) * {width} + mod(random, {width}) AS rank "
            f"FROM (SELECT tuple, of_table, created, tick, {windows}, {self._random} AS random "
            f"FROM (SELECT b.*, {self._tick('created')} AS tick FROM ({batch}) b) ticks"
            f"{where}) numbered"
        )
        # ctid finds a row directly. If another transaction has changed a row since the statement
        # began, its ctid has changed: it becomes a late row. Releases before November 2025 don't
        # recheck a ctid ("Add missing EPQ recheck for TID Scan"), but they recheck a time. A ctid
        # is unique only within a partition, hence tableoid.
        on = f"t.ctid = d.tuple AND t.tableoid = d.of_table{self._same_time}"
        return self._update(self._composed, ranked, on)


_ROW, _UPDATE = 1, 16
"""Bits of pg_trigger.tgtype."""
_TRIGGERS = f"""
WITH RECURSIVE tables AS (
    SELECT %(table)s::regclass::oid AS id, true AS is_named
    UNION SELECT inhrelid, false FROM pg_inherits JOIN tables ON inhparent = id
)
SELECT pg_trigger.oid, tgparentid, tgname, tgrelid::regclass::text
FROM tables JOIN pg_attribute ON attrelid = id AND attname = %(column)s
JOIN pg_trigger ON tgrelid = id
WHERE NOT tgisinternal AND tgtype & {_UPDATE} <> 0 AND (is_named OR tgtype & {_ROW} <> 0)
    AND tgenabled <> 'D' AND (tgattr::text = '' OR attnum = ANY (tgattr))
ORDER BY tgname, tgrelid::regclass::text
"""
"""The triggers of the table, and of its partitions and children, whose rows the UPDATE changes."""
_RULES = """
SELECT rulename FROM pg_rewrite
WHERE ev_class = %s::regclass AND ev_type = '2' AND ev_enabled <> 'D'
ORDER BY rulename
"""


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
_LAG = """
SELECT pg_is_in_recovery(), CASE
  WHEN pg_last_wal_receive_lsn() IS NOT NULL AND NOT EXISTS (SELECT FROM pg_stat_wal_receiver)
  THEN NULL
  WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0
  ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float END
"""


class PostgreSQL(Engine):
    statements = PostgreSQLStatements
    rows_per_second = (5_000.0, 40_000.0)

    def interleaves(self, target: Target) -> bool:
        """Whether neighbours in time are neighbours on the disk, and no index has the id."""
        table = self._quoted(target)
        if db.value(self.connection, _INDEXES_WITH_COLUMN, [table, target.field.column]):
            return False
        correlation = db.row(self.connection, _CORRELATION, [table, target.source.field.column])
        return correlation is None or abs(correlation[0] or 0.0) >= _ALIGNED

    def side_effects(self, target: Target) -> list[str]:
        """Triggers, rules, and row-level security that hides rows."""
        connection, table = self.connection, self._quoted(target)
        parameters = {"table": table, "column": target.field.column}
        triggers = db.rows(connection, _TRIGGERS, parameters)
        # A trigger of a partitioned table has a clone in each partition.
        known = {oid for oid, *_ in triggers}
        effects = [
            f"the trigger {name} of {of}" for _, parent, name, of in triggers if parent not in known
        ]
        effects += [f"the rule {name}" for (name,) in db.rows(connection, _RULES, [table])]
        for model in target.source.read_models:
            if tables.may_hide_rows(connection, model._meta.db_table):
                effects.append(
                    f"the row-level security of {model._meta.db_table} may hide rows from "
                    f"{db.value(connection, 'SELECT current_user')}; these get no id"
                )
        return effects

    def prepare_session(self) -> None:
        lift_statement_limit(self.connection)  # if the command had to connect again

    def end_session(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("RESET statement_timeout")

    def begin_batch(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'")
            cursor.execute("SET LOCAL statement_timeout = 0")

    def lag(self) -> float | None:
        follows, lag = db.row(self.connection, _LAG)
        if not follows:
            return super().lag()
        return None if lag is None else float(lag)

    def _quoted(self, target: Target) -> str:
        return str(self.connection.ops.quote_name(target.model._meta.db_table))
