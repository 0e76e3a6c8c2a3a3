"""Which session of the database works on a move of keys, as far as the database tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..backfill.writing.at_once import SortedRows
from ..db import tables
from ..db.queries import named_rows, row
from .engines.mysql_copies.session import holder

# A transaction that only reads a table has none of the locks that are looked for.
_POSTGRESQL = """
SELECT a.pid, EXTRACT(EPOCH FROM clock_timestamp() - a.query_start), left(a.query, 100)
FROM pg_stat_activity a
WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
    AND a.backend_type = 'client backend' AND a.state <> 'idle'
    AND (a.query LIKE %s OR EXISTS (
        SELECT 1 FROM pg_locks l
        WHERE l.pid = a.pid AND l.granted AND l.locktype = 'relation'
            AND l.mode NOT IN ('AccessShareLock', 'RowShareLock')
            AND l.relation IN (SELECT to_regclass(name) FROM unnest(%s::text[]) AS n (name))
    ))
ORDER BY a.xact_start LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Session:
    """A connection of the database server, and what it does."""

    number: int
    """Its process on PostgreSQL, its connection on MariaDB and MySQL."""
    seconds: float
    """Since when its statement runs, or since the last one began."""
    statement: str
    """The first 100 characters; empty between two statements, or if the user may not see it."""


def tells(connection: Any) -> bool:
    """Whether the database lists its sessions."""
    return connection.vendor in ("postgresql", "mysql")


def working_on(connection: Any, names: Sequence[str]) -> Session | None:
    """The session that writes one of these tables, or sorts the rows of one. None if there is none,
    or if the database doesn't tell."""
    match connection.vendor:
        case "postgresql":
            quoted = [connection.ops.quote_name(each) for each in names]
            found = row(connection, _POSTGRESQL, [f"%{SortedRows.table}%", quoted])
            return found and Session(found[0], float(found[1] or 0), " ".join(found[2].split()))
        case "mysql":
            return _of_mysql(connection, names)
    return None


def _of_mysql(connection: Any, names: Sequence[str]) -> Session | None:
    wanted = [SortedRows.table, *(tables.split(connection, each)[1] for each in names)]
    moving, database = holder(connection), connection.settings_dict["NAME"]
    with connection.cursor() as cursor:
        cursor.execute("SHOW PROCESSLIST")
        listed = named_rows(cursor)
    for each in listed:
        statement = " ".join((each["Info"] or "").split())
        # Other databases of the server may have tables of the same names.
        is_here = each["db"] == database
        if each["Id"] == moving or (is_here and _writes(statement, wanted)):
            return Session(each["Id"], float(each["Time"] or 0), statement)
    return None


def _writes(statement: str, names: Sequence[str]) -> bool:
    is_reading = statement.upper().startswith(("SELECT", "SHOW"))
    return not is_reading and any(each in statement for each in names)
