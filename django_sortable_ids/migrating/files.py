"""Migration files that the command writes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.core.management.base import CommandError
from django.db.migrations import Migration
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.writer import MigrationWriter

_HEAD = "class Migration(migrations.Migration):\n"


@dataclass(frozen=True, slots=True)
class MigrationFile:
    """A migration with ``atomic = False`` that can be written."""

    path: Path
    source: str

    @property
    def name(self) -> str:
        """The path relative to the current directory."""
        return os.path.relpath(self.path)

    def write(self) -> None:
        """Raises ``CommandError`` if the file exists already or can't be written."""
        try:
            with self.path.open("x", encoding="utf-8") as file:
                file.write(self.source)
        except FileExistsError:
            raise CommandError(
                f"{self.name} exists already and was not changed: delete or rename it, and run "
                f"this again"
            ) from None
        except OSError as error:
            raise CommandError(
                f"{self.name} can't be written: {error.strerror}. Run this where the project's "
                f"code is writable"
            ) from error


def migration_file(
    loader: MigrationLoader,
    app_label: str,
    name: str,
    dependencies: Sequence[tuple[str, str]],
    operations: Sequence[Operation],
) -> MigrationFile:
    """The next migration of the app; ``name`` is without its number."""
    content = {"dependencies": dependencies, "operations": operations}
    numbered = f"{_next_number(loader, app_label):04}_{name}"
    migration = type("Migration", (Migration,), content)(numbered, app_label)
    writer = MigrationWriter(migration, include_header=False)
    # MigrationWriter omits "atomic".
    source = writer.as_string().replace(_HEAD, f"{_HEAD}\n    atomic = False\n")
    return MigrationFile(Path(writer.path), source)


def _next_number(loader: MigrationLoader, app_label: str) -> int:
    """One above the highest number in the app, which the last migration need not have."""
    names = [name for app, name in loader.disk_migrations or {} if app == app_label]
    return 1 + max(MigrationAutodetector.parse_number(name) or 0 for name in names)
