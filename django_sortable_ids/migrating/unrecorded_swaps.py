"""Swaps of two fields whose migration was killed before it was recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.apps.registry import Apps
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ProjectState

from ..operations import SwapSortableID
from ..schema import swap_notes
from ..schema.swap import Swap
from .unrecorded_moves import of_migration


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """A swap that is done in the database but not recorded in ``django_migrations``."""

    apps: Apps
    """The models according to the recorded migrations."""
    model: str
    """``app.Model``."""
    fields: tuple[str, str]
    backwards: bool

    def is_made_by(self, app_label: str, operation: Any, backwards: bool) -> bool:
        """Whether this operation of a plan is the unrecorded swap."""
        model = f"{app_label}.{getattr(operation, 'model_name_lower', '')}"
        swapped = getattr(operation, "swapped_fields", None)
        return (model, swapped, backwards) == (self.model.lower(), self.fields, self.backwards)

    def undo(self, connection: BaseDatabaseWrapper) -> None:
        """Swap the columns back to the recorded state."""
        app_label, model_name = self.model.split(".")
        state = ProjectState.from_apps(self.apps)
        SwapSortableID(model_name, *self.fields).state_forwards(app_label, state)
        recorded, swapped = self.apps.get_model(self.model), state.apps.get_model(self.model)
        with connection.schema_editor(atomic=False) as editor:
            # The first call finishes renaming this app's own records.
            Swap(editor, recorded, swapped, *self.fields).execute(self.backwards)
            Swap(editor, swapped, recorded, *self.fields).execute(not self.backwards)


def undo(
    connection: BaseDatabaseWrapper, apps: Apps, plan: list[tuple[Migration, bool]]
) -> Iterator[str]:
    """Undo unrecorded swaps that the plan doesn't contain, and yield a notice for each."""
    planned = [
        (migration.app_label, operation, backwards)
        for migration, backwards in plan
        for operation in migration.operations
    ]
    for each in find(connection, apps):
        if not any(each.is_made_by(*operation) for operation in planned):
            each.undo(connection)
            yield (
                f"{each.model}: a migration swapped {' and '.join(each.fields)} and stopped before "
                f"it was recorded; the swap was undone."
            )


def find(connection: BaseDatabaseWrapper, apps: Apps | None = None) -> Iterator[Unrecorded]:
    """The unrecorded swaps of a database; ``apps`` has the models of the recorded migrations."""
    for note in swap_notes.unrecorded(connection):
        apps = apps or _recorded(connection)
        label, fields, backwards = (note.identity[key] for key in ("model", "fields", "backwards"))
        try:
            model = apps.get_model(label)
            now = swap_notes.identity(model, *fields, backwards=backwards)
        except LookupError:
            continue
        if now == note.identity and swap_notes.is_done(note, connection, model._meta.db_table):
            yield Unrecorded(apps, label, tuple(fields), backwards)


def has_pending_migrations(connection: BaseDatabaseWrapper, app_label: str) -> bool:
    """Whether unapplied migrations change tables of the app, which may differ from its models."""
    loader = MigrationLoader(connection)
    pending = (
        loader.graph.nodes[key] for key in loader.graph.nodes.keys() - loader.applied_migrations
    )
    return any(each.app_label == app_label or app_label in _moved(each) for each in pending)


def _moved(migration: Migration) -> set[str]:
    """The apps whose keys the migration moves."""
    return {key.model_key[0] for operation in of_migration(migration) for key in operation.keys}


def _recorded(connection: BaseDatabaseWrapper) -> Apps:
    loader = MigrationLoader(connection)
    applied = [key for key in loader.applied_migrations if key in loader.graph.nodes]
    recorded: Apps = loader.project_state(applied).apps
    return recorded
