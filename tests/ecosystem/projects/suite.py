"""Runs a suite with pytest, and reads how each test ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.settings import database

from .catalog import NUMBERS, Project
from .environment import WORK, edit, python_of, tests_of

QUIET = ("-q", "--tb=short", "--show-capture=no", "-p", "no:warnings", "-p", "no:cacheprovider")


@dataclass(frozen=True)
class Results:
    passed: frozenset[str]
    failed: dict[str, str]
    """The error, in one line, by the test."""

    def new_failures(self, before: Results) -> dict[str, str]:
        """What fails here, or doesn't run, of the tests that passed before."""
        return {test: self.failed.get(test, "did not run") for test in before.passed - self.passed}


@dataclass(frozen=True)
class Suite:
    """A project's tests on one database."""

    project: Project
    database_url: str
    checkouts: Path
    arguments: list[str]
    """Of pytest."""
    reuse: bool
    """Whether a report of an earlier run is read instead."""

    def results(self, field: str | None = None) -> Results:
        """With that field as the key of the models, or as the suite is."""
        project, engine = self.project, self.database_url.partition(":")[0] or "sqlite"
        name = f"{project.name}-{project.version}-{engine}-{field or 'as-it-is'}.xml"
        report = WORK / "reports" / name
        if not (self.reuse and report.exists()):
            report.parent.mkdir(parents=True, exist_ok=True)
            report.unlink(missing_ok=True)
            self._run(field, tests_of(project, engine, self.checkouts), report)
        return read(report)

    def _run(self, field: str | None, folder: Path, report: Path) -> None:
        if field and field not in NUMBERS:
            edit(self.project, python_of(self.project), folder)
        keys = ("--nomigrations", "-p", "key_fixtures") if field else ()
        arguments = ("--ds=key_settings", *keys, *self.arguments)
        execute(self.project, folder, self._environment(field), report, arguments)

    def _environment(self, field: str | None) -> dict[str, str]:
        return {
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "OWN_SETTINGS": self.project.settings,
            "DATABASE": json.dumps(database(self.database_url)) if self.database_url else "",
            "KEYS": json.dumps(self._keys(field)) if field else "",
            **self.project.environment,
        }

    def _keys(self, field: str) -> dict[str, object]:
        path = f"django_sortable_ids.fields.{field}"
        overrides = {
            name: path if value == "FIELD" else value
            for name, value in self.project.overrides.items()
        }
        return {
            "field": path,
            "app_configs": self.project.app_configs,
            "fixtures": self.project.fixtures,
            "overrides": overrides,
        }


def execute(
    project: Project,
    folder: Path,
    environment: dict[str, str],
    report: Path,
    arguments: Sequence[str],
) -> None:
    """Run the tests in a folder with pytest, which gets the arguments and writes the report."""
    command = (python_of(project), "-m", "pytest", *QUIET, f"--junitxml={report}")
    with report.with_suffix(".log").open("w") as log:
        subprocess.run(
            [str(each) for each in (*command, *project.pytest, *arguments, "tests")],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )


def read(report: Path) -> Results:
    """Ends the program if there is no report."""
    if not report.exists():
        sys.exit(f"The suite did not run: see {report.with_suffix('.log')}")
    passed, failed = set(), {}
    for case in ET.parse(report).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        problem = case.find("failure")
        if problem is None:
            problem = case.find("error")
        if problem is not None:
            failed[name] = _error(problem)
        elif case.find("skipped") is None:
            passed.add(name)
    return Results(frozenset(passed - failed.keys()), failed)


def _error(problem: ET.Element) -> str:
    """What pytest marks with an `E` at the end of the traceback: the first line of it."""
    lines = ["", *(problem.text or "").splitlines()]
    starts = [
        line[1:].strip()
        for before, line in pairwise(lines)
        if line.startswith("E ") and not before.startswith("E ")
    ]
    return starts[-1] if starts else problem.get("message") or ""
