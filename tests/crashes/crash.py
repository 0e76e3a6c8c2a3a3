"""One run: four writers, a backfill that is killed several times, and what is found at the end."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from django.db import OperationalError, connection, models, transaction

from tests.backfill.command import Command, called, environment
from tests.backfill.support import MILLISECOND, START, insert, rows, saved_run
from tests.servers import Server
from tests.support import ROOT
from tests.testapp.models import Order

Result = TypeVar("Result")

PATIENCE = 300.0
"""Seconds: the machine may be busy with more than one of these."""
WRITERS = 4
MOMENTS = 400
"""At so many times there are rows of each writer, and its number more."""
MOST_KILLS = 4
LONGEST_DELAY = 0.05
"""Seconds between what is waited for and the kill."""
MOST_ROWS, MOST_BATCHES = 150, 5
"""So many are filled before a kill is waited for, and at most so many batches until it comes: rows
are left for every one of them.
"""


@dataclass
class Outcome:
    kills: int = 0
    """Those that met the backfill before its end, or the server."""
    rows: int = 0
    problems: list[str] = field(default_factory=list)


def moment(number: int) -> datetime:
    """Two and more rows of each writer share it, and with some others a millisecond."""
    return START + number // 8 * MILLISECOND


class Writer:
    """A process of ``tests.crashes.writing``, on the database of this one or that of ``url``."""

    def __init__(self, name: str, number: int, seed: str, url: str | None = None) -> None:
        other = {"SORTABLE_IDS_WORKER": str(number), **({"DATABASE_URL": url} if url else {})}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crashes.writing", name, str(number), seed],
            cwd=ROOT,
            env={**os.environ, **environment({}), **other},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def stop(self) -> tuple[list[str], list[str]]:
        """The names of the rows that it has inserted, and of those that it has deleted."""
        text, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, "a writer failed"
        inserted, deleted = json.loads(text)
        return inserted, deleted

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def patiently(action: Callable[[], Result]) -> Result:
    """What the action gives as soon as the server that it needs is there."""
    give_up = time.monotonic() + PATIENCE
    while True:
        connection.close()
        try:
            return action()
        except OperationalError:
            if time.monotonic() >= give_up:
                raise
        time.sleep(0.1)


def empty(model: type[models.Model]) -> None:
    """Whatever else there is: a server that is killed has no tables but those of the runs."""
    found = models.QuerySet(model)
    found._raw_delete(found.db)


@contextmanager
def not_unique(name: str) -> Iterator[None]:
    """As the column is filled where its index comes later, which PostgreSQL does in another way."""
    unique = Order._meta.get_field(name)
    _, _, positional, keywords = unique.deconstruct()
    plain = type(unique)(*positional, **{**keywords, "unique": False})
    plain.set_attributes_from_name(name)
    plain.model = Order
    with connection.schema_editor() as editor:
        editor.alter_field(Order, unique, plain)
    try:
        yield
    finally:
        empty(Order)
        with connection.schema_editor() as editor:
            editor.alter_field(Order, plain, unique)


def crash(
    name: str,
    seed: str,
    most_kills: int = MOST_KILLS,
    server: Server | None = None,
    writers: int = WRITERS,
) -> Outcome:
    """Fill the field ``name`` of orders, of which there are none yet.

    With a server, which has them, it is the server that is killed.
    """
    draw, found = random.Random(seed), Outcome()
    names = insert_rows(draw, writers)
    with ExitStack() as stack:
        writing = [Writer(name, number, f"{seed} {number}") for number in range(writers)]
        for each in writing:
            stack.callback(each.close)
        kills = draw.randint(2, most_kills)
        if server:
            _kill_server(name, draw, server, kills, found)
        else:
            found.kills += sum(_kill(name, draw) for _ in range(kills))
        _end(name, found, "while others write")
        expected = stop(writing, names)
    _end(name, found, "behind the writers")
    check(name, expected, found)
    return found


def insert_rows(draw: random.Random, writers: int) -> list[str]:
    """Those that are there before the writers; their names."""
    names = [f"{writer}+{number}" for writer in range(writers) for number in range(MOMENTS)]
    draw.shuffle(names)
    with transaction.atomic():
        insert(Order, [{"name": each, "created_at": moment(int(each[2:]))} for each in names])
    return names


def stop(writers: Iterable[Writer], names: Iterable[str]) -> Counter[str]:
    """The names of the rows that must be there at the end."""
    expected = Counter(names)
    for each in writers:
        inserted, deleted = each.stop()
        expected += Counter(inserted)
        expected -= Counter(deleted)
    return expected


def arguments(name: str) -> tuple[str, ...]:
    return f"testapp.Order.{name}", "--created-from=created_at"


def _kill(name: str, draw: random.Random) -> bool:
    """Whether it met the backfill."""
    command = _start(name, draw, 1)
    try:
        _wait(draw, command)
        command.process.send_signal(signal.SIGKILL)
        return command.code == -signal.SIGKILL
    finally:
        command.close()


def _kill_server(
    name: str, draw: random.Random, server: Server, kills: int, found: Outcome
) -> None:
    """Under a command that continues by itself."""
    command = _start(name, draw, kills)
    try:
        for _ in range(kills):
            _wait(draw, command)
            found.kills += command.process.poll() is None
            server.kill()
            server.start()
            patiently(connection.ensure_connection)
            command.send_while_stopped()
        output = command.output(PATIENCE)
        if command.code:
            found.problems.append(f"while the server was killed: {output}")
    finally:
        command.close()


def _start(name: str, draw: random.Random, kills: int) -> Command:
    """A backfill that stops itself before each kill, and again where that is late."""
    size, batch, stops_in = draw.randint(3, 25), 0, []
    for _ in range(kills):
        stops_in.append(batch + 1 + draw.randint(0, MOST_ROWS) // size)
        batch = stops_in[-1] + MOST_BATCHES
        stops_in.append(batch)
    options = f"--batch-size={size}", f"--retry-time={PATIENCE:.0f}"
    return Command(*arguments(name), *options, stops_in=stops_in)


def _wait(draw: random.Random, command: Command) -> None:
    """Until it has filled some rows more, and for a moment more."""
    command.send_while_stopped()
    time.sleep(draw.uniform(0, LONGEST_DELAY))


def _end(name: str, found: Outcome, when: str) -> None:
    output, error = called(*arguments(name), "--batch-size=50")
    if error:
        found.problems.append(f"{when}: {output}{error}")


def check(name: str, expected: Counter[str], found: Outcome) -> None:
    there = Counter(rows(name).values_list("name", flat=True))
    found.rows = there.total()
    for what, names in (("lost", expected - there), ("too many", there - expected)):
        if names:
            found.problems.append(f"{what}: {sorted(names)[:5]}")
    ids = list(rows(name).values_list(name, flat=True))
    if None in ids:
        found.problems.append(f"{ids.count(None)} rows have no id")
    if len(set(ids)) < len(ids):
        found.problems.append("ids are there twice")
    if saved_run(name).finished_at is None:
        found.problems.append("the run has not ended")
    # Writers edit times, and insert rows of the past with ids of now.
    output, error = called(*arguments(name), "--verify", "--allow-edited-times=25")
    if error:
        found.problems.append(f"{output}{error}")
