"""Runs the suites and compares; ends with status 1 if a new failure belongs to no class."""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from pathlib import Path

from . import __doc__ as description
from .catalog import FIELDS, PROJECTS, Project
from .environment import WORK, python_of, tests_of
from .known import UNCLASSED, title_of
from .suite import Results, run


def main() -> int:
    options = _options()
    names = list(PROJECTS) if "all" in options.projects else options.projects
    unclassed = 0
    for name in names:
        project = PROJECTS[name]
        python, folder = python_of(project), tests_of(project, options.checkouts)
        results = {
            field: run(
                project,
                python,
                folder,
                field=field,
                database_url=options.database,
                arguments=options.pytest,
            )
            for field in (None, *options.field)
        }
        for field in options.field:
            unclassed += _compare(project, field, results[None], results[field])
    return 1 if unclassed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.ecosystem.projects",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("projects", nargs="+", choices=[*PROJECTS, "all"])
    parser.add_argument("--field", action="append", choices=FIELDS, help="default: each")
    parser.add_argument(
        "--database",
        default=os.environ.get("DATABASE_URL", ""),
        help="a URL; default: DATABASE_URL, or SQLite",
    )
    parser.add_argument(
        "--checkouts",
        type=Path,
        default=WORK / "checkouts",
        help="a folder with clones of the projects whose releases have no tests",
    )
    parser.add_argument("--pytest", action="append", default=[], help="an argument of pytest")
    options = parser.parse_args()
    options.field = options.field or FIELDS
    return options


def _compare(project: Project, field: str, before: Results, after: Results) -> int:
    """Print the new failures by class; return how many have none."""
    new = {test: after.failed.get(test, "did not run") for test in before.passed - after.passed}
    classes: dict[str, list[str]] = defaultdict(list)
    for test in sorted(new):
        classes[title_of(project.name, test, new[test])].append(test)
    print(
        f"\n{project.name} {project.version} with {field}: {len(after.passed)} passed, "
        f"{len(new)} of {len(before.passed)} that pass as it is fail"
    )
    for title, tests in sorted(classes.items(), key=lambda each: -len(each[1])):
        print(f"  {len(tests):4} {title}")
        for test in tests:
            print(f"         {test}: {new[test]}")
    sys.stdout.flush()
    return len(classes[UNCLASSED])


if __name__ == "__main__":
    sys.exit(main())
