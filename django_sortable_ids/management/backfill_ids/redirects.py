"""Refuses output that is redirected into a folder of migrations, which Django imports."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.db.migrations.loader import MigrationLoader


def refuse_migrations(stdout: Any) -> None:
    """Raise ``CommandError`` if the shell redirected the output to a file among the migrations.

    The shell has emptied that file, and Django can import neither an empty migration nor a report.
    So the file is deleted, unless it is an ``__init__.py`` or has content.
    """
    try:
        output = os.fstat(stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return
    if not stat.S_ISREG(output.st_mode):
        return
    for folder in _folders():
        for path in folder.glob("*.py"):
            if path.exists() and os.path.samestat(output, path.stat()):
                _refuse(path, output.st_size)


def _refuse(path: Path, size: int) -> None:
    state = "was not changed"
    if not size and path.name == "__init__.py":
        state = "is empty now, as usual"
    elif not size:
        with suppress(OSError):
            path.unlink()
            state = "was deleted, because an empty migration breaks every command of the project"
    raise CommandError(
        f"the output is redirected to {os.path.relpath(path)}, but it is no migration. The file "
        f"{state}. Nothing else was done. Run the command again without the redirect: "
        f"--write-migration writes the file"
    )


def _folders() -> Iterator[Path]:
    for config in apps.get_app_configs():
        name, _ = MigrationLoader.migrations_module(config.label)
        if name is None:
            continue
        with suppress(ImportError, ValueError):
            spec = find_spec(name)
            yield from map(Path, (spec and spec.submodule_search_locations) or [])
