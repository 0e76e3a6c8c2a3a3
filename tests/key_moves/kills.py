"""``migrate`` is killed at random instants, or its database server is; then it is run again."""

import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from django.db import connection
from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.backfill.command import ROOT
from tests.ecosystem.projects.moves import compare
from tests.ecosystem.projects.moves.inside.move_catalogue import catalogue
from tests.patience import PATIENCE, wait_until
from tests.servers import Server

from . import new_keys
from .content import content, differences, dump
from .database import AFTER, BEFORE, create, insert
from .rows import MOMENTS, Rows, rows

MORE = 200
"""Customers and orders for which each step takes a moment."""
MOST_KILLS = 3
"""Of one migration before it ends."""
BUSY = "a killed one's statement still runs"
"""What says that it has to be run again."""


def run(count: int, number: int, server: Server | None) -> int:
    """Kill until so many kills have met; 0 if all was right each time, else 1. ``number`` is the
    seed, which is printed."""
    begun, failed, kills, runs = time.monotonic(), 0, 0, 0
    print(f"seed {number}", flush=True)
    killing = Killing(number, server)
    while kills < count:
        problems = list(killing.migrate(random.Random(f"{number} {runs}"), count - kills))
        kills, runs, failed = killing.kills, runs + 1, failed + bool(problems)
        print(f"{runs}. {killing.told}", *problems, sep="\n  ", flush=True)
        if problems:
            killing = Killing(number, server, kills)
    what = f"{connection.display_name}'s server" if server else "migrate"
    seconds = time.monotonic() - begun
    print(f"{kills} kills of {what} in {runs} migrations in {seconds:.0f} s: {failed} failed")
    return 1 if failed else 0


def graph(number: int) -> Rows:
    """Random rows, the same for the same seed."""
    found: list[Rows] = []

    @seed(number)
    @settings(
        max_examples=20,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(rows(8))
    def collect(each: Rows) -> None:
        found.append(each)

    collect()
    largest = max(found, key=lambda each: sum(map(len, each.values())))
    for n in range(MORE):
        key = 10**9 + n
        own = {"pk": key, "mark": key}
        values = {"name": f"more {n}", "text": "", "created_at": MOMENTS[n % 7], "level": 1}
        largest["Customer"].append({**own, **values, "invited_by_id": key - n % 9})
        largest["Order"].append({**own, "number": n, "customer_id": key})
    return largest


class Migrate:
    """A process with ``manage.py migrate``."""

    def __init__(self, to: str) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._connected = Path(self._folder.name, "connected")
        self._output = Path(self._folder.name, "output")
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "django", "migrate", "graph", to],
                cwd=ROOT,
                env={**os.environ, "KEY_MOVES_CONNECTED": str(self._connected)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> "Migrate":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self._folder.cleanup()

    def wait_until_connected(self) -> None:
        def is_connected() -> bool:
            return self._connected.exists() or self._process.poll() is not None

        wait_until(is_connected, "a connection of migrate")

    def wait(self, seconds: float) -> int:
        return self._process.wait(seconds)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def output(self) -> str:
        return self._output.read_text()


class Killing:
    """The rows, and what they are before and after a move that nobody kills."""

    def __init__(self, number: int, server: Server | None, kills: int = 0) -> None:
        self.kills = kills
        self.told = ""
        self._server = server
        self._is_moved = False
        create()
        insert(graph(number))
        self._before, self._tables = dump(), {BEFORE: catalogue()}
        self._seconds = {AFTER: self._complete(AFTER)}
        self._tables[AFTER] = catalogue()
        self._seconds[BEFORE] = self._complete(BEFORE)

    def migrate(self, draw: random.Random, most: int) -> list[str]:
        """Move there, or back, with kills at random instants; what is wrong at the end."""
        to = BEFORE if self._is_moved else AFTER
        wanted, instants = min(most, draw.randint(1, MOST_KILLS)), []
        for _ in range(wanted):
            instants.append(draw.uniform(0, self._seconds[to]))
            self.kills += self._kill(to, instants[-1])
        listed = ", ".join(f"{each:.3f}" for each in instants)
        self.told = f"{'back' if self._is_moved else 'there'}, killed after {listed} s"
        try:
            self._complete(to)
        except AssertionError as error:
            return [str(error)]
        self._is_moved = not self._is_moved
        return list(self._problems(to))

    def _kill(self, to: str, seconds: float) -> bool:
        """Kill that long after the first connection. Whether it met the migration."""
        with Migrate(to) as process:
            process.wait_until_connected()
            with suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
                return False
            if self._server is None:
                process.kill()
                return True
            self._server.kill()
            code = process.wait(PATIENCE)
            self._server.start()
            return code != 0

    def _complete(self, to: str) -> float:
        """Migrate, and return the seconds from the first connection to the end."""
        give_up = time.monotonic() + PATIENCE
        while True:
            with Migrate(to) as process:
                process.wait_until_connected()
                begun = time.monotonic()
                if process.wait(PATIENCE) == 0:
                    return time.monotonic() - begun
                assert BUSY in process.output, process.output
            assert time.monotonic() < give_up, process.output

    def _problems(self, to: str) -> list[str]:
        connection.close()
        found = dump()
        problems = list(compare.catalogues(self._tables[to], catalogue()))
        if to == BEFORE:
            return problems + differences(self._before, found)
        problems += differences(content(self._before), content(found))
        return problems + list(new_keys.problems(self._before, found))
