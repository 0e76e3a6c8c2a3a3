"""The batches of MariaDB and MySQL."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import NotSupportedError, models
from django.utils.functional import cached_property

from ...db import tables
from ...db.introspection import is_timestamp
from ...functions.composition import Composition
from ..target import Target
from .kept_columns import KeptColumns, kept_columns
from .statements import ComputedStatements, Statements
from .time_index import TimeIndex, time_index

_TIES, _WIDTH, _TICK, _NEXT_TICK, _NUMBER, _SLOT, _LEAST_KEY, _GREATEST_KEY, _READ = (
    f"@backfill_{name}"
    for name in (
        *("ties", "width", "tick", "next_tick", "number", "slot"),
        *("least_key", "greatest_key", "read"),
    )
)
"""User variables."""


class MySQLStatements(Statements):
    @cached_property
    def kept(self) -> KeptColumns:  # type: ignore[override]
        return kept_columns(self.connection, self.target.model._meta.db_table)

    @cached_property
    def sent(self) -> str:
        """One UPDATE with a parameter of JSON: a list for each row of its key, its id, and maybe
        its time."""
        names, fields = [*self._key_names, "id"], [*self.target.key_fields, self.target.field]
        columns = ", ".join(
            f"{name} {self._json_type(field)} PATH '$[{position}]'"
            for position, (name, field) in enumerate(zip(names, fields, strict=True))
        )
        if self._compares_times:
            columns += f", created DATETIME(6) PATH '$[{len(fields)}]'"
        rows = f"SELECT * FROM JSON_TABLE(%(rows)s, '$[*]' COLUMNS ({columns})) listed"
        *keys, made = (
            self._value(field, f"d.{name}") for name, field in zip(names, fields, strict=True)
        )
        collations = self._collations()
        on = " AND ".join(
            f"t.{self._quote(field.column)} = {key}{collations.get(str(field.column), '')}"
            for field, key in zip(fields, keys, strict=False)
        )
        return (
            f"{self.kept.update} ({rows}) d "
            f"STRAIGHT_JOIN {self._table} t FORCE INDEX (PRIMARY) ON {on}{self._unmoved} "
            f"SET {self._set(made, 't.')} WHERE t.{self._column} IS NULL"
        )

    def send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        rows = zip(*self._lists(keys, stored, times).values(), strict=True)
        listed = json.dumps([list(map(_plain, row)) for row in rows], default=str)
        return self.execute(self.sent, {"rows": listed})

    def execute(self, sql: str, parameters: Mapping[str, Any]) -> int:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters)
        # Django has MariaDB and MySQL count the rows that matched, of which some are looked up in
        # vain. "Rows matched: 12  Changed: 11  Warnings: 0", in the language of the server; MariaDB
        # adds "Inserted: 11" for a table with a history.
        _, changed, *_ = re.findall(r"\d+", self.connection.connection.info())
        return int(changed)

    @property
    def _can_compare_times(self) -> bool:
        return True

    @property
    def _time_as_read(self) -> str:
        """The time of a row as the session reads it; the UPDATE may have a zone of its own."""
        time, zone = super()._time_as_read, self.kept.session_zone
        source = self.target.source
        table, column = source.model._meta.db_table, str(source.column)
        if zone is None or not is_timestamp(self.connection, table, column):
            return time
        return f"CONVERT_TZ({time}, '+00:00', '{zone}')"

    def _json_type(self, field: Any) -> str:
        kind = self._kind(field)
        if "int" in kind:
            return "BIGINT UNSIGNED" if "unsigned" in kind else "BIGINT"
        return "VARCHAR(512)"

    def _value(self, field: Any, text: str) -> str:
        kind = self._kind(field)
        if "binary" in kind or "blob" in kind:
            return f"UNHEX({text})"
        return f"CAST({text} AS UUID)" if kind == "uuid" else text

    def _kind(self, field: Any) -> str:
        return str(field.rel_db_type(self.connection)).lower()

    def _collations(self) -> dict[str, str]:
        """What the key's columns of text are compared by: that of a JSON_TABLE is another one, and
        the server wouldn't know which to take.
        """
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT column_name, collation_name FROM information_schema.columns "
                "WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s "
                "AND character_set_name IS NOT NULL",
                tables.split(self.connection, self.target.model._meta.db_table),
            )
            return {name: f" COLLATE {collation}" for name, collation in cursor.fetchall()}


class NumberedWhileRead(MySQLStatements, ComputedStatements):
    """Windows, and the look-up of what they found, would take half as long again. An UPDATE that
    joins them would also lock what it joins, READ COMMITTED or not: every row without an id might
    be waited for. User variables are set in an expression here, which MySQL calls deprecated and
    has no other way for in an UPDATE.
    """

    _numbered = (_TICK, _SLOT)
    last_given = f"SELECT {_TICK}, {_SLOT}"

    def __init__(self, target: Target, connection: Any, composition: Composition) -> None:
        super().__init__(target, connection, composition)
        if self._chain:
            raise NotSupportedError("the time is in another table than the id")

    @cached_property
    def before_batch(self) -> Mapping[str, str]:
        ahead = {"to read what it changes": self._read_ahead} if self._reads_ahead else {}
        return {"to count its ticks' rows": self._counted, **ahead}

    @property
    def _counted(self) -> str:
        """How many rows a tick has at most, with those that have an id, which the index on the time
        doesn't tell from the others."""
        ties = "LEAST(ties, %(size)s)"
        values = {
            _TIES: ties,
            _WIDTH: f"{self._composition.ranks} DIV {ties}",
            # One that has no value before the UPDATE is a float in it, which holds no large tick.
            **{_TICK: "-1", _NEXT_TICK: "-1", _NUMBER: "0", _SLOT: "0"},
        }
        if self._reads_ahead:
            values |= {_LEAST_KEY: "least_key", _GREATEST_KEY: "greatest_key"}
        return (
            f"SELECT {', '.join(values.values())} INTO {', '.join(values)} "
            f"FROM ({self._counts}) counts"
        )

    @property
    def _counts(self) -> str:
        """Counted while read, where rows come in order, which takes half of the time of a GROUP BY.
        Of what comes in another order after all it counts too few, and the others are left to the
        sweep."""
        tick, rows = self._tick(self._time), f"{self._table} t{self._hint} WHERE {self._within}"
        if not self._is_in_order:
            groups = f"SELECT COUNT(*) AS number FROM {rows} GROUP BY {tick}"
            return f"SELECT MAX(number) AS ties FROM ({groups}) ticks"
        number = (
            f"CASE WHEN {_TICK} = ({_NEXT_TICK} := {tick}) THEN {_NUMBER} := {_NUMBER} + 1 "
            f"ELSE {_NUMBER} := 1 + 0 * ({_TICK} := {_NEXT_TICK}) END"
        )
        # What is computed of a variable that had no value before the statement is a float.
        return (
            f"SELECT CAST(MAX({number}) AS SIGNED) AS ties{self._keys_of_batch} "
            f"FROM (SELECT {_TICK} := -1, {_NUMBER} := 0) begun STRAIGHT_JOIN {rows}"
        )

    @property
    def _keys_of_batch(self) -> str:
        """The least and the greatest key; that one is NULL where too many rows of other batches may
        have the keys between them."""
        if not self._reads_ahead:
            return ""
        (key,) = (f"t.{key}" for key in self._keys)
        # Integers that lie too far apart for their difference to be one would be an error.
        span = f"MAX({key}) - CAST(MIN({key}) AS DECIMAL(20))"
        are_dense = f"{span} < 2 * @@auto_increment_increment * COUNT(*)"
        greatest = f"CASE WHEN {are_dense} THEN MAX({key}) END"
        return f", MIN({key}) AS least_key, {greatest} AS greatest_key"

    @property
    def _read_ahead(self) -> str:
        """Reads the rows in the order of their keys, which is where they are: in that order MariaDB
        reads pages ahead, and waits for each of them where it comes from an index on the time, for
        a fifth of the time of a batch that isn't in memory. MySQL reads ahead in either order.
        """
        (key,) = (f"t.{key}" for key in self._keys)
        # A SELECT locks nothing; a DO would lock what it reads, and keep an error to itself.
        return (
            f"SELECT COUNT(t.{self._column}) INTO {_READ} FROM {self._table} t "
            f"FORCE INDEX (PRIMARY) WHERE {key} BETWEEN {_LEAST_KEY} AND {_GREATEST_KEY}"
        )

    @property
    def _reads_ahead(self) -> bool:
        """Whether rows of about one time may lie together: keys of other types are often random."""
        keys = self.target.key_fields
        are_numbers = len(keys) == 1 and isinstance(keys[0], models.IntegerField)
        return bool(self.connection.mysql_is_mariadb) and self._is_in_order and are_numbers

    @cached_property
    def of_batch(self) -> str:
        # The conditions of a CASE are looked at one after the other. What appeared in a tick since
        # its rows were counted, and what came in another order, is left to the sweep.
        tick = self._tick(self._time)
        number = (
            f"CASE WHEN {_TICK} = ({_NEXT_TICK} := {tick}) THEN {_NUMBER} + 1 "
            f"WHEN {_TICK} < {_NEXT_TICK} THEN 0 * ({_TICK} := {_NEXT_TICK}) ELSE {_TIES} END"
        )
        value = (
            f"CASE WHEN ({_NUMBER} := {number}) >= {_TIES} THEN NULL "
            f"WHEN ({_SLOT} := {self._slot}) >= 0 THEN {self._made} END"
        )
        return (
            f"UPDATE {self._table} t{self._hint} SET {self._set(value, 't.')} "
            f"WHERE t.{self._column} IS NULL AND {self._within}{self._order}"
        )

    @property
    def _slot(self) -> str:
        """The first and the last tick of a batch may have fewer ranks, or more rows."""
        start, divisor = self._start_and_divisor(_TICK, _TIES)
        width = f"(({self._composition.ranks} - {start}) DIV {divisor})"
        return (
            f"CASE WHEN {_TICK} IN (%(reserved_tick)s, %(last_tick)s) "
            f"THEN {start} + {_NUMBER} * {width} + {self._random} MOD {width} "
            f"ELSE {_NUMBER} * {_WIDTH} + {self._random} MOD {_WIDTH} END"
        )

    @property
    def _time(self) -> str:
        return f"t.{self._source_column}"

    @property
    def _within(self) -> str:
        """In this form, and in no shorter one, the range optimizers see a range of an index on the
        time, which ends in the key; what they read besides, an UPDATE would wait for."""
        time = self._time
        key, first, last = self._places("t")
        return (
            f"({time} > %(first_time)s OR {time} = %(first_time)s AND {key} >= {first}) "
            f"AND ({time} < %(last_time)s OR {time} = %(last_time)s AND {key} <= {last})"
        )

    @property
    def _hint(self) -> str:
        """Which index to take: all of a table would be read for a batch of about a sixth of its
        rows, which takes several times as long as the batch.
        """
        return f" FORCE INDEX ({self._quote(self._index.name)})" if self._index else ""

    @property
    def _order(self) -> str:
        """An UPDATE with an order finds all its rows before it changes the first one, and looks for
        each again."""
        if self._is_in_order:
            return ""
        return f" ORDER BY {self._time}, {', '.join(f't.{key}' for key in self._keys)}"

    @property
    def _is_in_order(self) -> bool:
        """Whether the rows are read in the order of (creation time, key) by itself."""
        return bool(self._index and self._index.is_in_order)

    @cached_property
    def _index(self) -> TimeIndex | None:
        return time_index(self.target, self.connection)


def _plain(value: Any) -> Any:
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else value
