"""A process that inserts, updates and deletes orders while its input is open, at most
500 times.

``python -m tests.crashes.writing FIELD NUMBER SEED``. At the end it prints the names of the rows
that it has inserted and of those that it has deleted, as JSON.
"""

import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Event, Thread
from typing import Any

import django

django.setup()

from django.db import InterfaceError, OperationalError, transaction  # noqa: E402
from django.db.models import F, QuerySet  # noqa: E402

from django_sortable_ids.db.transactions import is_lost, retried  # noqa: E402
from tests.backfill.support import field_of, insert  # noqa: E402
from tests.testapp.models import Order  # noqa: E402

from .crash import MOMENTS, moment, patiently  # noqa: E402

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


@dataclass(frozen=True, slots=True)
class Change:
    done: list[str]
    """Where the name of its row belongs when it is committed."""
    name: str
    apply: Callable[[QuerySet[Order]], object]
    """Does it to the row."""
    is_there: Callable[[QuerySet[Order]], bool]
    """Whether it is committed, where the answer was lost."""


def insert_old(at: datetime) -> Change:
    """As old code does, which knows nothing of ids."""
    return inserting({"created_at": at})


def insert_new(_: datetime) -> Change:
    """As new code does, with an id."""
    return inserting({"created_at": datetime.now(UTC), field: field_of(field).generate()})


def inserting(values: dict[str, Any]) -> Change:
    name = f"{number}-{len(inserted)}"
    row = {"name": name, **values}
    return Change(inserted, name, lambda _: insert(Order, [row]), lambda found: found.exists())


def move(at: datetime) -> Change | None:
    """Once for each row: one that came back to the time of its id would be judged by it, though
    others got theirs concurrently.
    """
    name = some_name()
    if name in moved:
        return None
    return Change(moved, name, lambda row: row.update(created_at=at), lambda _: True)


def touch(_: datetime) -> Change:
    return Change([], some_name(), lambda row: row.update(name=F("name")), lambda _: True)


def delete(_: datetime) -> Change | None:
    name = some_name()
    if name in deleted:
        return None
    return Change(deleted, name, lambda row: row._raw_delete(row.db), lambda row: not row.exists())


def some_name() -> str:
    """Of a row that this process alone may delete."""
    if inserted and draw.random() < 0.3:
        return draw.choice(inserted)
    return f"{number}+{draw.randrange(MOMENTS)}"


def act() -> None:
    action = draw.choices([insert_old, insert_new, move, touch, delete], [6, 3, 4, 4, 3])[0]
    change = action(moment(draw.randrange(MOMENTS)))
    if change and is_committed(change):
        change.done.append(change.name)


def is_committed(change: Change) -> bool:
    row = Order.objects.filter(name=change.name)

    def work() -> None:
        with transaction.atomic():
            change.apply(row)

    try:
        retried(work)
    except (OperationalError, InterfaceError) as error:
        if not is_lost(error, "default"):
            raise
        return patiently(lambda: change.is_there(row.all()))
    return True


def stop_behind_input() -> None:
    sys.stdin.read()
    stopping.set()


Thread(target=stop_behind_input, daemon=True).start()
for _ in range(MOST_ACTIONS):
    act()
    if stopping.wait(draw.uniform(0, LONGEST_PAUSE)):
        break
print(json.dumps([inserted, deleted]))
