"""Moves the keys of each project; ends with status 1 if anything differs."""

from __future__ import annotations

import argparse
import sys

from ..environment import options_of
from ..new_failures import show
from ..suite import Suite
from . import __doc__ as description
from .checkout import Failed
from .move import Move
from .samples import SAMPLES, Sample
from .suite import results


def main() -> int:
    options = _options()
    return 1 if sum([_problems(SAMPLES[name], options) for name in options.projects]) else 0


def _problems(sample: Sample, options: argparse.Namespace) -> int:
    """Move the keys, and run the suite; return the number of differences."""
    project = sample.project
    print(f"\n{project.name} {project.version} on {options.database or 'SQLite'}")
    move = Move(sample, options.database, options.checkouts)
    try:
        moved = move.run()
    except Failed as error:
        print(f"  {error}")
        return 1
    if not options.suite:
        return len(move.problems)
    suite = Suite(project, options.database, options.checkouts, options.pytest, options.reuse)
    after = results(moved, options.pytest)
    return len(move.problems) + show(project, "moved keys", suite.results(), after)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.ecosystem.projects.moves",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("projects", nargs="+", choices=list(SAMPLES))
    parser.add_argument("--suite", action="store_true", help="run the tests of the projects")
    return options_of(parser)


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    sys.exit(main())
