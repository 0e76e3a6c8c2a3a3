"""A process with ``manage.py migrate``, and the phase of the move in which it is, which the
statements show that it executes."""

import multiprocessing
import os
import re
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management import execute_from_command_line
from django.db import connections
from django.db.backends.signals import connection_created

from tests.patience import PATIENCE

_POLL = 0.0005
_NOTES = "django_sortable_ids_movenote"
_NOTE = rf"(INSERT INTO|UPDATE) {_NOTES}\b.*backwards"
_PHASES = {
    "looks": "",
    "rehearses": r"CREATE TABLE sortable_ids_new__",
    "fills": r"CREATE (TEMPORARY )?TABLE .?sortable_ids_next__",
    "copies": r"INSERT INTO sortable_ids_new__",
    "notes": _NOTE,
    "switches": (
        r"CREATE TABLE moving__|CREATE FUNCTION pg_temp.moved_|ALTER TABLE \S+ DROP FOREIGN KEY"
    ),
    "restores": r"RENAME TABLE",
    "ends": _NOTE,
    "records": r"(INSERT INTO|DELETE FROM) django_migrations\b",
}
"""The statement with which each one starts; no database has all."""
PHASES = list(_PHASES)
_STARTS = [re.compile(each) for each in _PHASES.values()]


class Log:
    """Follows the file to which a process appends its statements."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self.phase = 0
        self._counts = [0] * len(PHASES)
        self.statements: list[tuple[float, int]] = []
        """Of each one when it started, and the phase."""

    def follow(self) -> None:
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._read)
                text = file.read()
            complete = text[: text.rfind(b"\n") + 1]
            self._read += len(complete)
            self._add(complete.decode().splitlines())

    def _add(self, lines: Iterable[str]) -> None:
        for line in lines:
            at, _, quoted = line.partition(" ")
            sql = re.sub(r'[`"]', "", quoted)
            for phase in range(self.phase + 1, len(PHASES)):
                if _STARTS[phase].match(sql):
                    self.phase = phase
                    break
            self._counts[self.phase] += 1
            self.statements.append((float(at), self.phase))

    def number_in(self, phase: int) -> int:
        """How many statements of this phase, or of later ones, have started."""
        return sum(self._counts[phase:])


def _migrate(to: str, output: int, statements: int) -> None:
    """In a process of its own. Each statement is written before it is executed: a line with the
    time, which all processes have in common, and the first characters."""

    def execute(run: Any, sql: str, params: Any, *rest: Any) -> Any:
        shown = f"{' '.join(sql.split())[:200]} {params!r}" if _NOTES in sql else sql[:200]
        os.write(statements, f"{time.monotonic()} {' '.join(shown.split())}\n".encode())
        return run(sql, params, *rest)

    def tell(connection: Any, **_: Any) -> None:
        if execute not in connection.execute_wrappers:
            connection.execute_wrappers.append(execute)

    connection_created.connect(tell)
    os.dup2(output, 1)
    os.dup2(output, 2)
    execute_from_command_line(["manage.py", "migrate", "graph", to])


class Migrate:
    """``migrate graph TO``, by a fork of this process: Django has started here already."""

    def __init__(self, to: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._output = Path(self._folder.name, "output")
        statements = Path(self._folder.name, "statements")
        self.log = Log(statements)
        connections.close_all()
        with self._output.open("wb") as output, statements.open("wb", buffering=0) as told:
            self._process = multiprocessing.get_context("fork").Process(
                target=_migrate, args=[to, output.fileno(), told.fileno()]
            )
            self._process.start()

    def __enter__(self) -> "Migrate":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._folder.cleanup()

    def reaches(self, phase: int, number: int) -> bool:
        """Wait until that many statements of the phase, or of later ones, have started. False if
        the process ended before."""
        give_up = time.monotonic() + PATIENCE
        while self.log.number_in(phase) <= number:
            if not self._process.is_alive():
                return False
            assert time.monotonic() < give_up, self.output
            time.sleep(_POLL)
            self.log.follow()
        return True

    def ends_within(self, seconds: float) -> bool:
        self._process.join(seconds)
        return not self._process.is_alive()

    def wait(self) -> int:
        """Its exit status."""
        self._process.join(PATIENCE)
        status = self._process.exitcode
        assert status is not None, self.output
        self.log.follow()
        return status

    def kill(self) -> None:
        self._process.kill()
        self.wait()

    @property
    def output(self) -> str:
        return self._output.read_text()
