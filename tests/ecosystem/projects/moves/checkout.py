"""A project in a folder, and its database: runs commands and programs in the project's Python."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.settings import database

from ..environment import python_of
from .samples import Sample

_RUN = """
import django, runpy, sys
django.setup()
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


class Failed(Exception):
    """A command ended with an error; the message has what it printed last."""


@dataclass(frozen=True)
class Checkout:
    sample: Sample
    folder: Path
    """The sources."""
    database_url: str
    name: str
    """Of the database."""

    @property
    def settings(self) -> dict[str, Any]:
        """What Django gets as its database."""
        if not self.database_url:
            return {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": str(self.folder.parent / f"{self.name}.sqlite3"),
                "OPTIONS": {"init_command": "PRAGMA synchronous=OFF"},
            }
        return database(self.database_url) | {"NAME": self.name}

    @property
    def environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return {
            **own,
            "DATABASE": json.dumps(self.settings),
            "DJANGO_SETTINGS_MODULE": "move_settings",
            "KEYS": "",
            "OVERRIDES": json.dumps(self.sample.project.overrides),
            "OWN_SETTINGS": self.sample.project.settings,
            "PYTHONPATH": str(self.folder),
            "PYTHONWARNINGS": "ignore",
            **self.sample.project.environment,
        }

    def manage(self, *arguments: str) -> str:
        """Run a management command; return its output. Raises ``Failed``."""
        return self._run("-m", "django", *arguments)

    def program(self, file: str, *arguments: str) -> str:
        """Run a program of the folder, with Django set up; return its output. Raises ``Failed``."""
        return self._run("-c", _RUN, file, *arguments)

    def edits(self) -> list[dict[str, Any]]:
        """The edits that a move of the keys needs. Raises ``Failed`` if the command names none."""
        done = self._start("-m", "django", *self._move(), "--json")
        if '"edits"' not in done.stdout:
            raise Failed(done.stdout + done.stderr)
        return list(json.loads(done.stdout)["edits"])

    def columns(self) -> int:
        """How many columns the plan names that refer to a key."""
        plan = json.loads(self.manage(*self._move(), "--json"))
        return sum(len(each["references"]) for each in plan["keys"])

    def write_migration(self) -> Path:
        self.manage(*self._move(), "--leave=*", "--write-migration")
        (written,) = self.folder.rglob("migrations/*_move_key_of_*.py")
        return written

    def _move(self) -> list[str]:
        return ["backfill_ids", *self.sample.labels, "--primary-key"]

    def _run(self, *arguments: str) -> str:
        done = self._start(*arguments)
        if done.returncode:
            raise Failed(f"{' '.join(arguments[2:])}\n{(done.stdout + done.stderr)[-4000:]}")
        return done.stdout

    def _start(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(python_of(self.sample.project)), *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
