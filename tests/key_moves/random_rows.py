"""Moves random rows there, back, and there again."""

from . import new_keys
from .catalogue import catalogue, changes
from .content import content, differences, dump, none
from .database import AFTER, BEFORE, create, insert, migrate
from .rows import Rows, drawn


def run(count: int, number: int) -> None:
    """Raise ``AssertionError`` for rows that are others afterwards. The seeds start at a number."""
    create()
    for each in range(number, number + count):
        try:
            check(drawn(each))
        except AssertionError as error:
            error.add_note(f"of seed {each}")
            raise


def check(found: Rows) -> None:
    insert(found)
    before, tables = dump(), catalogue()
    known = content(before)
    for _ in range(2):
        migrate(AFTER)
        moved = dump()
        none(differences(known, content(moved)))
        none(new_keys.problems(before, moved))
        migrate(BEFORE)
        none(differences(before, dump()))
        none(changes(tables, catalogue()))
