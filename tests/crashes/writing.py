"""A process that inserts, updates and deletes orders while its input is open, at most
500 times.

``python -m tests.crashes.writing FIELD NUMBER SEED``. At the end it prints the names of the rows
that it has inserted and of those that it has deleted, as JSON.
"""

import json
import random
import sys
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

import django

django.setup()

from django.db import transaction  # noqa: E402
from django.db.models import F  # noqa: E402

from django_sortable_ids.transactions import retried  # noqa: E402
from tests.backfill.support import field_of, insert  # noqa: E402
from tests.testapp.models import Order  # noqa: E402

from .crash import MOMENTS, moment  # noqa: E402

LONGEST_PAUSE = 0.01
"""Seconds."""
MOST_ACTIONS = 500
"""So that a slow machine has no more to do than a fast one."""

field, number, seed = sys.argv[1:]
draw = random.Random(seed)
inserted: list[str] = []
deleted: list[str] = []
moved: list[str] = []
stopping = Event()


def insert_old(at: datetime) -> tuple[list[str], str]:
    """As old code does, which knows nothing of ids."""
    return write({"created_at": at})


def insert_new(_: datetime) -> tuple[list[str], str]:
    """As new code does, with an id."""
    return write({"created_at": datetime.now(UTC), field: field_of(field).generate()})


def write(values: dict[str, Any]) -> tuple[list[str], str]:
    name = f"{number}-{len(inserted)}"
    insert(Order, [{"name": name, **values}])
    return inserted, name


def move(at: datetime) -> tuple[list[str], str] | None:
    """Once for each row: one that came back to the time of its id would be judged by it, though
    others have got theirs meanwhile.
    """
    name = some_name()
    if name in moved:
        return None
    Order.objects.filter(name=name).update(created_at=at)
    return moved, name


def touch(_: datetime) -> None:
    Order.objects.filter(name=some_name()).update(name=F("name"))


def delete(_: datetime) -> tuple[list[str], str] | None:
    rows = Order.objects.filter(name=(name := some_name()))
    return (deleted, name) if rows._raw_delete(rows.db) else None


def some_name() -> str:
    """Of a row that this process alone may delete."""
    if inserted and draw.random() < 0.3:
        return draw.choice(inserted)
    return f"{number}+{draw.randrange(MOMENTS)}"


def act() -> None:
    action = draw.choices([insert_old, insert_new, move, touch, delete], [6, 3, 4, 4, 3])[0]
    at = moment(draw.randrange(MOMENTS))

    def work() -> tuple[list[str], str] | None:
        with transaction.atomic():
            return action(at)

    if done := retried(work):
        names, name = done
        names.append(name)


def stop_behind_input() -> None:
    sys.stdin.read()
    stopping.set()


Thread(target=stop_behind_input, daemon=True).start()
for _ in range(MOST_ACTIONS):
    act()
    if stopping.wait(draw.uniform(0, LONGEST_PAUSE)):
        break
print(json.dumps([inserted, deleted]))
