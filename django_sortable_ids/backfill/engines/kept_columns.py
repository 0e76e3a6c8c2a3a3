"""Columns of MariaDB and MySQL with ``ON UPDATE CURRENT_TIMESTAMP``, which every UPDATE must keep.

A column keeps its value where the UPDATE sets it to itself. The model may not know the column.
"""

from dataclasses import dataclass
from typing import Any

from ...db import tables

_REFUSE_DATES = {"NO_ZERO_DATE", "NO_ZERO_IN_DATE", "TRADITIONAL"}
"""Modes that refuse a date like 0000-00-00, which old tables hold. TRADITIONAL includes the others.
"""
_ALLOWS_DATES = "ALLOW_INVALID_DATES"


@dataclass(frozen=True, slots=True)
class KeptColumns:
    """Their names, and what an UPDATE with a join needs to keep them."""

    names: tuple[str, ...] = ()
    update: str = "UPDATE"
    """How an UPDATE with a join begins. It copies the values through a temporary table, which
    refuses dates that the session's ``sql_mode`` refuses. On MySQL it also loses which of two
    equal local times a TIMESTAMP was, in the hour that a clock change repeats.
    """
    session_zone: str | None = None
    """The time zone of the session, where ``update`` takes UTC for its statement."""

    def assignments(self, table: str = "") -> str:
        """What follows the assignment of the id."""
        return "".join(f", {table}{name} = {table}{name}" for name in map(_quote, self.names))


def kept_columns(connection: Any, table: str) -> KeptColumns:
    """Those of the table; none on other engines."""
    if connection.vendor != "mysql":
        return KeptColumns()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, data_type FROM information_schema.columns "
            "WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s AND extra LIKE %s "
            "ORDER BY ordinal_position",
            [*tables.split(connection, table), "%on update current_timestamp%"],
        )
        found = dict(cursor.fetchall())
        if not found:
            return KeptColumns()
        cursor.execute("SELECT @@sql_mode, @@time_zone")
        mode, zone = cursor.fetchone()
    wanted = {*mode.split(","), _ALLOWS_DATES} - {*_REFUSE_DATES, ""}
    modes = ",".join(sorted(wanted))
    if connection.mysql_is_mariadb:
        return KeptColumns(tuple(found), f"SET STATEMENT sql_mode = '{modes}' FOR UPDATE")
    update = f"UPDATE /*+ SET_VAR(sql_mode = '{modes}')"
    if "timestamp" not in found.values():
        return KeptColumns(tuple(found), f"{update} */")
    return KeptColumns(tuple(found), f"{update} SET_VAR(time_zone = '+00:00') */", zone)


def _quote(name: str) -> str:
    """As a part of a statement with parameters; a table of others may have any name of a column."""
    return f"`{name.replace('`', '``').replace('%', '%%')}`"
