"""The migration operation that replaces primary keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from . import filling
from .changes import change, graph
from .changes.moved import GenericReference, MovedKey, Reference
from .move import Move
from .notes import Note


class MigratePrimaryKey(Operation):
    """Replaces primary keys by sortable ids, and their values in every column that refers to them.

    ``backfill_ids --primary-key --write-migration`` writes it. ``references`` are all columns that
    contain values of the keys, and ``generic`` those of generic foreign keys. Rows are written, so
    the application must not run meanwhile.

    The migration needs ``atomic = False`` and the dependency
    ``("django_sortable_ids", "0001_initial")``. After a stop at any statement, ``migrate``
    continues. It can be reversed as long as the old keys are kept.

    Raises ``BackfillError``, before any row is written, for a reference that is not listed, for
    values that are no key, and for what the database can't change.
    """

    __module__ = "django_sortable_ids.operations"
    """Migrations import it from there."""

    reversible = True
    atomic = False
    serialization_expand_args: ClassVar[list[str]] = ["keys", "references", "generic"]

    def __init__(
        self,
        keys: Sequence[MovedKey],
        references: Iterable[Sequence[str]] = (),
        generic: Iterable[Sequence[str]] = (),
    ) -> None:
        self.keys = list(keys)
        self.references = [Reference(*each) for each in references]
        self.generic = [GenericReference(*each) for each in generic]

    def deconstruct(self) -> Any:
        kwargs: dict[str, Any] = {"keys": self.keys}
        if self.references:
            kwargs["references"] = [tuple(each) for each in self.references]
        if self.generic:
            kwargs["generic"] = [tuple(each) for each in self.generic]
        return type(self).__name__, [], kwargs

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        for key in self.keys:
            state.alter_field(*key.model_key, key.name, key.field, True)
            if key.old is not None:
                state.add_field(*key.model_key, key.old_name, key.old, True)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        keys = self._allowed(schema_editor, from_state)
        using = schema_editor.connection.alias
        if not keys:
            return
        filled = filling.with_columns(from_state, keys)
        move = self._move(schema_editor, keys, filled, to_state, backwards=False)
        if not move.is_done:
            move.check()
            move.rehearse()
            filling.add_columns(schema_editor, from_state, filled, keys)
            filling.fill_new_keys(keys, filled, using)
            move.execute()
        filling.forget(keys, using)

    def database_backwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        keys = self._allowed(schema_editor, from_state)
        using = schema_editor.connection.alias
        if not keys:
            return
        for key in keys:
            if key.old is None:
                raise IrreversibleError(
                    f"the old keys of {key.model} were not kept, so they can't come back"
                )
        move = self._move(schema_editor, keys, from_state, to_state, backwards=True)
        if move.is_done:
            return
        move.check()
        move.rehearse()
        for each in move.change.keys:
            filling.fill_old_keys(each, using, move.engine.last_number)
        move.execute()

    def move_of(self, editor: Any, before: ProjectState) -> Move:
        """The move from a state, for a plan."""
        after = before.clone()
        self.state_forwards("", after)
        filled = filling.with_columns(before, self.keys)
        return self._move(editor, self.keys, filled, after, backwards=False)

    def _move(
        self,
        editor: Any,
        keys: Sequence[MovedKey],
        before: ProjectState,
        after: ProjectState,
        *,
        backwards: bool,
    ) -> Move:
        note = Note(keys, editor.connection.alias, backwards=backwards)
        found = graph.references(before.apps, keys)
        known = [each for each in self.references if each.key in {key.model for key in keys}]
        references = sorted({*found, *known})
        built = change.build(
            keys, before.apps, after.apps, references, self.generic, backwards=backwards
        )
        return Move(editor, built, frozenset(known), note)

    def _allowed(self, schema_editor: Any, state: ProjectState) -> list[MovedKey]:
        """The keys whose tables this database has."""
        using = schema_editor.connection.alias
        return [
            each
            for each in self.keys
            if self.allow_migrate_model(using, state.apps.get_model(each.model))
        ]

    def references_model(self, name: str, app_label: str) -> bool:
        return True

    def describe(self) -> str:
        names = ", ".join(each.model for each in self.keys)
        return f"Move the primary key of {names}, and what refers to it"

    @property
    def migration_name_fragment(self) -> str:
        first, *others = (each.model_key[1] for each in self.keys)
        return f"move_key_of_{first}{'_and_others' if others else ''}"
