"""Runs a suite with pytest, and reads how each test ended."""

from __future__ import annotations

import json
import os
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tests.settings import database

from .catalog import Project

FIELDS = "django_sortable_ids.fields"


@dataclass(frozen=True)
class Results:
    passed: frozenset[str]
    failed: dict[str, str]
    """The error, in one line, by the test."""


def run(
    project: Project,
    python: Path,
    folder: Path,
    *,
    field: str | None,
    database_url: str,
    arguments: list[str],
) -> Results:
    """The suite with that field as the key of its models, or as it is.

    The log and the report of pytest stay in the folder, named after the field and the database.
    """
    engine = database_url.partition(":")[0] or "sqlite"
    report = folder / f"{field or 'as-it-is'}-{engine}.xml"
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "DJANGO_SETTINGS_MODULE": "key_settings",
        "OWN_SETTINGS": project.settings,
        "DATABASE": json.dumps(database(database_url)) if database_url else "",
        "KEYS": json.dumps(_keys(project, field)) if field else "",
        **project.environment,
    }
    command = [python, "-m", "pytest", "-q", "--ds=key_settings", f"--junitxml={report}"]
    command += ["-p", "no:cacheprovider", *project.pytest, *arguments]
    if field:
        command += ["--nomigrations", "-p", "key_fixtures"]
    with report.with_suffix(".log").open("w") as log:
        subprocess.run(
            [*map(str, command), "tests"],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    return _read(report)


def _keys(project: Project, field: str) -> dict[str, object]:
    path = f"{FIELDS}.{field}"
    overrides = {
        name: path if value == "FIELD" else value for name, value in project.overrides.items()
    }
    return {"field": path, "app_configs": project.app_configs, "overrides": overrides}


def _read(report: Path) -> Results:
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
