"""A note in the database that a move is done: the process may be killed before its migration is
recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..models import VerificationRun
from .changes.moved import MovedKey


class Note:
    """``backwards`` is the direction of the move."""

    def __init__(self, keys: Sequence[MovedKey], using: str, *, backwards: bool) -> None:
        self._rows = VerificationRun.objects.using(using)
        self._target = f"move {keys[0].model}"[:200]
        self._identity = {
            "backwards": backwards,
            "keys": [[each.model, each.field.deconstruct()[1]] for each in keys],
        }

    @property
    def is_done(self) -> bool:
        """Whether the last move of these keys was this one, and is complete."""
        note = self._rows.filter(target=self._target).first()
        return note is not None and note.judged_by == self._identity

    def write(self) -> None:
        """In the transaction of the move, or after its last statement."""
        state: dict[str, Any] = {"found": {"rows": 0}}
        values = {"judged_by": self._identity, "state": state}
        self._rows.update_or_create(target=self._target, defaults=values)
