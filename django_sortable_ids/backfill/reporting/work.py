"""All long work of a database: backfills, checks of ids and moves of keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from ...db import tables
from ...db.transactions import savepoint
from ...models import BackfillRun, VerificationRun
from ...primary_keys import status as moves
from ...primary_keys.status import MoveStatus
from . import checks, status
from .checks import CheckStatus
from .status import Status

ACTIVE_SECONDS = 60
"""A check whose checkpoint is younger is treated as one that runs."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is under way in a database, and what has ended there."""

    using: str
    runs: list[Status] = field(default_factory=list)
    checks: list[CheckStatus] = field(default_factory=list)
    moves: list[MoveStatus] = field(default_factory=list)
    error: str = ""
    """Why it can't be read."""

    @property
    def is_active(self) -> bool:
        """Whether something may change without the reader."""
        return (
            any(each.state == "running" for each in self.runs)
            or any(each.silence < ACTIVE_SECONDS for each in self.checks)
            or any(each.state != "finished" for each in self.moves)
        )

    def lines(self) -> Iterator[str]:
        """The work as text."""
        found: tuple[Status | CheckStatus | MoveStatus, ...]
        found = (*self.runs, *self.checks, *self.moves)
        for each in found:
            yield from each.lines()


def of(using: str, target: str | None = None) -> Work:
    """The work of a database; with ``app.Model.field``, only the backfill of this field.

    Raises ``BackfillError`` if the database has no table of runs, and errors of the database.
    """
    runs = list(status.statuses(using, target))
    if target is not None:
        return Work(using, runs)
    moved = list(moves.statuses(using))
    moving = {model for each in moved if each.state != "finished" for model in each.models}
    runs = [replace(each, is_of_move=each.model in moving) for each in runs]
    return Work(using, runs, list(checks.checks(using)), moved)


def everywhere() -> Iterator[Work]:
    """The work of the default database, and of others that have the tables of the app or that
    can't be read."""
    for alias in connections:
        if connections[alias].settings_dict["TEST"]["MIRROR"]:
            continue
        try:
            # No transaction is started: on SQLite, it might wait for the one of a backfill.
            with savepoint(alias):
                if _has_tables(alias):
                    yield of(alias)
                elif alias == DEFAULT_DB_ALIAS:
                    yield Work(alias)
        except ImproperlyConfigured:
            continue  # Django's placeholder for a project without a default database
        except (DatabaseError, InterfaceError) as error:
            yield Work(alias, error=" ".join(str(error).split()))


def _has_tables(alias: str) -> bool:
    models: tuple[Any, ...] = (BackfillRun, VerificationRun)
    names = [each._meta.db_table for each in models]
    return all(tables.kind(connections[alias], each) == "table" for each in names)
