"""Moves the keys of a project, back, and again, and compares."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..environment import WORK, copy, python_of, tests_of
from . import compare, edits
from .checkout import Checkout
from .compare import Dump
from .samples import Sample

NEW_ROWS = "2"
"""Inserted into each table after each move."""


@dataclass
class Move:
    """Prints what it does; ``problems`` has what differs."""

    sample: Sample
    database_url: str
    checkouts: Path
    problems: list[str] = field(default_factory=list)
    _previous: tuple[str, ...] = ()
    """App and name of the migration before the one that moves the keys."""

    def run(self) -> Checkout:
        """Everything; return the sources with the moved keys."""
        plain = self._with_rows()
        first, catalogue = self._rows(plain, "first"), self._catalogue(plain, "first")
        moved = self._edited(plain)
        self._move(moved)
        self._report("models without migrations", self._unmigrated(moved) - self._unmigrated(plain))
        self._report("content after the move", compare.content(first, self._rows(moved, "moved")))
        self._compare_with_empty(moved)
        self._insert(moved, NEW_ROWS)
        added = self._rows(moved, "added")
        self._move_back(moved)
        back = self._rows(moved, "back")
        self._report("rows after the move back", compare.rows(first, back, added))
        self._report("content after the move back", compare.content(added, back))
        restored = self._catalogue(moved, "back")
        self._report("catalogue after the move back", compare.catalogues(catalogue, restored))
        self._insert(plain, NEW_ROWS)
        again = self._rows(plain, "again")
        self._move(moved)
        last = self._rows(moved, "last")
        self._report("content after the second move", compare.content(again, last))
        return moved

    def _move(self, moved: Checkout) -> None:
        with self._timed("moved"):
            moved.manage("migrate", "-v0")

    def _move_back(self, moved: Checkout) -> None:
        with self._timed("moved back"):
            moved.manage("migrate", "-v0", *self._previous)

    def _insert(self, checkout: Checkout, rows: str) -> None:
        """Insert new rows into each table."""
        for line in checkout.program("move_fill.py", rows).splitlines():
            print(f"  no new row: {line}")

    def _compare_with_empty(self, moved: Checkout) -> None:
        fresh, own = (self._catalogue(each, "moved") for each in (self._empty(moved), moved))
        self._report("catalogue after the move", compare.catalogues(fresh, own))

    def _with_rows(self) -> Checkout:
        """The project as it is, with a new database and sample data."""
        project, engine = self.sample.project, self.database_url.partition(":")[0] or "sqlite"
        folder = tests_of(project, f"{engine}-moves", self.checkouts)
        shutil.copytree(Path(__file__).parent / "inside", folder, dirs_exist_ok=True)
        copy(project, python_of(project), folder)
        plain = Checkout(self.sample, folder, self.database_url, f"moves_{project.name}_{engine}")
        plain.program("move_database.py")
        plain.manage("migrate", "-v0", "--run-syncdb")
        for each in self.sample.commands:
            plain.manage(*each)
        if self.sample.program:
            plain.program(self.sample.program)
        plain.program("move_fill.py", "3", "empty")
        return plain

    def _edited(self, plain: Checkout) -> Checkout:
        """A copy of the sources with edited models and the migration."""
        folder = plain.folder.with_name(f"{plain.folder.name}-edited")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(plain.folder, folder)
        moved = replace(plain, folder=folder)
        found = moved.edits()
        edits.apply(found)
        columns = moved.columns()
        written = moved.write_migration()
        app = written.parent.parent.name
        earlier = sorted(written.parent.glob("[0-9]*.py"))[-2]
        self._previous = (app, earlier.stem)
        print(f"  {len(found)} models edited, {columns} columns refer to them")
        return moved

    def _empty(self, moved: Checkout) -> Checkout:
        """The same sources with a database that has no rows but those of the migrations."""
        empty = replace(moved, name=f"{moved.name}_empty")
        for file, old, new in self.sample.edits:
            path = moved.folder / file
            text = path.read_text()
            assert old in text, file
            path.write_text(text.replace(old, new))
        empty.program("move_database.py")
        empty.manage("migrate", "-v0", "--run-syncdb")
        return empty

    def _unmigrated(self, checkout: Checkout) -> set[str]:
        """What ``makemigrations`` would write; the test settings of Oscar have some of it."""
        return set(checkout.manage("makemigrations", "--dry-run").splitlines())

    def _rows(self, checkout: Checkout, name: str) -> Dump:
        found = self._dump(checkout, "move_rows.py", name)
        tables = found["raw"].values()
        total = sum(map(len, tables))
        print(f"  rows, {name}: {total} in {sum(map(bool, tables))} of {len(tables)} tables")
        return found

    def _catalogue(self, checkout: Checkout, name: str) -> Dump:
        return self._dump(checkout, "move_catalogue.py", f"catalogue-{name}")

    def _dump(self, checkout: Checkout, program: str, name: str) -> Dump:
        file = WORK / "reports" / f"{checkout.name}-{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        checkout.program(program, str(file))
        found: Dump = json.loads(file.read_text())
        return found

    def _report(self, what: str, found: Iterable[str]) -> None:
        problems = list(found)
        print(f"  {what}: {len(problems) or 'no'} differences")
        for each in problems:
            print(f"    {each}")
        self.problems += problems

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        start = time.monotonic()
        yield
        print(f"  {what} in {time.monotonic() - start:.1f} s")
