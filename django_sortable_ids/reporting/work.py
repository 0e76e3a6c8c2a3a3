"""The backfills and moves of keys of a database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..primary_keys import status as moves
from ..primary_keys.status import MoveStatus
from . import status
from .status import Status


@dataclass(frozen=True, slots=True)
class Work:
    """What is under way in a database, and what has ended there."""

    using: str
    runs: list[Status] = field(default_factory=list)
    moves: list[MoveStatus] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """The work as text."""
        found: tuple[Status | MoveStatus, ...] = (*self.runs, *self.moves)
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
    return Work(using, runs, moved)
