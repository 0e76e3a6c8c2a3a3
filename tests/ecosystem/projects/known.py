"""Why a test fails only with sortable keys, for each that does."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Known:
    """A class of failures: those of a project whose test or error matches a pattern."""

    title: str
    project: str
    tests: str = ""
    """A regular expression; all tests without one."""
    error: str = ""
    """A regular expression; all errors without one."""

    def matches(self, project: str, test: str, error: str) -> bool:
        return (
            project == self.project
            and bool(re.search(self.tests, test))
            and bool(re.search(self.error, error))
        )


UNCLASSED = "unclassed"
KNOWN: tuple[Known, ...] = ()


def title_of(project: str, test: str, error: str) -> str:
    """The title of the first class that matches, or ``UNCLASSED``."""
    found = (each.title for each in KNOWN if each.matches(project, test, error))
    return next(found, UNCLASSED)
