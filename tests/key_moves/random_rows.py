"""Moves random rows there, back, and there again."""

from hypothesis import HealthCheck, Phase, given, seed, settings

from . import new_keys
from .catalogue import catalogue, changes
from .content import content, differences, dump, none
from .database import AFTER, BEFORE, create, insert, migrate
from .rows import Rows, rows


def run(examples: int, number: int | None) -> None:
    """Raise ``AssertionError`` for rows that are others afterwards. ``number`` is the seed; None
    draws the same rows each time."""
    healthy = True

    @settings(
        max_examples=examples,
        derandomize=number is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(rows())
    def moves(found: Rows) -> None:
        nonlocal healthy
        if not healthy:
            create()
        healthy = False
        check(found)
        healthy = True

    create()
    (moves if number is None else seed(number)(moves))()


def check(found: Rows) -> None:
    insert(found)
    before, tables = dump(), catalogue()
    known = content(before)
    migrate(AFTER)
    moved = dump()
    none(differences(known, content(moved)))
    none(new_keys.problems(before, moved))
    migrate(BEFORE)
    none(differences(before, dump()))
    none(changes(tables, catalogue()))
    migrate(AFTER)
    again = dump()
    none(differences(known, content(again)))
    none(new_keys.problems(before, again))
    migrate(BEFORE)
