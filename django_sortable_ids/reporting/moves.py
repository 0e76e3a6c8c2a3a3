"""How far the moves of primary keys in a database are: what ``migrate`` has recorded of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.apps import apps
from django.db import connections

from ..backfill.writing.sorted_rows import SortedRows
from ..db import tables
from ..db.queries import named_rows, row
from ..db.tables import kind
from ..models import MoveNote
from ..primary_keys import notes
from ..primary_keys.engines.mysql_exchange import holder

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
    """Age of its current or last statement."""
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


@dataclass(frozen=True, slots=True)
class MoveStatus:
    """A move of keys, from the first new column to its end."""

    models: tuple[str, ...]
    """``app.Model`` of each key."""
    step: Literal["filling", "exchanging", "finished"]
    """``filling``: the rows get new keys. PostgreSQL and SQLite then exchange them in one
    transaction, so that nobody sees that step; MariaDB and MySQL table after table."""
    backwards: bool
    """Whether the old keys come back."""
    since: datetime
    """When the step began."""
    session: Session | None = None
    """What works on it now, as far as the database tells."""
    is_told: bool = True
    """Whether the database tells it. SQLite doesn't."""

    @property
    def state(self) -> Literal["finished", "running", "unfinished"]:
        """``unfinished``: it was stopped, is between two statements, or the database doesn't tell.
        ``migrate`` continues it."""
        if self.step == "finished":
            return "finished"
        return "running" if self.session else "unfinished"

    def lines(self) -> Iterator[str]:
        """The status as text."""
        names, back = ", ".join(self.models), " back" if self.backwards else ""
        since = f"{self.since:%Y-%m-%d %H:%M:%S %Z}".rstrip()
        if self.step == "finished":
            yield f"keys of {names}: moved{back} at {since}"
            return
        yield f"keys of {names}: {self.state}, {self.step} since {since}"
        if session := self.session:
            yield f"  session {session.number}, {session.seconds:.0f} s: {session.statement}"
        elif self.is_told:
            yield "  no session works on it now; if that stays so, migrate continues it"
        else:
            yield "  SQLite doesn't tell whether a process works on it; migrate continues it"

    def document(self) -> dict[str, Any]:
        """The status as JSON."""
        session = self.session
        return {
            "models": list(self.models),
            "state": self.state,
            "step": self.step,
            "backwards": self.backwards,
            "since": self.since,
            "session": session and session.number,
            "statement": session and session.statement,
            "seconds_of_statement": session and round(session.seconds, 1),
        }


def statuses(using: str) -> Iterator[MoveStatus]:
    """The moves of a database: those that are not complete first."""
    connection = connections[using]
    if kind(connection, MoveNote._meta.db_table) != "table":
        return
    written = list(notes.written(connection))
    exchanging = [each for each in written if each.is_incomplete]
    moving = {model for each in exchanging for model in each.models}
    filling = [each for each in notes.started(using) if each[0] not in moving]
    if filling:
        labels = [model for model, _ in filling]
        yield _unfinished(connection, labels, "filling", filling[0][1])
    for each in exchanging:
        backwards = each.backwards
        yield _unfinished(
            connection, each.models, "exchanging", each.updated_at, backwards=backwards
        )
    for each in written:
        if not each.is_incomplete:
            yield MoveStatus(tuple(each.models), "finished", each.backwards, each.updated_at)


def _unfinished(
    connection: Any,
    labels: list[str],
    step: Literal["filling", "exchanging"],
    since: datetime,
    *,
    backwards: bool = False,
) -> MoveStatus:
    session = working_on(connection, [name for each in labels if (name := _table(each))])
    return MoveStatus(tuple(labels), step, backwards, since, session, tells(connection))


def _table(label: str) -> str:
    """Empty if the project no longer has the model."""
    try:
        return str(apps.get_model(label)._meta.db_table)
    except (LookupError, ValueError):
        return ""
