"""A note in the database of how far a move is: the process may be killed at any statement, also
before its migration is recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..db import tables
from ..errors import BackfillError
from ..models import VerificationRun
from .changes.moved import MovedKey

_STEPS = "steps"
_NUMBERS = "last_numbers"
_PREFIX = "move "


class Note:
    """``backwards`` is the direction of the move."""

    def __init__(self, keys: Sequence[MovedKey], using: str, *, backwards: bool) -> None:
        self._rows = VerificationRun.objects.using(using)
        self._model = keys[0].model
        self._target = f"{_PREFIX}{self._model}"[:200]
        self._identity = {
            "backwards": backwards,
            "keys": _identity(keys),
        }

    @property
    def is_done(self) -> bool:
        """Whether the last move of these keys was this one, and is complete."""
        note = self._found()
        return note is not None and note.judged_by == self._identity and _STEPS not in note.state

    @property
    def steps(self) -> Any | None:
        """What ``begin`` saved of this move, if it must be continued; otherwise None.

        Raises ``BackfillError`` if another move of the first key must be continued.
        """
        note = self._found()
        if note is None or _STEPS not in note.state:
            return None
        if note.judged_by != self._identity:
            raise BackfillError(
                f"a move of the key of {self._model} was stopped in the middle, and it was another "
                f"one ({note.judged_by}): restore its migration, and run that again"
            )
        return note.state[_STEPS]

    def begin(self, steps: Any, last_numbers: Mapping[str, int]) -> None:
        """Save what the rest of the move needs, because from now on it can only be continued.

        ``last_numbers`` are the largest numbers that the keys ever had, by the label of the model.
        """
        self._save({_STEPS: steps, _NUMBERS: {**self._numbers(), **last_numbers}})

    def write(self) -> None:
        """The move is complete: in its transaction, or after its last statement."""
        self._save({_NUMBERS: self._numbers()})

    def last_number(self, label: str) -> int:
        """What ``begin`` saved for this model; 0 if nothing."""
        return self._numbers().get(label, 0)

    def _numbers(self) -> dict[str, int]:
        note = self._found()
        numbers: dict[str, int] = {} if note is None else note.state.get(_NUMBERS, {})
        return numbers

    def _found(self) -> VerificationRun | None:
        return self._rows.filter(target=self._target).first()

    def _save(self, state: dict[str, Any]) -> None:
        values = {"judged_by": self._identity, "state": {"found": {"rows": 0}, **state}}
        self._rows.update_or_create(target=self._target, defaults=values)


@dataclass(frozen=True, slots=True)
class Written:
    """The note of the last move of some keys."""

    keys: list[list[str]]
    backwards: bool
    is_incomplete: bool
    """Whether the move began to change tables, and did not end."""
    updated_at: datetime

    @property
    def models(self) -> list[str]:
        """The labels of the models whose keys it moves."""
        return [model for model, _ in self.keys]

    def is_of(self, keys: Sequence[MovedKey]) -> bool:
        """Whether a migration with these keys wrote it, perhaps of some of them."""
        of_migration = _identity(keys)
        return all(each in of_migration for each in self.keys)


def written(connection: Any) -> Iterator[Written]:
    """All notes of a database."""
    if tables.kind(connection, VerificationRun._meta.db_table) != "table":
        return
    rows = VerificationRun.objects.using(connection.alias).filter(target__startswith=_PREFIX)
    for row in rows.order_by("pk"):
        keys, backwards = (row.judged_by.get(name) for name in ("keys", "backwards"))
        if keys:
            yield Written(keys, bool(backwards), _STEPS in row.state, row.updated_at)


def _identity(keys: Sequence[MovedKey]) -> list[list[str]]:
    """The models, and the classes of their new keys."""
    return [[each.model, each.field.deconstruct()[1]] for each in keys]
