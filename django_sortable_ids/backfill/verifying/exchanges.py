"""Rows whose ids are of each other's times.

An id of another time than its row's says nothing by itself: the row's time may have been edited, or
the application made the id. Two rows with ids of each other's time are worth a look: edits seldom
let two rows exchange their ticks.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from ...schemes import ID, InvalidID, OutOfRange, TimeScheme

MOST = 5000
"""So many rows with ids of another time are kept to be compared with each other."""

Moved = list[str]
"""The tick of a row, that of its id, and the key."""


def moved(scheme: TimeScheme, created: datetime, pk: Any, value: ID) -> Moved | None:
    """What is kept of a row; ``created`` is aware. None where it has no tick."""
    try:
        return [str(scheme.tick(created)), str(scheme.parts(value)[0]), str(pk)]
    except (InvalidID, OutOfRange):
        return None


def exchanged(rows: Sequence[Moved]) -> Iterator[tuple[str, str]]:
    """The keys of every two rows that have ids of each other's ticks."""
    waiting: dict[tuple[str, str], list[str]] = defaultdict(list)
    for of_row, of_id, key in rows:
        if others := waiting[of_id, of_row]:
            yield others.pop(), key
        else:
            waiting[of_row, of_id].append(key)
