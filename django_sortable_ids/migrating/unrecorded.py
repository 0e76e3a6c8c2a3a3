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
from ..primary_keys.operation import moves, operations_of
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
    def found(self) -> str:
        names = ".".join(self.migration)
        names = f"the undoing of {names}" if self.backwards else names
        return (
            f"{names} {self.what}, and was stopped before it was recorded: tables "
            f"differ from the recorded migrations, and may not be complete"
        )


def unrecorded_changes(
    connection: BaseDatabaseWrapper, loader: MigrationLoader | None = None
) -> list[Unrecorded]:
    """What is unrecorded in a database, and of which the project has the migration."""
    moves = [each for each in notes.written(connection) if each.is_incomplete or each.is_open]
    swaps = list(unrecorded_swaps(connection))
    if not moves and not swaps:
        return []
    loader, using = loader or MigrationLoader(connection), connection.alias
    known, found = list(_all(loader)), []
    for move in moves:
        alike = [each for each in known if _may_have_written(move, each[1])]
        for name, operation, target in _next_of(alike, move.backwards, loader):
            keys = tuple(f"{key.model}.{key.name}" for key in operation.keys)
            what = "moved primary keys"
            found.append(Unrecorded(name, target, move.backwards, what, keys, using))
    for swap in swaps:
        model, fields, backwards = (swap.identity[key] for key in ("model", "fields", "backwards"))
        alike = [each for each in known if _may_have_swapped(model, fields, *each)]
        for name, _, target in _next_of(alike, backwards, loader):
            labels = tuple(f"{model}.{field}" for field in fields)
            what = f"swapped {' and '.join(fields)} of {model}"
            found.append(Unrecorded(name, target, backwards, what, labels, using))
    return found


def refusals(
    connection: BaseDatabaseWrapper,
    loader: MigrationLoader,
    plan: Planned,
    unrecorded: Sequence[Unrecorded],
) -> Iterator[str]:
    """Why the plan may not be executed, and what to do: it has to start with what is unrecorded."""
    written = list(notes.written(connection))
    for note in written:
        known = (_may_have_written(note, each) for _, each in _all(loader))
        if note.is_incomplete and not any(known):
            yield (
                f"a migration that moved the primary keys of {', '.join(note.models)} was stopped "
                f"in the middle, and the project doesn't have it as it was. Restore it, and "
                f"complete it by `manage.py migrate`."
            )
    first = plan[: len(unrecorded)]
    planned = {((each.app_label, each.name), backwards) for each, backwards in first}
    for each in unrecorded:
        if (each.migration, each.backwards) not in planned:
            yield f"{each.found}. Complete it by `{each.command}`, then migrate again."
    yield from refusals_to_undo([each for each, backwards in plan if backwards], written)
    yield from refusals_of_old_models([each for each, backwards in plan if not backwards], loader)


def refusals_of_old_models(applied: Sequence[Migration], loader: MigrationLoader) -> Iterator[str]:
    """The moves of keys that the migrations end with, and that the running models don't have."""
    moved = [(each, key) for each in applied for move in moves(each) for key in move.keys]
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
    """The moves whose old keys were not kept, or whose fields of them were removed since and come
    back empty. The move itself refuses the others that lost them, under another name."""
    removed = {
        (migration.app_label, operation.model_name_lower, operation.name)
        for migration in undone
        for operation in operations_of(migration.operations)
        if isinstance(operation, RemoveField)
    }
    for migration in undone:
        for move in moves(migration):
            own = [note for note in written if note.is_of(move.keys)]
            for key in move.keys:
                is_gone = key.old is None or (*key.model_key, key.old_name) in removed
                had = [note.with_old if key.old else note.models for note in own]
                if is_gone and any(key.model in each for each in had):
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
    moved = {key.model_key[0] for each in pending for move in moves(each) for key in move.keys}
    return moved | {each.app_label for each in pending}


def _all(loader: MigrationLoader) -> Iterator[tuple[Name, Any]]:
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


def _next_of(
    found: Sequence[tuple[Name, Any]], backwards: bool, loader: MigrationLoader
) -> list[tuple[Name, Any, str]]:
    """The one that was stopped, since others may have done the same before; and what ``migrate``
    needs to complete it."""
    applied = [each for each in found if each[0] in loader.applied_migrations]
    pending = [each for each in found if each not in applied]
    stopped = applied[-1:] if backwards else pending[:1]
    return [(name, each, _before(loader, name) if backwards else name[1]) for name, each in stopped]


def _before(loader: MigrationLoader, name: Name) -> str:
    parents = sorted(each.key for each in loader.graph.node_map[name].parents)
    own = [parent for app_label, parent in parents if app_label == name[0]]
    return own[-1] if own else "zero"
