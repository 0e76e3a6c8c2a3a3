"""Refuses ``TIMESTAMP`` columns of MariaDB and MySQL whose local times name two instants.

Such a column keeps instants and shows them in the time zone of the session. Django takes what is
shown for UTC, so it reads both hours of a clock change as one, in which rows have no order.
"""

from __future__ import annotations

from ...db.introspection import is_timestamp
from ...errors import BackfillError
from ..target import Target


def check(target: Target) -> None:
    """Raise ``BackfillError`` where a row is in an hour that the session's clock repeats."""
    connection = target.times.connection
    table, name = target.source.model._meta.db_table, str(target.source.column)
    if connection.vendor != "mysql" or not is_timestamp(connection, table, name):
        return
    quote = connection.ops.quote_name
    column = quote(name)
    with connection.cursor() as cursor:
        # The column has the instant itself; the local time of it gives one of the two.
        cursor.execute(
            f"SELECT COUNT(*), MIN({column}), @@time_zone, @@system_time_zone FROM {quote(table)} "
            f"WHERE UNIX_TIMESTAMP({column}) <> UNIX_TIMESTAMP(CAST({column} AS DATETIME(6)))"
        )
        rows, example, zone, system = cursor.fetchone()
    if rows:
        zone = system if zone == "SYSTEM" else zone
        raise BackfillError(
            f"{rows:,} rows of {target.source.model._meta.label} are in an hour that the time "
            f"zone of the session, {zone}, has twice, such as {example}: "
            f"{name} is a TIMESTAMP, and Django reads both hours as one. Let the session be in UTC "
            f"(OPTIONS: init_command \"SET time_zone = '+00:00'\"); nothing was written."
        )
