"""The source files of the project itself: not of packages that are installed, nor of tests, which
show their failures themselves, nor of migrations, whose work is done."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.template import engines

from ..edits import INSTALLED, is_installed
from .names import Names

_LEFT_OUT = frozenset({"migrations", "tests", "test", "node_modules", "__pycache__"})
_TESTS = ("test_", "tests.", "conftest.")
_MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class SourceFile:
    path: Path
    text: str
    is_near: bool
    """Whether it names a moved model, or is in the app of one."""

    @property
    def shown(self) -> str:
        """Relative to the current folder."""
        return os.path.relpath(self.path)


def python_files(names: Names) -> list[SourceFile]:
    """The apps of the project, the packages of its settings and URLs, and what these imported."""
    found = dict.fromkeys(each for folder in _folders(names) for each in _walk(folder, {".py"}))
    return list(_read(found | dict.fromkeys(_modules()), names))


def template_files(names: Names) -> list[SourceFile]:
    """Those of the project's apps and of TEMPLATES."""
    folders = [each / "templates" for each in _folders(names)]
    for engine in engines.all():
        folders += [Path(each) for each in engine.dirs]
    own = (each for each in folders if not is_installed(each))
    found = dict.fromkeys(each for folder in own for each in _walk(folder, {".html", ".txt"}))
    return list(_read(found, names))


def _folders(names: Names) -> list[Path]:
    """Those of the project's apps, and of apps whose keys move."""
    moved = _folders_of_moved(names)
    every = [Path(each.path) for each in apps.get_app_configs()]
    found = [each for each in every if each in moved or not is_installed(each)]
    for name in (settings.SETTINGS_MODULE, getattr(settings, "ROOT_URLCONF", None)):
        path = name and _file(name.partition(".")[0])
        if path and path.name == "__init__.py" and not is_installed(path):
            found.append(path.parent)
    return found


def _folders_of_moved(names: Names) -> set[Path]:
    return {Path(apps.get_app_config(each._meta.app_label).path) for each in names.moved}


def _file(module: str) -> Path | None:
    try:
        found = importlib.import_module(module)
    except ImportError:
        return None
    return None if getattr(found, "__file__", None) is None else Path(str(found.__file__))


def _modules() -> Iterator[Path]:
    """The imported modules next to the settings, which need not be in an app."""
    own = _file(settings.SETTINGS_MODULE) if settings.SETTINGS_MODULE else None
    if own is None:
        return
    home = own.parents[settings.SETTINGS_MODULE.count(".")]
    for module in list(sys.modules.values()):
        name = getattr(module, "__file__", None)
        path = Path(name) if isinstance(name, str) and name.endswith(".py") else None
        if path and path.is_relative_to(home) and not is_installed(path):
            inner = path.relative_to(home)
            if not _LEFT_OUT & set(inner.parts) and not inner.name.startswith(_TESTS):
                yield path


def _walk(folder: Path, endings: Collection[str]) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not _is_left_out(each))
        for name in sorted(names):
            if Path(name).suffix in endings and not name.startswith(_TESTS):
                yield Path(parent, name)


def _is_left_out(folder: str) -> bool:
    return folder in _LEFT_OUT or folder in INSTALLED or folder.startswith(".")


def _read(found: Collection[Path], names: Names) -> Iterator[SourceFile]:
    near = _folders_of_moved(names)
    for path in found:
        try:
            if path.stat().st_size > _MOST_BYTES:
                continue
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        is_near = not near.isdisjoint(path.parents) or names.are_in(text)
        yield SourceFile(path, text, is_near)
