"""The migration operation that replaces primary keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from django.db.migrations.exceptions import IrreversibleError
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from .changes import change, deleted, graph
from .changes.moved import AdoptedTexts, GenericReference, History, KeyCopy, MovedKey, Reference
from .deleted_keys import DeletedKeys
from .filling import new_keys, old_copies, old_keys
from .move import Move
from .notes import Note


class MigratePrimaryKey(Operation):
    """Replaces primary keys by sortable ids, and their values in every column that refers to them.

    ``backfill_ids --primary-key --write-migration`` writes it. ``references`` are all columns that
    contain values of the keys, and ``generic`` those of generic foreign keys. ``copies`` are fields
    of history models that copy keys, and ``histories`` the models whose rows may contain keys of
    deleted rows. ``adopted`` and ``texts`` are columns that ``--adopt`` named: such as references,
    and of texts. ``allowed`` are the triggers, views and routines that name a moved table and
    that somebody has read, as ``--allow`` named them: names, or patterns such as ``pgtrigger_*``.
    Rows are written, so the application must not run during the migration.

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
    serialization_expand_args: ClassVar[list[str]] = [
        "keys",
        "references",
        "generic",
        "copies",
        "histories",
        "adopted",
        "texts",
        "allowed",
    ]

    def __init__(
        self,
        keys: Sequence[MovedKey],
        references: Iterable[Sequence[str]] = (),
        generic: Iterable[Sequence[str]] = (),
        copies: Iterable[KeyCopy] = (),
        histories: Iterable[Sequence[str]] = (),
        adopted: Iterable[Sequence[str]] = (),
        texts: Iterable[Sequence[str]] = (),
        allowed: Iterable[str] = (),
    ) -> None:
        self.keys = list(keys)
        self.references = [Reference(*each) for each in references]
        self.generic = [GenericReference(*each) for each in generic]
        self.copies = list(copies)
        self.histories = [History(*each) for each in histories]
        self.adopted = [Reference(*each) for each in adopted]
        self.texts = [AdoptedTexts(*each) for each in texts]
        self.allowed = list(allowed)

    def deconstruct(self) -> Any:
        kwargs: dict[str, Any] = {"keys": self.keys}
        if self.copies:
            kwargs["copies"] = self.copies
        for name in ("references", "generic", "histories", "adopted", "texts"):
            if found := getattr(self, name):
                kwargs[name] = [tuple(each) for each in found]
        if self.allowed:
            kwargs["allowed"] = self.allowed
        return type(self).__name__, [], kwargs

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        changed: list[MovedKey | KeyCopy] = [*self.keys, *self.copies]
        for each in changed:
            state.alter_field(*each.model_key, each.name, each.field, True)
            if each.old is not None:
                state.add_field(*each.model_key, each.old_name, each.old, True)

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: ProjectState, to_state: ProjectState
    ) -> None:
        keys = self._allowed(schema_editor, from_state)
        using = schema_editor.connection.alias
        if not keys:
            return
        copies = self._copies_of(keys)
        filled = new_keys.with_next_keys(from_state, keys, schema_editor.connection.vendor)
        move = self._move(schema_editor, keys, filled, to_state, backwards=False)
        found = DeletedKeys(move.engine, self.histories)
        if schema_editor.collect_sql:

            def prepare() -> None:
                new_keys.add_columns(schema_editor, from_state, filled, keys)
                move.engine.create_maps()
                old_copies.add(schema_editor, from_state, to_state, copies)
                found.create_tables()
                for line in (*new_keys.described(keys, filled), *found.described()):
                    move.engine.comment(line)

            move.collect(prepare)
            return
        if not move.is_done:
            with move.engine.working():
                move.check()
                move.rehearse()
                new_keys.add_columns(schema_editor, from_state, filled, keys)
                move.engine.create_maps()
                old_copies.add(schema_editor, from_state, to_state, copies)
                new_keys.fill_new_keys(keys, filled, using, allow_triggers=bool(self.allowed))
                found.collect()
                found.fill_new_keys(keys)
                move.execute()
        move.engine.drop_maps()
        found.drop_tables([each.model for each in keys if each.old is None])
        new_keys.forget(keys, using, copies)

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
        before = from_state.clone()
        deleted.add_models(before, keys, to_state)
        move = self._move(schema_editor, keys, before, to_state, backwards=True)
        if schema_editor.collect_sql:
            move.collect(lambda: None)
            return
        found = DeletedKeys(move.engine, self.histories)
        if not move.is_done:
            with move.engine.working():
                move.check()
                move.rehearse()
                found.give_back_old_keys()
                found.collect()
                found.read_old_keys()
                for each in move.change.keys:
                    old_keys.fill(each, using, move.engine.last_number)
                move.execute()
        found.drop_tables([each.model for each in keys])
        old_copies.drop(schema_editor, from_state, self._copies_of(keys))

    def _copies_of(self, keys: Iterable[MovedKey]) -> list[KeyCopy]:
        moved = {each.model for each in keys}
        return [each for each in self.copies if each.key in moved]

    def statements(self, connection: Any, before: ProjectState) -> list[str]:
        """The SQL of ``database_forwards`` as ``sqlmigrate`` shows it. Writes nothing."""
        after = before.clone()
        self.state_forwards("", after)
        with connection.schema_editor(collect_sql=True, atomic=False) as editor:
            self.database_forwards("", editor, before, after)
        return list(editor.collected_sql)

    def move_of(self, editor: Any, before: ProjectState) -> Move:
        """The move from a state, for a plan."""
        after = before.clone()
        self.state_forwards("", after)
        filled = new_keys.with_next_keys(before, self.keys, editor.connection.vendor)
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
        before, after = map(graph.rendered, (before, after))
        copies = self._copies_of(keys)
        note = Note(keys, copies, editor.connection.alias, backwards=backwards)
        found = graph.references(before.apps, keys)
        labels = {each.model for each in keys}
        adopted = {each for each in self.adopted if each.key in labels}
        known = {each for each in self.references if each.key in labels} | adopted
        references = sorted({*found, *known})
        histories = {before.apps.get_model(each.model)._meta.db_table for each in self.histories}
        built = change.build(
            keys,
            before.apps,
            after.apps,
            references,
            [*self.generic, *self.texts],
            histories,
            adopted,
            backwards=backwards,
        )
        return Move(editor, built, frozenset(known), note, tuple(self.allowed))

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
