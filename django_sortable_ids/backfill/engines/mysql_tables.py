"""What a table of MariaDB or MySQL has that the statements of a batch must know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ...db import tables
from ...db.queries import named_rows

if TYPE_CHECKING:
    from ..target import Target

_REFUSE_DATES = {"NO_ZERO_DATE", "NO_ZERO_IN_DATE", "TRADITIONAL"}
"""Modes that refuse a date like 0000-00-00, which old tables may have. TRADITIONAL includes both
others."""
_ALLOWS_DATES = "ALLOW_INVALID_DATES"
_TABLE = """
SELECT engine, create_options FROM information_schema.tables
WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s
"""


@dataclass(frozen=True, slots=True)
class KeptColumns:
    """Columns with ``ON UPDATE CURRENT_TIMESTAMP``, and what an UPDATE with a join needs to keep
    them. A column keeps its value if the UPDATE sets it to itself. It may be missing in the model.
    """

    names: tuple[str, ...] = ()
    update: str = "UPDATE"
    """The start of an UPDATE with a join. Such an UPDATE copies the values through a temporary
    table, which refuses the dates that the session's ``sql_mode`` refuses. On MySQL, this also
    loses which of two equal local times a TIMESTAMP was, in the hour that a clock change repeats.
    """
    session_zone: str | None = None
    """The time zone of the session, if ``update`` sets UTC for its statement."""

    def assignments(self, table: str = "") -> str:
        """The assignments after that of the id, with a leading comma."""
        return "".join(f", {table}{name} = {table}{name}" for name in map(_quote, self.names))


def kept_columns(connection: Any, table: str) -> KeptColumns:
    """The columns of the table."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s AND extra LIKE %s "
            "ORDER BY ordinal_position",
            [*tables.split(connection, table), "%on update current_timestamp%"],
        )
        types = dict(cursor.fetchall())
        if not types:
            return KeptColumns()
        cursor.execute("SELECT @@sql_mode, @@time_zone")
        mode, zone = cursor.fetchone()
    wanted = {*mode.split(","), _ALLOWS_DATES} - {*_REFUSE_DATES, ""}
    modes = ",".join(sorted(wanted))
    if connection.mysql_is_mariadb:
        return KeptColumns(tuple(types), f"SET STATEMENT sql_mode = '{modes}' FOR UPDATE")
    update = f"UPDATE /*+ SET_VAR(sql_mode = '{modes}')"
    if "timestamp" not in types.values():
        return KeptColumns(tuple(types), f"{update} */")
    return KeptColumns(tuple(types), f"{update} SET_VAR(time_zone = '+00:00') */", zone)


def kept_assignments(connection: Any, table: str, name: str = "") -> str:
    """What an UPDATE with parameters adds to its assignments, so that no other column changes.

    Empty on other databases. With a join, ``name`` is that of the table and a dot, and the session
    must copy values unchanged.
    """
    is_mysql = connection.vendor == "mysql"
    return kept_columns(connection, table).assignments(name) if is_mysql else ""


def _quote(name: str) -> str:
    """A name quoted for a statement with parameters. A foreign table may have any column names."""
    return f"`{name.replace('`', '``').replace('%', '%%')}`"


class TimeIndex(NamedTuple):
    """An index that begins with the creation time, from which the rows of a batch are read."""

    name: str
    is_in_order: bool
    """Whether a range of it gives the rows in the order of (creation time, key) without a sort."""


def time_index(target: Target, connection: Any) -> TimeIndex | None:
    """An index that begins with the time, preferably one in order; None if there is none.

    An index of InnoDB ends in the primary key. An UPDATE reads a range of it in its order, whatever
    ``mrr`` in ``optimizer_switch`` is, and so does an index-only query. This is not guaranteed for
    a partitioned table.
    """
    with connection.cursor() as cursor:
        table = target.model._meta.db_table
        cursor.execute(f"SHOW INDEX FROM {connection.ops.quote_name(table)}")
        parts = named_rows(cursor)
        cursor.execute(_TABLE, tables.split(connection, table))
        engine, options = cursor.fetchone()
    for part in parts:
        part["Column_name"] = tables.folded(connection, part["Column_name"] or "")
    keys = [tables.folded(connection, str(key.column)) for key in target.key_fields]
    ends_in_key = (
        engine == "InnoDB"
        and "partitioned" not in (options or "")
        and _columns_in_order(parts, "PRIMARY") == keys
    )
    time = tables.folded(connection, str(target.source.column))
    found = [
        TimeIndex(name, ends_in_key and _columns_in_order(parts, name) == [time])
        for name in (part["Key_name"] for part in parts if _begins_with(part, time))
    ]
    return max(found, key=lambda index: index.is_in_order, default=None)


def _begins_with(part: dict[str, Any], column: str) -> bool:
    # A hint with an invisible or ignored index is an error.
    is_off = part.get("Visible") == "NO" or part.get("Ignored") == "YES"
    return part["Seq_in_index"] == 1 and part["Column_name"] == column and not is_off


def _columns_in_order(parts: Sequence[dict[str, Any]], name: str) -> list[str] | None:
    """The columns of an index; None if one of them descends, or if only a prefix is indexed."""
    of_index = [part for part in parts if part["Key_name"] == name]
    if any(part["Collation"] != "A" or part["Sub_part"] for part in of_index):
        return None
    return [part["Column_name"] for part in sorted(of_index, key=lambda part: part["Seq_in_index"])]
