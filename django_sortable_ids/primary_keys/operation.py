"""The migration operation that replaces primary keys. Each step can be stopped and repeated:

1. What prevents the move is refused, and so is what fails in a dry run on empty tables.
2. The map gets the present and the new key of each row, also of deleted ones, which only histories
   contain. On the way back it gets the old keys, and rows without one get one.
3. All columns get new keys for their old ones: in one transaction, or by steps in a note.
4. The map is dropped, and the record of its backfill. The pairs of deleted rows stay as long as
   the move can be undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, ClassVar

from django.db import NotSupportedError
from django.db.migrations import Migration
from django.db.migrations.operations import SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

from ..backfill.sources.id_column import require_table
from ..db.errors import explained
from ..db.transactions import without_statement_limit
from ..errors import BackfillError
from ..models import MoveNote
from . import notes, obstacles
from .changes.change import build
from .changes.engine import KeyEngine
from .changes.moved import History, KeyCopy, MovedKey, Reference, TextReference, with_maps
from .changes.mysql import MySQLKeys
from .changes.postgresql import PostgreSQLKeys
from .changes.sqlite import SQLiteKeys
from .key_map import KeyMaps
from .notes import Note

_ENGINES: dict[str, type[KeyEngine]] = {
    "sqlite": SQLiteKeys,
    "postgresql": PostgreSQLKeys,
    "mysql": MySQLKeys,
}


_AGAIN = "the same `manage.py migrate`"


class BothWays(Operation):
    """Operations with one method for both directions. What it does depends on what it finds in the
    database, so ``sqlmigrate`` shows no SQL."""

    reduces_to_sql = False

    _change: Callable[..., None]

    def database_forwards(self, *arguments: Any, **named: Any) -> None:
        self._execute(False, *arguments, **named)

    def database_backwards(self, *arguments: Any, **named: Any) -> None:
        self._execute(True, *arguments, **named)

    def _execute(
        self, backwards: bool, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        if not schema_editor.collect_sql:
            with explained(_AGAIN), without_statement_limit(schema_editor.connection):
                self._change(app_label, schema_editor, from_state, to_state, backwards)


class MigratePrimaryKey(BothWays):
    """Replaces primary keys by sortable ids, and their values in every column that refers to them.

    ``backfill_ids --primary-key --write-migration`` writes it. ``references`` are all columns that
    contain values of the keys, and ``generic`` those of generic foreign keys. ``copies`` are fields
    of history models that copy keys, and ``histories`` the models whose rows may contain keys of
    deleted rows. ``adopted`` and ``texts`` are columns that ``--adopt`` named: such as references,
    and of texts. ``allowed`` are the programs of the database (triggers, views, routines, events,
    rules) that name a moved table and that somebody has read, as ``--allow`` named them: names, or
    patterns such as ``pgtrigger_*``.
    Rows are written, so the application must not run during the migration.

    The migration needs ``atomic = False`` and the dependency
    ``("django_sortable_ids", "0001_initial")``. After a stop at any statement, ``migrate``
    continues. It can be reversed as long as the old keys are kept.

    Raises ``BackfillError``, before any row is written, for a reference that is not listed, for
    values that are no key, and for what the database can't change.
    """

    __module__ = "django_sortable_ids.operations"
    """Migrations import it from there."""

    atomic = False
    serialization_expand_args: ClassVar[list[str]] = [
        *("keys", "references", "generic", "copies", "histories", "adopted", "texts", "allowed")
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
        self.references = [Reference(*reference) for reference in references]
        self.generic = [TextReference(*reference) for reference in generic]
        self.copies = list(copies)
        self.histories = [History(*history) for history in histories]
        self.adopted = [Reference(*reference) for reference in adopted]
        self.texts = [TextReference(*text) for text in texts]
        self.allowed = list(allowed)

    def deconstruct(self) -> Any:
        arguments = {name: getattr(self, name) for name in self.serialization_expand_args}
        for name in ("references", "generic", "histories", "adopted", "texts"):
            arguments[name] = [*map(tuple, arguments[name])]
        return type(self).__name__, [], {name: given for name, given in arguments.items() if given}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        # Django would render most models again after each change: after all of them, it does once.
        state.__dict__.pop("apps", None)
        for field in self.fields_of(self.keys):
            state.alter_field(*field.model_key, field.name, field.field, True)
            if field.old is not None:
                state.add_field(*field.model_key, field.old_name, field.old, True)

    def _change(
        self, app_label: str, editor: Any, before: Any, after: Any, backwards: bool
    ) -> None:
        for state in (before, after):
            # After a change of a plain field, Django leaves models that refer to the class of the
            # model before it.
            state.__dict__.pop("apps", None)
        using, get_model = editor.connection.alias, before.apps.get_model
        # The keys whose tables this database has.
        keys = [key for key in self.keys if self.allow_migrate_model(using, get_model(key.model))]
        if not keys:
            return
        require_table(MoveNote, using)
        for key in keys:
            if backwards and key.old is None:
                raise BackfillError(
                    f"the old keys of {key.model} were not kept: only a backup has them"
                )
        engine = self.engine(editor, keys, before, after, backwards=backwards)
        maps = KeyMaps(engine, self.histories)
        with explained(_AGAIN, engine.note.progress):
            if not engine.resume():
                obstacles.check(engine, self.allowed)  # 1
                engine.create_maps()
                if backwards:
                    maps.fill_old_keys()  # 2
                else:
                    maps.fill_new_keys(keys)  # 2
                with without_statement_limit(editor.connection):  # The fill has set it back.
                    engine.move()  # 3
            engine.drop_maps()  # 4
            for moved in engine.change.keys:
                if moved.kept_keys and moved.old is None:
                    engine.drop_table(moved.kept_keys.table)
                notes.forget_run(moved, engine.using)

    def engine(
        self,
        editor: Any,
        keys: Sequence[MovedKey],
        before: ProjectState,
        after: ProjectState,
        *,
        backwards: bool = False,
    ) -> KeyEngine:
        """What moves these keys, from the models of one state to those of another."""
        connection, using = editor.connection, editor.connection.alias
        vendor = connection.vendor
        if vendor not in _ENGINES:
            raise NotSupportedError(f"primary keys can't be moved on {vendor}")
        note = Note(keys, self.fields_of(keys), using, backwards=backwards)
        before = with_maps(before, keys, after if backwards else before, using, backwards=backwards)
        states = before.apps, after.apps
        change = build(self, keys, *states, connection, backwards=backwards)
        return _ENGINES[vendor](editor, change, note)

    def fields_of(self, keys: Sequence[MovedKey]) -> list[MovedKey | KeyCopy]:
        """The fields that change with these keys: the keys, and their copies in history models."""
        labels = {key.model for key in keys}
        return [*keys, *(copy for copy in self.copies if copy.key in labels)]

    def describe(self) -> str:
        names = ", ".join(key.model for key in self.keys)
        return f"Move the primary key of {names}, and what refers to it"

    @property
    def migration_name_fragment(self) -> str:
        first, *others = (key.model_key[1] for key in self.keys)
        return f"move_key_of_{first}{'_and_others' if others else ''}"


def moves(migration: Migration) -> list[MigratePrimaryKey]:
    operations = operations_of(migration.operations)
    return [operation for operation in operations if isinstance(operation, MigratePrimaryKey)]


def operations_of(operations: Iterable[Operation]) -> Iterator[Any]:
    """What a migration does in the database."""
    for operation in operations:
        if isinstance(operation, SeparateDatabaseAndState):
            yield from operations_of(operation.database_operations)
        else:
            yield operation
