"""Notes in the database of how far a move is, and what it fills keys with: it may be killed at any
statement, also before its migration is recorded, and the migration may be edited then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import Error, connections
from django.db.migrations.writer import MigrationWriter

from ..backfill.sources.base import Given
from ..errors import BackfillError
from ..models import BackfillRun, MoveNote
from ..schema.swap import RECORDED, awaits_record, notes_of, recorded
from .changes.change import Key
from .changes.moved import NEW_KEY, KeyCopy, MovedKey

STEPS = "steps"
"""What a move that began to change tables, and did not end, needs for the rest."""
_NUMBERS = "last_numbers"
_SOURCES = "sources"
WITH_OLD_KEYS = "models_with_old_keys"
"""The models of which a row had its old key at the end."""
_PREFIX = "move "
UNMOVED = "No key was moved"
_UNRECORDED = "The keys were moved, and that is not recorded: run no application until it is"


class Note:
    """How far a move is. ``changed`` are its keys and their copies, ``backwards`` its direction."""

    def __init__(
        self,
        keys: Sequence[MovedKey],
        changed: Iterable[MovedKey | KeyCopy],
        using: str,
        *,
        backwards: bool,
    ) -> None:
        self.backwards = backwards
        self._using = using
        self._model = keys[0].model
        self._target = f"{_PREFIX}{self._model}"[:200]
        # The arguments for the columns of times, after the move; None if no column has them.
        self._sources: dict[str, Given | None] = {}
        for key in keys:
            paths, old = key.field_arguments, key.old_name
            is_gone = key.name in paths.values() and not key.old
            kept = {name: old if path == key.name else path for name, path in paths.items()}
            self._sources[key.model] = None if is_gone else kept or None
        self._identity: dict[str, Any] = {
            "backwards": backwards,
            "keys": _identity(keys),
            "fields": [
                MigrationWriter.serialize(field)[0]
                for moved in changed
                for field in (moved.field, moved.old)
                if field
            ],
        }

    @property
    def is_done(self) -> bool:
        """Whether this move is complete, and waits for its migration to be recorded. Another one
        of the same keys may follow later."""
        note = self._note
        is_this = note.identity == self._identity and STEPS not in note.state
        return is_this and awaits_record(note, self._using)

    @property
    def steps(self) -> Any | None:
        """What ``begin`` saved of this move, if it must be continued; otherwise None.

        Raises ``BackfillError`` if another move of the first key must be continued.
        """
        note = self._note
        if STEPS in note.state and note.identity != self._identity:
            raise BackfillError(
                f"a move of the key of {self._model} was stopped in the middle, and it was another "
                f"one ({note.identity}): restore its migration as it was, and run that again"
            )
        return note.state.get(STEPS)

    def begin(self, steps: Any, last_numbers: Mapping[str, int]) -> None:
        """Save what the rest of the move needs, because from now on it can only be continued.

        ``last_numbers`` are the last ones that the database gave to the keys, by the label of the
        model.
        """
        self._save(last_numbers, {STEPS: steps})

    def complete(self, last_numbers: Mapping[str, int], with_old_keys: Sequence[str]) -> None:
        """Save that the move is complete: in its transaction, or after its last statement.
        ``with_old_keys`` are the models of which a row has its old key."""
        done = {RECORDED: recorded(self._using), _SOURCES: self._sources}
        self._save(last_numbers, {**done, WITH_OLD_KEYS: with_old_keys})

    def _save(self, last_numbers: Mapping[str, int], state: dict[str, Any]) -> None:
        note = self._note
        numbers = {**note.state.get(_NUMBERS, {}), **last_numbers}
        note.identity, note.state = self._identity, {_NUMBERS: numbers, **state}
        note.save(using=self._using)

    @property
    def last_numbers(self) -> dict[str, int]:
        """What ``begin`` or ``complete`` saved of any move with this first key."""
        return dict(self._note.state.get(_NUMBERS, {}))

    def progress(self) -> str:
        connection = connections[self._using]
        if connection.in_atomic_block and connection.features.can_rollback_ddl:
            return UNMOVED
        try:
            if self.steps is not None:
                return "The move stopped in its last step: run no application until it is complete"
            return _UNRECORDED if self.is_done else UNMOVED
        except Error:
            return "It is unknown whether keys were moved: run no application until it is complete"

    @property
    def had_old_keys(self) -> list[str]:
        """What ``complete`` saved of this move; all of its models if another one came after it."""
        note, keys = self._note, self._identity["keys"]
        is_this = note.identity.get("keys") == keys and not note.identity["backwards"]
        return list(note.state.get(WITH_OLD_KEYS, ())) if is_this else [model for model, _ in keys]

    @property
    def _note(self) -> MoveNote:
        """The note of the last move with this first key; an empty one if there was none."""
        new = MoveNote(target=self._target, identity={}, state={})
        return MoveNote.objects.using(self._using).filter(target=self._target).first() or new


def written(connection: Any) -> Iterable[MoveNote]:
    """The note of the last move of each key, or of several keys."""
    return notes_of(connection, _PREFIX)


def refuse_if_stopped(connection: Any) -> None:
    """Raise ``BackfillError`` if a move must be continued, whose new tables a plan would drop."""
    for note in written(connection):
        if STEPS in note.state:
            raise BackfillError(
                f"a move of the keys of {', '.join(models_of(note))} was stopped in the middle: "
                f"complete it by manage.py migrate, with its migration as it was, before you plan "
                f"another one"
            )


def models_of(note: MoveNote) -> list[str]:
    return [model for model, _ in note.identity["keys"]]


def is_of(note: MoveNote, keys: Sequence[MovedKey]) -> bool:
    """Whether a migration of these keys wrote it. The note may be of some of them only."""
    noted = note.identity.get("keys", ())
    return bool(noted) and all(key in _identity(keys) for key in noted)


def source_of_key(model: str, using: str) -> Given | None:
    """Where the times of the last move of a model's key are now; None if they are gone."""
    rows = MoveNote.objects.using(using).filter(target__startswith=_PREFIX)
    for note in rows.order_by("-updated_at"):
        if model in note.state.get(_SOURCES, ()):
            source = note.state[_SOURCES][model]
            return dict(source) if source and not note.identity["backwards"] else None
    return None


def _identity(keys: Sequence[MovedKey]) -> list[list[str]]:
    """The models, and the classes of their new keys."""
    return [[key.model, key.field.deconstruct()[1]] for key in keys]


def forget_run(key: Key, using: str) -> None:
    """Delete the record of the backfill of its map: the next one starts at the first row."""
    label = str(key.map.model._meta.get_field(NEW_KEY))
    BackfillRun.objects.using(using).filter(target=label).delete()
