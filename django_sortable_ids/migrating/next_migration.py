"""What comes after a backfill: the migration that makes its column NOT NULL and unique."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import connections, models
from django.db.migrations import Migration
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.exceptions import (
    BadMigrationError,
    CircularDependencyError,
    NodeNotFoundError,
)
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.writer import MigrationWriter

from ..db import partitions
from ..db.introspection import has_pending_migrations, is_unique, may_be_null
from ..fields import SortableIDField
from ..fields.of_model import is_unique_with_others
from ..operations import ConstrainSortableID
from ..schema import unmanaged

UNREADABLE = (
    BadMigrationError,
    CircularDependencyError,
    NodeNotFoundError,
    ImportError,
    SyntaxError,
)


@dataclass(frozen=True, slots=True)
class NextMigration:
    """A file that is to be written."""

    path: Path
    source: str
    change: str
    """What to do in the model; empty where it is as it is to be."""
    follows: Sequence[str]
    """The migrations of its app that come before it."""

    def then(self, command: str) -> Iterator[str]:
        """What comes next, for people."""
        yield f"Next: {self.change} in the model, then:" if self.change else "Next:"
        yield f"  {command}"

    @property
    def name(self) -> str:
        """The path as seen from here."""
        return os.path.relpath(self.path)

    def write(self) -> None:
        """Raises ``CommandError`` where the file is there already or can't be written."""
        try:
            with self.path.open("x", encoding="utf-8") as file:
                file.write(self.source)
        except FileExistsError:
            raise CommandError(
                f"{self.name} is there already, and was left as it is: delete or rename it, and "
                f"run this again"
            ) from None
        except OSError as error:
            raise CommandError(
                f"{self.name} can't be written: {error.strerror}. Run this where the code of the "
                f"project can be written"
            ) from error

    def lines(self) -> Iterator[str]:
        """What was written, for people."""
        yield f"Wrote {self.name}"
        if len(self.follows) > 1:
            *others, last = self.follows
            yield f"  It follows {', '.join(others)} and {last}, and so merges them."


class NotMigrated(CommandError):
    """The app has no migrations, or none with that field."""


def following(
    model: type[models.Model], field: SortableIDField, using: str
) -> NextMigration | None:
    """The next migration of that column; None where the migrations and the database have it so.

    Raises ``NotMigrated`` where there is none to follow, ``CommandError`` where the migrations
    can't be read.
    """
    meta = model._meta
    try:
        loader = MigrationLoader(None, ignore_no_migrations=True)
        state = loader.project_state().models.get((meta.app_label, str(meta.model_name)))
    except UNREADABLE as error:
        raise CommandError(f"the migrations can't be read: {error}") from error
    leaves = sorted(loader.graph.leaf_nodes(meta.app_label))
    if not leaves:
        raise NotMigrated(
            f"the app {meta.app_label} has no migrations, and one that changes a column needs one "
            f"that made it: run `manage.py makemigrations {meta.app_label}` first"
        )
    if state is None or field.name not in state.fields:
        raise NotMigrated(
            f"the migrations of {meta.app_label} have no field {meta.object_name}.{field.name}: "
            f"run `manage.py makemigrations {meta.app_label}` first"
        )
    now, then = state.fields[field.name], wanted(model, field, using)
    steps = [then]
    change = change_of(then)
    if not now.null and (now.unique or not then.unique):
        found = _found(model, field, now, using)
        if found is None:
            return None
        steps, change = [found, now.clone()], ""
    name = f"{_next_number(loader, meta.app_label):04}_constrain_{meta.model_name}_{field.name}"
    operations = [ConstrainSortableID(str(meta.model_name), field.name, step) for step in steps]
    content = {"dependencies": leaves, "operations": operations}
    migration = type("Migration", (Migration,), content)(name, meta.app_label)
    writer = MigrationWriter(migration, include_header=False)
    head = "class Migration(migrations.Migration):\n"
    return NextMigration(
        path=Path(writer.path),
        # The writer leaves "atomic" away.
        source=writer.as_string().replace(head, f"{head}\n    atomic = False\n"),
        change=change,
        follows=[name for _, name in leaves],
    )


def _found(
    model: type[models.Model], field: SortableIDField, now: Any, using: str
) -> SortableIDField | None:
    """The field as the database has it, where that lacks what the migrations say, as a table made
    by hand may."""
    connection, table, column = connections[using], model._meta.db_table, str(field.column)
    if has_pending_migrations(connection, model._meta.app_label):
        return None
    lacks_null = may_be_null(connection, table, column)
    lacks_unique = now.unique and not is_unique(connection, table, column)
    if not lacks_null and not lacks_unique:
        return None
    args: list[Any]
    _, _, args, kwargs = now.deconstruct()
    without = {"unique"} if lacks_unique else set()
    options: dict[str, Any] = {key: kwargs[key] for key in kwargs if key not in without}
    found: SortableIDField = type(now)(*args, **options | ({"null": True} if lacks_null else {}))
    return found


def statements(model: type[models.Model], field: SortableIDField, using: str) -> Iterator[str]:
    """Those of a table that no migration changes; none where all is so already."""
    connection, then = connections[using], wanted(model, field, using)
    table, column = model._meta.db_table, str(field.column)
    is_so = not field.null and (field.unique or not then.unique)
    if not is_so or unmanaged.lacks(connection, table, column, then):
        yield from unmanaged.constrain(field, then, connection)


def why_not_unique(field: SortableIDField, using: str) -> str | None:
    """What keeps the column from being unique by itself, where the model doesn't take it as unique
    with others."""
    if is_unique_with_others(field):
        return None
    return partitions.why_not_unique(connections[using], field)


def wanted(model: type[models.Model], field: SortableIDField, using: str) -> SortableIDField:
    """The field as it is to be in that database."""
    return constrained(model, field, not partitions.why_not_unique(connections[using], field))


def change_of(then: SortableIDField) -> str:
    """What to do in the model."""
    return "write unique=True instead of null=True" if then.unique else "take null=True away"


def constrained(
    model: type[models.Model], field: SortableIDField, alone: bool = True
) -> SortableIDField:
    """The field as it is to be: not NULL, and unique where no constraint of the model says so and
    it can be ``alone``."""
    _, _, args, kwargs = field.deconstruct()
    has_constraint = any(
        tuple(each.fields) == (field.name,) for each in model._meta.total_unique_constraints
    )
    is_own = alone and not has_constraint
    without = {"null", "blank", "db_index"} if is_own else {"null", "blank"}
    options: dict[str, Any] = {key: kwargs[key] for key in kwargs if key not in without}
    if is_own:
        options["unique"] = True
    made: SortableIDField = type(field)(*args, **options)
    return made


def _next_number(loader: MigrationLoader, app_label: str) -> int:
    """Higher than all numbers that the app has: its last migration need not have the highest."""
    names = [name for app, name in loader.disk_migrations or {} if app == app_label]
    return 1 + max(MigrationAutodetector.parse_number(name) or 0 for name in names)
