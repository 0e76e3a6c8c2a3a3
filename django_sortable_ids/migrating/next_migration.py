"""Migration files that the command writes, and the one after a backfill, which makes the column NOT
NULL and unique."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connections, models
from django.db.migrations import Migration
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.writer import MigrationWriter

from ..db.tables import is_unique, may_be_null
from ..errors import reading_migrations
from ..fields import SortableIDField
from ..operations import ConstrainSortableID
from ..schema import constraints
from ..schema.constraints import redefined
from .unrecorded import pending_apps

_HEAD = "class Migration(migrations.Migration):\n"


@dataclass(frozen=True, slots=True)
class MigrationFile:
    """A migration with ``atomic = False`` that can be written."""

    path: Path
    source: str
    change: str = ""
    """What to change in the model; empty if nothing."""

    @property
    def name(self) -> str:
        """The path relative to the current directory."""
        return os.path.relpath(self.path)

    def write(self) -> None:
        """Raises ``CommandError`` if it can't be written, or exists already."""
        try:
            with self.path.open("x", encoding="utf-8") as file:
                file.write(self.source)
        except OSError as error:
            raise CommandError(
                f"{self.name} can't be written: {error.strerror}. Run this where the project's "
                f"code is writable, and delete or rename a file of that name"
            ) from error


def migration_file(
    loader: MigrationLoader,
    app_label: str,
    name: str,
    dependencies: Sequence[tuple[str, str]],
    operations: Sequence[Operation],
    change: str = "",
) -> MigrationFile:
    """The next migration of the app; ``name`` is without its number."""
    content = {"dependencies": dependencies, "operations": operations}
    existing = (*(loader.disk_migrations or {}), *dependencies)
    parse_number = MigrationAutodetector.parse_number
    # The last migration need not have the highest number.
    number = 1 + max(parse_number(taken) or 0 for app, taken in existing if app == app_label)
    migration = type("Migration", (Migration,), content)(f"{number:04}_{name}", app_label)
    writer = MigrationWriter(migration, include_header=False)
    # MigrationWriter omits "atomic".
    source = writer.as_string().replace(_HEAD, f"{_HEAD}\n    atomic = False\n")
    return MigrationFile(Path(writer.path), source, change)


class NotMigrated(CommandError):
    """No migration has the field."""


def following(
    model: type[models.Model], field: SortableIDField, using: str
) -> MigrationFile | None:
    """The next migration of the column; None if migrations and database have its constraints.

    Raises ``NotMigrated`` if no migration has the field, ``BackfillError`` if the migrations can't
    be read.
    """
    meta = model._meta
    with reading_migrations():
        loader = MigrationLoader(None, ignore_no_migrations=True)
        state = loader.project_state().models.get((meta.app_label, str(meta.model_name)))
    leaves = sorted(loader.graph.leaf_nodes(meta.app_label))
    if state is None or field.name not in state.fields:
        raise NotMigrated(
            f"the migrations of {meta.app_label} have no field {meta.object_name}.{field.name}: "
            f"run `manage.py makemigrations {meta.app_label}` first"
        )
    connection, table, column = connections[using], meta.db_table, str(field.column)
    # What else differs in the model is another migration, which makemigrations writes.
    migrated: Any = state.fields[field.name]
    final = redefined(migrated, "null", "blank")
    uniques = (tuple(constraint.fields) for constraint in meta.total_unique_constraints)
    if (field.name,) not in uniques and not constraints.why_not_unique(connection, field):
        final = redefined(migrated, "null", "blank", "db_index", unique=True)
    steps = [final]
    if not migrated.null and (migrated.unique or not final.unique):
        # The column may lack constraints that the migrations have, in a table created by hand.
        lacks_null = may_be_null(connection, table, column)
        lacks_unique = migrated.unique and not is_unique(connection, table, column)
        if not (lacks_null or lacks_unique) or meta.app_label in pending_apps(connection):
            return None
        without = ["unique"] if lacks_unique else []
        options = {"null": True} if lacks_null else {}
        steps = [redefined(migrated, *without, **options), migrated.clone()]
    name = f"constrain_{meta.model_name}_{field.name}"
    operations = [ConstrainSortableID(str(meta.model_name), field.name, step) for step in steps]
    change = "remove null=True" if field.null else ""
    if steps[-1].unique and not field.unique:
        change = f"write unique=True{' instead of null=True' if field.null else ''}"
    return migration_file(loader, meta.app_label, name, leaves, operations, change)
