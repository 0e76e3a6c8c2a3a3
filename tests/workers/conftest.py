"""Processes, ended after the test."""

from collections.abc import Callable, Iterator

import pytest

from .support import Maker


@pytest.fixture
def maker() -> Iterator[Callable[..., Maker]]:
    """Starts a process that makes ids."""
    made = []

    def start(*arguments: int, **options: object) -> Maker:
        made.append(Maker(*arguments, **options))  # type: ignore[arg-type]
        return made[-1]

    yield start
    for each in made:
        each.kill()
