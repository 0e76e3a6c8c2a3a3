"""One run: four writers, a backfill that is killed several times, and what is found at the end."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime

from tests.backfill.command import PATIENCE, ROOT, Command, environment
from tests.backfill.support import MILLISECOND, START, insert, rows, saved_run
from tests.testapp.models import Order

WRITERS = 4
MOMENTS = 400
"""At so many times there are rows of each writer, and its number more."""
MOST_KILLS = 4
LONGEST_DELAY = 0.05
"""Seconds between what is waited for and the kill."""


@dataclass
class Outcome:
    kills: int = 0
    """Those that met the backfill before its end."""
    rows: int = 0
    problems: list[str] = field(default_factory=list)


def moment(number: int) -> datetime:
    """Two and more rows of each writer share it, and with some others a millisecond."""
    return START + number // 8 * MILLISECOND


class Writer:
    def __init__(self, name: str, number: int, seed: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crashes.writing", name, str(number), seed],
            cwd=ROOT,
            env={**os.environ, **environment({})},
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


def crash(name: str, seed: str) -> Outcome:
    """Fill the field ``name`` of orders, of which there are none yet."""
    draw, found = random.Random(seed), Outcome()
    names = [f"{writer}+{number}" for writer in range(WRITERS) for number in range(MOMENTS)]
    draw.shuffle(names)
    insert(Order, [{"name": each, "created_at": moment(int(each[2:]))} for each in names])
    with ExitStack() as stack:
        writers = [Writer(name, number, f"{seed} {number}") for number in range(WRITERS)]
        for each in writers:
            stack.callback(each.close)
        for _ in range(draw.randint(2, MOST_KILLS)):
            found.kills += _kill(name, draw)
        _end(name, found, "while others write")
        expected = Counter(names)
        for each in writers:
            inserted, deleted = each.stop()
            expected += Counter(inserted)
            expected -= Counter(deleted)
    _end(name, found, "behind the writers")
    _check(name, expected, found)
    return found


def arguments(name: str) -> tuple[str, ...]:
    return f"testapp.Order.{name}", "--created-from=created_at"


def _kill(name: str, draw: random.Random) -> bool:
    """Whether it met the backfill."""
    missing = rows(name).filter(**{name: None})
    goal, delay = draw.randint(0, 250), draw.uniform(0, LONGEST_DELAY)
    start = missing.count()
    command = Command(*arguments(name), f"--batch-size={draw.randint(3, 25)}")
    try:
        give_up = time.monotonic() + PATIENCE
        while command.process.poll() is None and missing.count() > start - goal:
            assert time.monotonic() < give_up
            time.sleep(0.005)
        time.sleep(delay)
        command.process.send_signal(signal.SIGKILL)
        return command.code == -signal.SIGKILL
    finally:
        command.close()


def _end(name: str, found: Outcome, when: str) -> None:
    command = Command(*arguments(name), "--batch-size=50")
    output = command.output()
    if command.code:
        found.problems.append(f"{when}: {output}")


def _check(name: str, expected: Counter[str], found: Outcome) -> None:
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
    verified = Command(*arguments(name), "--verify")
    output = verified.output()
    if verified.code:
        found.problems.append(output)
