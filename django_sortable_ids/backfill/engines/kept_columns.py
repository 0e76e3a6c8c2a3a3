"""Columns of MariaDB and MySQL with ``ON UPDATE CURRENT_TIMESTAMP``, which every UPDATE must keep.

A column keeps its value if the UPDATE sets it to itself. It may be missing in the model.
"""

from dataclasses import dataclass
from typing import Any

from ...db import tables

_REFUSE_DATES = {"NO_ZERO_DATE", "NO_ZERO_IN_DATE", "TRADITIONAL"}
"""Modes that refuse a date like 0000-00-00, which old tables may have. TRADITIONAL includes both
others."""
_ALLOWS_DATES = "ALLOW_INVALID_DATES"


@dataclass(frozen=True, slots=True)
class KeptColumns:
    """The names of the columns, and what an UPDATE with a join needs to keep them."""

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
    """The columns of the table; none on other databases."""
    if connection.vendor != "mysql":
        return KeptColumns()
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


def _quote(name: str) -> str:
    """A name quoted for a statement with parameters. A foreign table may have any column names."""
    return f"`{name.replace('`', '``').replace('%', '%%')}`"
