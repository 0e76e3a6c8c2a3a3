"""The second half of the demo: a copy of the project, whose primary keys move.

Its models are edited as a user edits them, so they fit the copy of the database only. The project
itself keeps its integer keys.
"""

import os
import re
import shutil
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NoReturn

from django.conf import settings
from django.db import connection

from django_sortable_ids.fields import SortableIDField
from django_sortable_ids.primary_keys.edits import Edit

from .models import Flight

MODELS = ["flights.Airline", "flights.Airport", "flights.Plane", "flights.Flight"]
PERIOD = ["--start", "2012-01-01", "--end", "2012-12-31"]
"""Airlines, airports and planes have no creation time: they were there before the flights."""
_SOURCE = Path(settings.DATABASES["default"]["NAME"])
FOLDER = _SOURCE.with_name(f"{_SOURCE.stem}_moved_keys")
"""Of the copy, next to the database of the project."""
_DATABASE = "flights.sqlite3"
_MODELS = "flights/models.py"
_URLS, _INTEGERS, _TEXTS = "config/urls.py", "<int:pk>", "<str:pk>"
_LOCAL = ("*.sqlite3*", "*.log", "__pycache__", "*_moved_keys*")
"""What isn't part of the project."""


def is_copy() -> bool:
    """Whether this is the copy, with its edited models."""
    return isinstance(Flight._meta.pk, SortableIDField)


def create_copy(edits: Iterable[Edit]) -> Iterator[str]:
    """Copy code and database, edit the models and a URL, and yield what was done.

    Other runs see the whole copy or none.
    """
    unfinished = FOLDER.with_name(f"{FOLDER.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(settings.BASE_DIR, unfinished, ignore=shutil.ignore_patterns(*_LOCAL))
    yield f"Copied the project to {FOLDER}"
    models = unfinished / _MODELS
    models.write_text(_edited(models.read_text(encoding="utf-8"), edits), encoding="utf-8")
    yield f"  inserted these lines into {_MODELS}"
    urls = unfinished / _URLS
    text = urls.read_text(encoding="utf-8")
    urls.write_text(text.replace(_INTEGERS, _TEXTS), encoding="utf-8")
    yield f"  replaced {_INTEGERS} by {_TEXTS} in {_URLS}"
    connection.ensure_connection()
    with closing(sqlite3.connect(unfinished / _DATABASE)) as copy:
        connection.connection.backup(copy)
    unfinished.rename(FOLDER)


def continue_in_copy(*arguments: str) -> NoReturn:
    """Run ``manage.py`` of the copy in place of this process: whoever stops this one, stops it."""
    connection.close()
    sys.stdout.flush()
    os.chdir(FOLDER)
    os.environ.pop("FLIGHTS_DATABASE", None)
    os.execv(sys.executable, [sys.executable, str(FOLDER / "manage.py"), *arguments])


def written_migration() -> Path | None:
    """The migration that moves the keys, if ``backfill_ids`` has written it."""
    for path in Path(__file__).with_name("migrations").glob("*_move_key_of_*.py"):
        if path.stat().st_size:
            return path
        path.unlink()  # the command was killed between two system calls
    return None


def _edited(models: str, edits: Iterable[Edit]) -> str:
    for edit in edits:
        lines = "".join(f"    {each}\n" for each in edit.text)
        for place in edit.classes:
            name = place.rpartition(".")[2]
            start = rf'^class {name}\(.*\n(?:    """[^"]*"""\n\n)?'
            models = re.sub(start, rf"\g<0>{lines}", models, flags=re.MULTILINE)
        imports = "\n".join(edit.needs)
        models = re.sub(
            "^from django_sortable_ids", rf"{imports}\n\g<0>", models, count=1, flags=re.MULTILINE
        )
    return models
