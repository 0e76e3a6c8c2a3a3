"""The statements of a batch for PostgreSQL."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import cached_property

from .statements import ComputedStatements, Statements

_OF_PART = (
    " WHERE CASE WHEN tick = %(last_tick)s THEN %(with_last_tick)s "
    "ELSE hashint8(tick) & %(mask)s = %(part)s END"
)


class PostgreSQLStatements(Statements):
    @cached_property
    def sent(self) -> str:
        """One UPDATE with arrays as parameters."""
        names = [*self._key_names, "id"]
        types = [key.rel_db_type(self.connection) for key in self.target.key_fields]
        types.append(self.target.field.db_type(self.connection))
        if self._compares_times:
            names.append("created")
            types.append(self.target.source.db_type(self.connection))
        pairs = zip(names, types, strict=True)
        lists = ", ".join(f"%({name})s::{kind}[]" for name, kind in pairs)
        rows = f"SELECT * FROM unnest({lists}) u({', '.join(names)})"
        return self._update("d.id", rows, f"{self._on_keys()}{self._unmoved}")

    def send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        return self.execute(self.sent, self._lists(keys, stored, times))

    def execute(self, sql: str, parameters: Mapping[str, Any]) -> int:
        with self.connection.cursor() as cursor:
            # Otherwise the planner may read the whole table for the join of every batch.
            cursor.execute("SET LOCAL enable_hashjoin = off")
            cursor.execute("SET LOCAL enable_mergejoin = off")
            cursor.execute(sql, parameters)
            return int(cursor.rowcount)

    def _update(self, value: str, rows: str, on: str) -> str:
        """An UPDATE that sets ``value`` for those of ``rows`` that still have no id."""
        return (
            f"UPDATE {self._table} AS t SET {self._set(value)} FROM ({rows}) d "
            f"WHERE {on} AND t.{self._column} IS NULL"
        )


class NumberedByWindows(PostgreSQLStatements, ComputedStatements):
    """Numbers the rows of a table, joined with its parents, by window functions."""

    _numbered = ("d.tick", "d.slot")

    @cached_property
    def of_batch(self) -> str:
        return self._computed()

    @cached_property
    def of_one_time(self) -> str:
        return self._computed(of_one_time=True)

    @cached_property
    def of_part(self) -> str:
        return self._computed(part=_OF_PART)

    def _computed(self, of_one_time: bool = False, part: str = "") -> str:
        # ctid finds a row directly. If another transaction has changed a row since the statement
        # began, its ctid has changed, and the sweep fills it. Releases before November 2025 don't
        # recheck a ctid ("Add missing EPQ recheck for TID Scan"), but they recheck a time. A ctid
        # is unique only within a partition, hence tableoid.
        on = f"t.ctid = d.place AND t.tableoid = d.part{self._unmoved}"
        return self._update(self._composed, self._slots(self._batch(of_one_time), part), on)

    def _slots(self, batch: str, part: str) -> str:
        """Tick and rank of each row of the batch.

        The random number is drawn in the SELECT of the windows. PostgreSQL would compute a window
        that is written twice two times.
        """
        windows = (
            "row_number() OVER (PARTITION BY tick "
            f"ORDER BY created, {', '.join(self._key_names)}) AS number, "
            "count(*) OVER (PARTITION BY tick) AS ties"
        )
        start, divisor = self._start_and_divisor("tick", "ties")
        width = f"(({self._composition.ranks} - {start}) / {divisor})"
        return (
            f"SELECT place, part, created, tick, "
            f"{start} + (number - 1) * {width} + mod(random, {width}) AS slot "
            f"FROM (SELECT place, part, created, tick, {windows}, {self._random} AS random "
            f"FROM (SELECT b.*, {self._tick('created')} AS tick FROM ({batch}) b) ticks"
            f"{part}) numbered"
        )

    def _batch(self, of_one_time: bool) -> str:
        """The rows without an id from the first to the last place, both included."""
        time = f"s{len(self._chain)}.{self._source_column}"
        pairs = zip(self._keys, self._key_names, strict=True)
        keys = ", ".join(f"s0.{key} AS {name}" for key, name in pairs)
        return (
            f"SELECT {keys}, s0.ctid AS place, s0.tableoid AS part, {time} AS created "
            f"FROM {self._source} "
            f"WHERE s0.{self._column} IS NULL AND {self._within(time, of_one_time)}"
        )

    def _within(self, time: str, of_one_time: bool) -> str:
        key, first, last = self._places("s0")
        if of_one_time:
            # In this form an index finds the first key: millions of rows may share one time.
            return f"{time} = %(first_time)s AND {key} >= {first} AND {key} <= {last}"
        return (
            f"{time} >= %(first_time)s AND ({time} > %(first_time)s OR {key} >= {first}) "
            f"AND {time} <= %(last_time)s AND ({time} < %(last_time)s OR {key} <= {last})"
        )

    @property
    def _source(self) -> str:
        """The table, joined with those of its parents up to the one that has the time."""
        sql, child = f"{self._table} s0", self.target.model
        for number, parent in enumerate(self._chain, 1):
            link = child._meta.parents[parent]
            assert link is not None
            pk = self._quote(parent._meta.pk.column)
            sql += (
                f" JOIN {self._quote(parent._meta.db_table)} s{number}"
                f" ON s{number}.{pk} = s{number - 1}.{self._quote(link.column)}"
            )
            child = parent
        return sql
