"""Which code is the project's own, and which is that of packages that are installed."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

from django.db.migrations.loader import MigrationLoader

INSTALLED = frozenset({"site-packages", "dist-packages"})
_PACKAGE = Path(__file__).parents[2]


def is_installed(path: Path) -> bool:
    """Whether it belongs to a package that is not the project's."""
    return bool(INSTALLED & set(path.parts)) or path.is_relative_to(_PACKAGE)


def is_model_installed(model: type[Any]) -> bool:
    """Whether nobody edits the model, because a package has it."""
    try:
        return is_installed(Path(inspect.getfile(model)))
    except (OSError, TypeError):
        return False


def may_write_migrations(app_label: str) -> bool:
    """Whether the migrations of the app are files of the project, as MIGRATION_MODULES may say."""
    name, _ = MigrationLoader.migrations_module(app_label)
    try:
        found = name and importlib.import_module(name)
    except ImportError:
        return False
    file = getattr(found, "__file__", None)
    return file is not None and not is_installed(Path(file))
