"""Moves of primary keys that were stopped after their tables began to change, and before their
migration was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import SeparateDatabaseAndState

from ..operations import MigratePrimaryKey
from ..primary_keys import notes


@dataclass(frozen=True, slots=True)
class UnrecordedMove:
    """``migration`` is its app and name, ``target`` what ``migrate`` needs to complete it."""

    migration: tuple[str, str]
    target: str
    backwards: bool
    keys: tuple[str, ...]
    """``app.Model.field`` of each key."""
    using: str

    @property
    def command(self) -> str:
        """What completes the move."""
        return command(self.migration[0], self.target, self.using)

    @property
    def found(self) -> str:
        """What happened, as a clause."""
        names = ".".join(self.migration)
        move = f"the undoing of {names}" if self.backwards else names
        return (
            f"{move} moved primary keys, and was stopped before it was recorded: tables "
            f"differ from the recorded migrations, and may not be complete"
        )


def command(app_label: str, target: str, using: str) -> str:
    """What migrates an app to a target."""
    database = "" if using == "default" else f" --database {using}"
    return f"manage.py migrate {app_label} {target}{database}"


def of_migration(migration: Migration) -> Iterator[MigratePrimaryKey]:
    """The moves that the migration contains."""
    yield from _of_operations(migration.operations)


def _of_operations(operations: Sequence[Any]) -> Iterator[MigratePrimaryKey]:
    for each in operations:
        if isinstance(each, SeparateDatabaseAndState):
            yield from _of_operations(each.database_operations)
        elif isinstance(each, MigratePrimaryKey):
            yield each


def find(
    connection: BaseDatabaseWrapper, loader: MigrationLoader | None = None
) -> list[UnrecordedMove]:
    """The unrecorded moves of a database, of which the project has the migration."""
    written = list(notes.written(connection))
    if not written:
        return []
    loader = loader or MigrationLoader(connection)
    return [move for note in written for move in _unrecorded(note, loader, connection.alias)]


def _unrecorded(
    note: notes.Written, loader: MigrationLoader, using: str
) -> Iterator[UnrecordedMove]:
    if not (note.is_incomplete or note.is_open):
        return
    migrations = list(_migrations(note, loader))
    applied = [each for each in migrations if each[0] in loader.applied_migrations]
    pending = [each for each in migrations if each not in applied]
    # The keys may have moved in the same way before: then other migrations have the same keys.
    if applied if note.backwards else pending:
        name, operation = applied[-1] if note.backwards else pending[0]
        keys = tuple(f"{each.model}.{each.name}" for each in operation.keys)
        target = _before(loader, name) if note.backwards else name[1]
        yield UnrecordedMove(name, target, note.backwards, keys, using)


def _migrations(
    note: notes.Written, loader: MigrationLoader
) -> Iterator[tuple[tuple[str, str], MigratePrimaryKey]]:
    """Those that may have written the note."""
    for name, migration in sorted(loader.graph.nodes.items()):
        for operation in of_migration(migration):
            if note.is_of(operation.keys):
                yield name, operation


def _before(loader: MigrationLoader, name: tuple[str, str]) -> str:
    """What ``migrate`` needs to undo the migration."""
    parents = sorted(each.key for each in loader.graph.node_map[name].parents)
    own = [parent for app_label, parent in parents if app_label == name[0]]
    return own[-1] if own else "zero"


def refusals(moves: list[UnrecordedMove], plan: list[tuple[Migration, bool]]) -> Iterator[str]:
    """Why the plan may not be executed, and what to do: it has to start with these moves."""
    first = plan[: len(moves)]
    planned = {((each.app_label, each.name), backwards) for each, backwards in first}
    for each in moves:
        if (each.migration, each.backwards) not in planned:
            yield f"{each.found}. Complete it by `{each.command}`, then migrate again."


def without_migration(connection: BaseDatabaseWrapper, loader: MigrationLoader) -> Iterator[str]:
    """Why nothing may be migrated, for incomplete moves that no migration of the project has."""
    for note in notes.written(connection):
        if note.is_incomplete and not list(_migrations(note, loader)):
            names = ", ".join(model for model, _ in note.keys)
            yield (
                f"a migration that moved the primary keys of {names} was stopped in the middle, "
                f"and the project doesn't have it as it was. Restore it, and complete it by "
                f"`manage.py migrate`."
            )
