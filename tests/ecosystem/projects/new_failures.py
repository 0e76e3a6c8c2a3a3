"""Prints the tests that fail only with sortable keys, by class."""

from __future__ import annotations

import sys
from collections import defaultdict

from .catalog import Project
from .known import UNCLASSED, title_of
from .suite import Results


def show(project: Project, keys: str, before: Results, after: Results) -> int:
    """Print the new failures; return how many have no class. ``keys`` names what the keys are in
    ``after``.
    """
    new = after.new_failures(before)
    classes: dict[str, list[str]] = defaultdict(list)
    for test, error in sorted(new.items()):
        classes[title_of(project.name, test, error)].append(test)
    print(
        f"\n{project.name} {project.version} with {keys}: {len(after.passed)} passed, "
        f"{len(new)} of {len(before.passed)} that pass as it is fail"
    )
    for title, tests in sorted(classes.items(), key=lambda each: -len(each[1])):
        print(f"  {len(tests):4} {title}")
        for test in tests:
            print(f"         {test}: {new[test]}")
    sys.stdout.flush()
    return len(classes[UNCLASSED])
