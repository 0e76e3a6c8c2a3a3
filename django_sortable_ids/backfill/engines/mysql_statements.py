"""The statements of a batch for MariaDB and MySQL, and what they must know of its table."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.utils.functional import cached_property

from ...db import named_rows, row, rows, tables
from .base import Statements

if TYPE_CHECKING:
    from ..sources.target import Target

_TABLE = f"""
SELECT engine, create_options, table_type FROM information_schema.tables WHERE {tables.OF_MYSQL}
"""
_UPDATED_COLUMNS = f"""
SELECT column_name FROM information_schema.columns WHERE {tables.OF_MYSQL}
AND extra LIKE '%%on update current_timestamp%%' ORDER BY ordinal_position
"""
_TEXT_COLUMNS = f"""
SELECT column_name, character_set_name, collation_name FROM information_schema.columns
WHERE {tables.OF_MYSQL} AND character_set_name IS NOT NULL
"""
SEES_TRIGGERS = f"""
SELECT 1 FROM information_schema.user_privileges WHERE privilege_type = 'TRIGGER'
UNION SELECT 1 FROM information_schema.schema_privileges
WHERE privilege_type = 'TRIGGER' AND COALESCE(%s, DATABASE()) LIKE table_schema
UNION SELECT 1 FROM information_schema.table_privileges
WHERE privilege_type = 'TRIGGER' AND {tables.OF_MYSQL}
"""


def stored_as(connection: Any, table: str) -> Any:
    """Its storage engine, options and type."""
    return row(connection, _TABLE, tables.split(connection, table))


def updated_columns(connection: Any, table: str) -> list[str]:
    """The columns with ``ON UPDATE CURRENT_TIMESTAMP``, which may be missing in the model."""
    return [name for (name,) in rows(connection, _UPDATED_COLUMNS, tables.split(connection, table))]


def quoted(name: str) -> str:
    """The name of any column, even of one that the model doesn't know."""
    return f"`{name.replace('`', '``')}`"


def kept_assignments(connection: Any, table: str, prefix: str = "") -> str:
    """Assignments that an UPDATE with parameters adds, so that no other column changes: a column
    keeps its value if it is set to itself.

    Empty on other databases. With a join, ``prefix`` is the name of the table and a dot, and the
    session must copy values unchanged.
    """
    if connection.vendor != "mysql":
        return ""
    columns = [quoted(name).replace("%", "%%") for name in updated_columns(connection, table)]
    return "".join(f", {prefix}{column} = {prefix}{column}" for column in columns)


def time_index(target: Target, connection: Any) -> str | None:
    """An index on the time alone, whose ranges give the rows in the order of (creation time, key)
    without a sort; None if there is none.

    An index of InnoDB ends in the primary key. An UPDATE reads a range of it in its order, whatever
    ``mrr`` in ``optimizer_switch`` is, and so does an index-only query. This is not guaranteed for
    a partitioned table.
    """
    table = target.model._meta.db_table
    engine, options, _ = stored_as(connection, table)
    parts = named_rows(connection, f"SHOW INDEX FROM {connection.ops.quote_name(table)}")
    indexes: dict[str, list[Any]] = {}
    for part in sorted(parts, key=lambda part: part["Seq_in_index"]):
        # A hint with an invisible or ignored index is an error.
        is_off = part.get("Visible") == "NO" or part.get("Ignored") == "YES"
        ascends = part["Collation"] == "A" and not is_off
        column = tables.folded(connection, part["Column_name"] or "") if ascends else None
        indexes.setdefault(part["Key_name"], []).append(column)
    keys = [tables.folded(connection, str(key.column)) for key in target.model._meta.pk_fields]
    is_ordered = engine == "InnoDB" and "partitioned" not in (options or "")
    if not is_ordered or indexes.get("PRIMARY") != keys:
        return None
    time = tables.folded(connection, str(target.source.field.column))
    return next((name for name, columns in indexes.items() if columns == [time]), None)


_TIES, _WIDTH, _TICK, _ROW_TICK, _NUMBER, _RANK = (
    f"@backfill_{name}" for name in ("ties", "width", "tick", "row_tick", "number", "rank")
)
"""User variables."""


class MySQLStatements(Statements):
    """Ids from Python are a JSON parameter (``sending_sql``). Otherwise ``counting_sql`` counts the
    rows of the largest tick, and the UPDATE of ``batch_sql`` numbers them in user variables as it
    reads them.

    Window functions, and the lookup of their rows, would take half as long again. An UPDATE with
    such a join also locks all rows that it joins, even in READ COMMITTED: it might wait for every
    row without an id. MySQL calls assignments of user variables in expressions deprecated, but has
    no other way for an UPDATE.
    """

    _tick_and_rank = (_TICK, _RANK)

    @cached_property
    def self_assigned(self) -> Sequence[str]:  # type: ignore[override]
        return updated_columns(self.connection, self.target.model._meta.db_table)

    def _set(self, value: str, table: str = "") -> str:
        kept = kept_assignments(self.connection, self.target.model._meta.db_table, table)
        return f"{super()._set(value, table)}{kept}"

    @cached_property
    def sending_sql(self) -> str:
        """One UPDATE with a JSON parameter: for each row its key, its id, and maybe its time."""
        names = [*self._key_names, "id"]
        fields = [*self.target.model._meta.pk_fields, self.target.field]
        columns = ", ".join(
            f"{name} {self._json_type(field)} PATH '$[{position}]'"
            for position, (name, field) in enumerate(zip(names, fields, strict=True))
        )
        if self._compares_times:
            columns += f", created DATETIME(6) PATH '$[{len(fields)}]'"
        listed = f"SELECT * FROM JSON_TABLE(%(rows)s, '$[*]' COLUMNS ({columns})) listed"
        *keys, new_id = (
            self._value(field, f"d.{name}") for name, field in zip(names, fields, strict=True)
        )
        # A JSON_TABLE has another character set and collation than a text column, and the server
        # refuses to mix them.
        table = tables.split(self.connection, self.target.model._meta.db_table)
        texts = {
            column: f"CONVERT({{}} USING {charset}) COLLATE {collation}"
            for column, charset, collation in rows(self.connection, _TEXT_COLUMNS, table)
        }
        on = " AND ".join(
            f"t.{self._quote(field.column)} = {texts.get(str(field.column), '{}').format(key)}"
            for field, key in zip(fields, keys, strict=False)
        )
        return (
            f"UPDATE ({listed}) d "
            f"STRAIGHT_JOIN {self._table} t FORCE INDEX (PRIMARY) ON {on}{self._same_time} "
            f"SET {self._set(new_id, 't.')} WHERE t.{self._column} IS NULL"
        )

    def send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        sent_rows = zip(*self._lists(keys, stored, times).values(), strict=True)
        listed = json.dumps([list(map(_plain, values)) for values in sent_rows], default=str)
        return self.execute(self.sending_sql, {"rows": listed})

    def execute(self, sql: str, parameters: Mapping[str, Any]) -> int:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters)
        # rowcount is the number of matched rows, since Django sets CLIENT.FOUND_ROWS; it includes
        # rows that were not changed. The text is "Rows matched: 12  Changed: 11  Warnings: 0", in
        # the server's language; MariaDB adds "Inserted: 11" for a system-versioned table.
        _, changed, *_ = re.findall(r"\d+", self.connection.connection.info())
        return int(changed)

    @property
    def _compares_times(self) -> bool:
        # A DATETIME is sent as the column stores it, whatever its zone.
        return self.target.source.own_times is not None

    def _json_type(self, field: Any) -> str:
        column_type = self._kind(field)
        if "int" in column_type:
            return "BIGINT UNSIGNED" if "unsigned" in column_type else "BIGINT"
        if column_type.startswith(("bool", "date", "time")):
            return column_type
        return "VARCHAR(512)"

    def _value(self, field: Any, text: str) -> str:
        column_type = self._kind(field)
        if "binary" in column_type or "blob" in column_type:
            return f"UNHEX({text})"
        return f"CAST({text} AS UUID)" if column_type == "uuid" else text

    def _kind(self, field: Any) -> str:
        return str(field.rel_db_type(self.connection)).lower()

    @cached_property
    def counting_sql(self) -> str:  # type: ignore[override]
        """Sets the variables of ``batch_sql``: the rows of the largest tick, the width of its slots
        and the values before the first row. Rows with an id are counted as well, since the index on
        the time doesn't show the ids.

        If rows are read in order, they are counted during the read: in half the time of a GROUP BY.
        Should they be read in another order, the count is too low, and the rest become late rows.
        """
        tick, source = self._tick(self._time), f"{self._table} t{self._hint} WHERE {self._within}"
        if self._index:
            number = (
                f"CASE WHEN {_TICK} = ({_ROW_TICK} := {tick}) THEN {_NUMBER} := {_NUMBER} + 1 "
                f"ELSE {_NUMBER} := 1 + 0 * ({_TICK} := {_ROW_TICK}) END"
            )
            # An expression of a variable that had no value before the statement is a float.
            counts = (
                f"SELECT CAST(MAX({number}) AS SIGNED) AS ties "
                f"FROM (SELECT {_TICK} := -1, {_NUMBER} := 0) started STRAIGHT_JOIN {source}"
            )
        else:
            groups = f"SELECT COUNT(*) AS number FROM {source} GROUP BY {tick}"
            counts = f"SELECT MAX(number) AS ties FROM ({groups}) ticks"
        ties = "LEAST(ties, %(size)s)"
        values = {
            _TIES: ties,
            _WIDTH: f"{self._ranks} DIV {ties}",
            # A variable without a value before the UPDATE is a float there, too small for a tick.
            **{_TICK: "-1", _ROW_TICK: "-1", _NUMBER: "0", _RANK: "0"},
        }
        selected, variables = ", ".join(values.values()), ", ".join(values)
        return f"SELECT {selected} INTO {variables} FROM ({counts}) counts"

    @cached_property
    def batch_sql(self) -> str:  # type: ignore[override]
        """Continues with the variables of ``counting_sql``, and assigns them for each row that is
        read, in this order: ``row_tick`` is the tick of the row, ``number`` counts the rows of a
        tick from 0, ``rank`` is a random one of the slot with this number. An assignment has the
        assigned value, and CASE evaluates its conditions in their order. A row that appeared in its
        tick since the rows were counted, or that is read out of order, gets NULL: it becomes a late
        row."""
        tick = self._tick(self._time)
        # A row that is read out of order has a number that is too large.
        number = (
            f"CASE WHEN {_TICK} = ({_ROW_TICK} := {tick}) THEN {_NUMBER} + 1 "
            f"WHEN {_TICK} < {_ROW_TICK} THEN 0 * ({_TICK} := {_ROW_TICK}) ELSE {_TIES} END"
        )
        # In the first tick of a batch, ranks may be taken; the last one may have more rows.
        start, divisor = self._start_and_divisor(_TICK, _TIES)
        width = f"(({self._ranks} - {start}) DIV {divisor})"
        rank = (
            f"CASE WHEN {_TICK} IN (%(reserved_tick)s, %(last_tick)s) "
            f"THEN {start} + {_NUMBER} * {width} + {self._random} MOD {width} "
            f"ELSE {_NUMBER} * {_WIDTH} + {self._random} MOD {_WIDTH} END"
        )
        value = (
            f"CASE WHEN ({_NUMBER} := {number}) >= {_TIES} THEN NULL "
            f"WHEN ({_RANK} := {rank}) >= 0 THEN {self._composed} END"
        )
        order = f" ORDER BY {self._time}, {', '.join(f't.{key}' for key in self._keys)}"
        if self._index:
            # Rows are read in order anyway: an UPDATE with ORDER BY finds all its rows before it
            # changes the first one, and looks up each of them again.
            order = ""
        return (
            f"UPDATE {self._table} t{self._hint} SET {self._set(value, 't.')} "
            f"WHERE t.{self._column} IS NULL AND {self._within}{order}"
        )

    @property
    def _time(self) -> str:
        return f"t.{self._source_column}"

    @property
    def _within(self) -> str:
        """The condition of a batch. Only in this form do the optimizers see a range of an index on
        the time and the key. With a wider range, an UPDATE would wait for locks of other rows."""
        time = self._time
        key, first, last = self._ends("t")
        return (
            f"({time} > %(first_time)s OR {time} = %(first_time)s AND {key} >= {first}) "
            f"AND ({time} < %(last_time)s OR {time} = %(last_time)s AND {key} <= {last})"
        )

    @property
    def _hint(self) -> str:
        """Forces the index: for a batch of about a sixth of a table's rows, the optimizer would
        read the whole table, which takes several times as long."""
        return f" FORCE INDEX ({self._quote(self._index)})" if self._index else ""

    @cached_property
    def _index(self) -> str | None:
        return time_index(self.target, self.connection)


def _plain(value: Any) -> Any:
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else value
