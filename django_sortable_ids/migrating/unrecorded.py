"""Moves of keys and swaps that were stopped before their migration was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.apps import apps as running
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import RemoveField
from django.db.migrations.state import ProjectState

from ..backfill.sources.target import database_option
from ..fields import SortableIDField
from ..models import MoveNote
from ..operations import MigratePrimaryKey, SwapSortableID
from ..primary_keys import notes
from ..primary_keys.operation import moves, operations_of
from ..schema.swap import awaits_record, unrecorded_swaps

Name = tuple[str, str]
"""The app and the name of a migration."""


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """What changed tables and is not recorded."""

    migration: Name
    command: str
    """What completes it."""
    backwards: bool
    what: str
    fields: list[str]
    """``app.Model.field`` of each key that moved or field that was swapped."""

    @property
    def summary(self) -> str:
        names = ".".join(self.migration)
        names = f"the undoing of {names}" if self.backwards else names
        return (
            f"{names} {self.what}, and was stopped before it was recorded: tables "
            f"differ from the recorded migrations, and may not be complete"
        )


def unrecorded_changes(
    connection: BaseDatabaseWrapper, loader: MigrationLoader | None = None
) -> list[Unrecorded]:
    """The unrecorded changes of a database whose migrations the project has."""
    using, changes = connection.alias, []
    stopped = [
        note
        for note in notes.written(connection)
        if notes.STEPS in note.state or awaits_record(note, using)
    ]
    stopped += unrecorded_swaps(connection)
    if not stopped:
        return []
    loader = loader or MigrationLoader(connection)
    for note in stopped:
        backwards = note.identity["backwards"]
        alike = _that_wrote(note, loader)
        applied = [pair for pair in alike if pair[0] in loader.applied_migrations]
        pending = [pair for pair in alike if pair not in applied]
        # Others may have done the same before.
        for name, operation in applied[-1:] if backwards else pending[:1]:
            target = name[1]
            if backwards:
                parents = sorted(parent.key for parent in loader.graph.node_map[name].parents)
                own = [parent for app_label, parent in parents if app_label == name[0]]
                target = own[-1] if own else "zero"
            what = "moved primary keys"
            if isinstance(operation, MigratePrimaryKey):
                labels = [f"{key.model}.{key.name}" for key in operation.keys]
            else:
                model, fields = note.identity["model"], note.identity["fields"]
                what = f"swapped {' and '.join(fields)} of {model}"
                labels = [f"{model}.{field}" for field in fields]
            command = f"manage.py migrate {name[0]} {target}{database_option(using)}"
            changes.append(Unrecorded(name, command, backwards, what, labels))
    return changes


def refusals(
    connection: BaseDatabaseWrapper,
    loader: MigrationLoader,
    plan: list[tuple[Migration, bool]],
    unrecorded: Sequence[Unrecorded],
) -> Iterator[str]:
    """Why the plan may not be executed, and what to do: it has to start with unrecorded changes."""
    written = list(notes.written(connection))
    for note in written:
        if notes.STEPS in note.state and not _that_wrote(note, loader):
            models = ", ".join(notes.models_of(note))
            yield (
                f"a migration that moved the primary keys of {models} was stopped in the middle, "
                f"and the project doesn't have it as it was. Restore it, and complete it by "
                f"`manage.py migrate`."
            )
    first = plan[: len(unrecorded)]
    planned = {((migration.app_label, migration.name), backwards) for migration, backwards in first}
    for change in unrecorded:
        if (change.migration, change.backwards) not in planned:
            yield f"{change.summary}. Complete it by `{change.command}`, then migrate again."
    # Moves whose old keys were not kept, or whose fields for them were removed since and come back
    # empty. The move itself refuses where such a field has another name.
    removed: set[tuple[str, str, str]] = set()
    for migration in (migration for migration, backwards in plan if backwards):
        removed |= {  # since the moves of this migration and of those that are undone after it
            (migration.app_label, operation.model_name_lower, operation.name)
            for operation in operations_of(migration.operations)
            if isinstance(operation, RemoveField)
        }
        for move, key in ((each, key) for each in moves(migration) for key in each.keys):
            is_gone = key.old is None or (*key.model_key, key.old_name) in removed
            moved = [
                note.state.get(notes.WITH_OLD_KEYS, ()) if key.old else notes.models_of(note)
                for note in written
                if notes.is_of(note, move.keys)
            ]
            if is_gone and any(key.model in models for models in moved):
                yield (
                    f"{migration} can't be undone: the old keys of {key.model} were not kept, or "
                    f"were removed since, and only a backup has them. To fill their field, undo "
                    f"its removal alone; then migrate again."
                )
    # Keys that move, of which the running model has the old one.
    applied = [migration for migration, backwards in plan if not backwards]
    moving = [(step, key) for step in applied for move in moves(step) for key in move.keys]
    state = loader.project_state() if moving else ProjectState()
    for migration, key in moving:
        app_label, name = key.model_key
        final, model = state.models.get(key.model_key), running.all_models[app_label].get(name)
        fields = final.fields.values() if final else ()
        is_new = any(field.primary_key and isinstance(field, SortableIDField) for field in fields)
        if model and is_new and not isinstance(model._meta.pk, SortableIDField):
            yield (
                f"{migration} moves the key of {key.model}, and its model has the "
                f"{type(model._meta.pk).__name__} from before: deploy the models that were edited "
                f"for the move, and run migrate with these."
            )


def pending_apps(connection: BaseDatabaseWrapper) -> set[str]:
    """The apps whose tables unapplied migrations change: they may differ from the models."""
    loader = MigrationLoader(connection)
    pending = [
        loader.graph.nodes[key] for key in loader.graph.nodes.keys() - loader.applied_migrations
    ]
    moved = {key.model_key[0] for step in pending for move in moves(step) for key in move.keys}
    return moved | {migration.app_label for migration in pending}


def _that_wrote(note: MoveNote, loader: MigrationLoader) -> list[tuple[Name, Any]]:
    """The operations of the project that may have written the note, with their migrations."""
    alike = []
    for name, migration in sorted(loader.graph.nodes.items()):
        for operation in operations_of(migration.operations):
            if isinstance(operation, MigratePrimaryKey):
                is_alike = notes.is_of(note, operation.keys)
            else:
                is_alike = (
                    isinstance(operation, SwapSortableID)
                    and [operation.name, operation.other] == note.identity["fields"]
                    and f"{name[0]}.{operation.model_name}".lower()
                    == note.identity["model"].lower()
                )
            if is_alike:
                alike.append((name, operation))
    return alike
