"""Runs the suites and compares; ends with status 1 if a new failure belongs to no class."""

from __future__ import annotations

import argparse
import sys

from . import __doc__ as description
from .catalog import FIELDS, PROJECTS
from .environment import options_of
from .new_failures import show
from .suite import Suite


def main() -> int:
    options = _options()
    names = list(PROJECTS) if "all" in options.projects else options.projects
    unclassed = 0
    for name in names:
        suite = Suite(
            PROJECTS[name], options.database, options.checkouts, options.pytest, options.reuse
        )
        for field in options.field:
            unclassed += show(suite.project, field, suite.results(), suite.results(field))
    return 1 if unclassed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.ecosystem.projects",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("projects", nargs="+", choices=[*PROJECTS, "all"])
    parser.add_argument("--field", action="append", choices=FIELDS, help="default: each")
    options = options_of(parser)
    options.field = options.field or list(FIELDS)
    return options


if __name__ == "__main__":
    sys.exit(main())
