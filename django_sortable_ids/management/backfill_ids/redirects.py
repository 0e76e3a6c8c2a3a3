"""Output that goes into a folder of migrations, which every command of the project imports."""

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
    """Raise ``CommandError`` where the shell sent the output to a file among the migrations.

    The shell has emptied that file, and Django can import neither an empty migration nor a report:
    the file is deleted, unless it is an ``__init__.py`` or something is in it.
    """
    try:
        found = os.fstat(stdout.fileno())
    except (OSError, ValueError, AttributeError):
        return
    if not stat.S_ISREG(found.st_mode):
        return
    for folder in _folders():
        for path in folder.glob("*.py"):
            if path.exists() and os.path.samestat(found, path.stat()):
                _refuse(path, found.st_size)


def _refuse(path: Path, size: int) -> None:
    kept = "was left as it is"
    if not size and path.name == "__init__.py":
        kept = "is empty now, as it usually is"
    elif not size:
        with suppress(OSError):
            path.unlink()
            kept = "was deleted, since an empty one breaks every command of the project"
    raise CommandError(
        f"{os.path.relpath(path)} is where the output goes, and the output is no migration; the "
        f"file {kept}. Nothing else was done. Run it again without the redirect: "
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
