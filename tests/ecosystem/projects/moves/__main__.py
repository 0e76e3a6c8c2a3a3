"""Moves the keys of each project; ends with status 1 if anything differs."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from ..environment import WORK
from . import __doc__ as description
from .checkout import Failed
from .move import Move
from .samples import SAMPLES


def main() -> int:
    options = _options()
    problems = 0
    for name in options.projects:
        sample = SAMPLES[name]
        engine = options.database.partition(":")[0] or "sqlite"
        print(f"\n{name} {sample.project.version} on {engine}")
        move = Move(sample, options.database, options.checkouts)
        try:
            move.run()
        except Failed as error:
            move.problems.append(str(error))
            print(f"  {error}")
        problems += len(move.problems)
    return 1 if problems else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.ecosystem.projects.moves",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("projects", nargs="+", choices=list(SAMPLES))
    parser.add_argument(
        "--database",
        default=os.environ.get("DATABASE_URL", ""),
        help="a URL, whose database is not used; default: DATABASE_URL, or SQLite",
    )
    parser.add_argument(
        "--checkouts",
        type=Path,
        default=WORK / "checkouts",
        help="a folder with clones of the projects",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    sys.exit(main())
