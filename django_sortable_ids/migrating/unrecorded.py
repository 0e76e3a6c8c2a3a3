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
from ..operations import MigratePrimaryKey, SwapSortableID
from ..primary_keys import notes
from ..primary_keys.operation import moved_keys, moves, operations_of
from ..schema.swap import unrecorded_swaps

Name = tuple[str, str]
"""The app and the name of a migration."""
Planned = list[tuple[Migration, bool]]


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """What changed tables and is not recorded."""

    migration: Name
    target: str
    """What ``migrate`` needs to complete it."""
    backwards: bool
    what: str
    fields: tuple[str, ...]
    """``app.Model.field`` of each key that moved or field that was swapped."""
    using: str

    @property
    def command(self) -> str:
        return f"manage.py migrate {self.migration[0]} {self.target}{database_option(self.using)}"

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
    last = [move for move in notes.written(connection) if move.is_incomplete or move.is_open]
    swaps = list(unrecorded_swaps(connection))
    if not last and not swaps:
        return []
    loader, using = loader or MigrationLoader(connection), connection.alias
    operations, changes = list(_operations(loader)), []
    for move in last:
        alike = [pair for pair in operations if _may_have_written(move, pair[1])]
        for name, operation, target in _stopped(alike, move.backwards, loader):
            keys = tuple(f"{key.model}.{key.name}" for key in operation.keys)
            what = "moved primary keys"
            changes.append(Unrecorded(name, target, move.backwards, what, keys, using))
    for swap in swaps:
        model, fields, backwards = (swap.identity[key] for key in ("model", "fields", "backwards"))
        alike = [pair for pair in operations if _may_have_swapped(model, fields, *pair)]
        for name, _, target in _stopped(alike, backwards, loader):
            labels = tuple(f"{model}.{field}" for field in fields)
            what = f"swapped {' and '.join(fields)} of {model}"
            changes.append(Unrecorded(name, target, backwards, what, labels, using))
    return changes


def refusals(
    connection: BaseDatabaseWrapper,
    loader: MigrationLoader,
    plan: Planned,
    unrecorded: Sequence[Unrecorded],
) -> Iterator[str]:
    """Why the plan may not be executed, and what to do: it has to start with unrecorded changes."""
    written = list(notes.written(connection))
    for note in written:
        is_known = any(_may_have_written(note, operation) for _, operation in _operations(loader))
        if note.is_incomplete and not is_known:
            yield (
                f"a migration that moved the primary keys of {', '.join(note.models)} was stopped "
                f"in the middle, and the project doesn't have it as it was. Restore it, and "
                f"complete it by `manage.py migrate`."
            )
    first = plan[: len(unrecorded)]
    planned = {((migration.app_label, migration.name), backwards) for migration, backwards in first}
    for change in unrecorded:
        if (change.migration, change.backwards) not in planned:
            yield f"{change.summary}. Complete it by `{change.command}`, then migrate again."
    yield from refusals_to_undo([migration for migration, backwards in plan if backwards], written)
    applied = [migration for migration, backwards in plan if not backwards]
    yield from refusals_of_old_models(applied, loader)


def refusals_of_old_models(applied: Sequence[Migration], loader: MigrationLoader) -> Iterator[str]:
    """Refuses the keys that the migrations move, where the running model has the old key."""
    moved = [(migration, key) for migration in applied for key in moved_keys(migration)]
    state = loader.project_state() if moved else ProjectState()
    for migration, key in moved:
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


def refusals_to_undo(
    undone: Sequence[Migration], written: Sequence[notes.LastMove]
) -> Iterator[str]:
    """Refuses moves whose old keys were not kept, or whose fields for them were removed since and
    come back empty. The move itself refuses where such a field has another name."""
    removed = {
        (migration.app_label, operation.model_name_lower, operation.name)
        for migration in undone
        for operation in operations_of(migration.operations)
        if isinstance(operation, RemoveField)
    }
    for migration in undone:
        for move in moves(migration):
            own_notes = [note for note in written if note.is_of(move.keys)]
            for key in move.keys:
                is_gone = key.old is None or (*key.model_key, key.old_name) in removed
                moved = [note.with_old if key.old else note.models for note in own_notes]
                if is_gone and any(key.model in models for models in moved):
                    yield (
                        f"{migration} can't be undone: the old keys of {key.model} were not kept, "
                        f"or were removed since, and only a backup has them. To fill their field, "
                        f"undo its removal alone; then migrate again."
                    )


def pending_apps(connection: BaseDatabaseWrapper) -> set[str]:
    """The apps whose tables unapplied migrations change: they may differ from the models."""
    loader = MigrationLoader(connection)
    pending = [
        loader.graph.nodes[key] for key in loader.graph.nodes.keys() - loader.applied_migrations
    ]
    moved = {key.model_key[0] for migration in pending for key in moved_keys(migration)}
    return moved | {migration.app_label for migration in pending}


def _operations(loader: MigrationLoader) -> Iterator[tuple[Name, Any]]:
    for name, migration in sorted(loader.graph.nodes.items()):
        yield from ((name, operation) for operation in operations_of(migration.operations))


def _may_have_written(note: notes.LastMove, operation: Any) -> bool:
    return isinstance(operation, MigratePrimaryKey) and note.is_of(operation.keys)


def _may_have_swapped(model: str, fields: list[str], name: Name, operation: Any) -> bool:
    return (
        isinstance(operation, SwapSortableID)
        and [operation.name, operation.other] == fields
        and f"{name[0]}.{operation.model_name}".lower() == model.lower()
    )


def _stopped(
    alike: Sequence[tuple[Name, Any]], backwards: bool, loader: MigrationLoader
) -> list[tuple[Name, Any, str]]:
    """The operation that was stopped, since others may have done the same before; and what
    ``migrate`` needs to complete it."""
    applied = [pair for pair in alike if pair[0] in loader.applied_migrations]
    pending = [pair for pair in alike if pair not in applied]
    last = applied[-1:] if backwards else pending[:1]
    return [(name, operation, _target(loader, name, backwards)) for name, operation in last]


def _target(loader: MigrationLoader, name: Name, backwards: bool) -> str:
    if not backwards:
        return name[1]
    parents = sorted(parent.key for parent in loader.graph.node_map[name].parents)
    own = [parent for app_label, parent in parents if app_label == name[0]]
    return own[-1] if own else "zero"
