"""How far the moves of primary keys in a database are: what ``migrate`` has recorded of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.apps import apps
from django.db import connections

from ..db.tables import kind
from ..models import VerificationRun
from . import notes
from .filling import fills
from .sessions import Session, tells, working_on


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
    if kind(connection, VerificationRun._meta.db_table) != "table":
        return
    written = list(notes.written(connection))
    exchanging = [each for each in written if each.is_incomplete]
    moving = {model for each in exchanging for model in each.models}
    filling = [each for each in fills.started(using) if each[0] not in moving]
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
