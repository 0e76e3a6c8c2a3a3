"""``migrate`` is killed at random instants, or its database server is; then it is run again, or the
user first takes another way than to complete the move."""

import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from django.db import OperationalError, connection

from tests.patience import PATIENCE, wait_until
from tests.servers import Server

from . import new_keys
from .catalogue import catalogue, changes
from .content import Dump, content, differences, dump, none
from .database import AFTER, BEFORE, create, insert
from .instants import Instant, Trace
from .process import PHASES, Migrate
from .rows import MOMENTS, Rows, drawn

MORE = 200
"""Customers and orders for which each step takes a moment."""
MOST_KILLS = 3
"""Of one migration before it ends."""
SHOWN = 12
"""Lines of what is wrong."""
BUSY = "a killed one's statement still runs"
"""What says that it has to be run again."""
_COMMAND = re.compile(r"`manage\.py migrate graph (\w+)`")
_LEFT_OVER = re.compile("moving_|sortable_ids_")


def run(count: int, number: int, server: Server | None) -> int:
    """Kill until so many kills have met; 0 if all was right each time, else 1. ``number`` is the
    seed, which is printed."""
    started, failed, runs = time.monotonic(), 0, 0
    met: Counter[str] = Counter()
    print(f"seed {number}", flush=True)
    killing = Killing(number, server, met)
    while met.total() < count:
        draw = random.Random(f"{number} {runs}")
        problems = killing.migrate(draw, count - met.total())
        runs, failed = runs + 1, failed + bool(problems)
        print(f"{runs}. {killing.told}", *problems, sep="\n  ", flush=True)
        if problems:
            killing = Killing(number, server, met)
    print(", ".join(f"{each}: {met[each]}" for each in sorted(met)))
    what = (
        f"{connection.display_name}'s server" if server else f"migrate on {connection.display_name}"
    )
    seconds = time.monotonic() - started
    print(f"{met.total()} kills of {what} in {runs} migrations in {seconds:.0f} s: {failed} failed")
    return 1 if failed else 0


def graph(number: int) -> Rows:
    """Random rows, the same for the same seed."""
    largest = drawn(number, 8)
    for n in range(MORE):
        key = 10**9 + n
        own = {"pk": key, "mark": key}
        values = {"name": f"more {n}", "text": "", "created_at": MOMENTS[n % 7], "level": 1}
        largest["Customer"].append({**own, **values, "invited_by_id": key - n % 9})
        largest["Order"].append({**own, "number": n, "customer_id": key})
    return largest


class Killing:
    """The rows, and what they are before and after a move that nobody kills. ``met`` counts kills
    by the direction and the phase that they met."""

    def __init__(self, number: int, server: Server | None, met: Counter[str]) -> None:
        self.told = ""
        self._met = met
        self._server = server
        self._is_moved = False
        create()
        insert(graph(number))
        self._before, self._tables = dump(), {BEFORE: catalogue()}
        self._content = content(self._before)
        self._traces = {AFTER: self._traced(AFTER)}
        self._tables[AFTER] = catalogue()
        self._traces[BEFORE] = self._traced(BEFORE)

    def migrate(self, draw: random.Random, most: int) -> list[str]:
        """Move there, or back, with kills at random instants; what is wrong afterwards."""
        to = BEFORE if self._is_moved else AFTER
        self.told = "back" if self._is_moved else "there"
        try:
            for _ in range(min(most, draw.randint(1, MOST_KILLS))):
                self._kill(to, self._traces[to].draw(draw))
                if draw.random() < 0.4:
                    self._turn_round(to, tidies=draw.random() < 0.5)
            self._complete(to)
            none(self._problems(to))
        except AssertionError as error:
            lines = str(error).splitlines()  # a traceback tells at its end what was wrong
            return [*lines[:1], *lines[1:][-SHOWN:]]
        self._is_moved = not self._is_moved
        return []

    def _kill(self, to: str, at: Instant) -> None:
        with Migrate(to) as process:
            if not process.reaches(at.phase, at.statement) or process.ends_within(at.seconds):
                self.told += f", ended before {at}"
                return
            if self._server is None:
                process.kill()
            else:
                self._server.kill()
                status = process.wait()
                self._server.start()
                wait_until(_takes_connections, "the server takes connections again")
                if status == 0:
                    self.told += f", ended before {at}"
                    return
            phase = PHASES[process.log.phase]
        self._met[f"{'back' if to == BEFORE else 'there'} {phase}"] += 1
        self.told += f", killed at {at} as it {phase}"

    def _turn_round(self, to: str, *, tidies: bool) -> None:
        """Migrate to the other side instead, and do what the messages tell to do. With ``tidies``,
        also drop the tables that are left over."""
        other = AFTER if to == BEFORE else BEFORE
        self.told += ", the other way"
        status, output = self._run(other)
        if status:
            command = _COMMAND.search(output)
            assert command, f"it does not say what to do: {output}"
            named = command[1]
            assert named.startswith(to), output
            self._complete(named)
            none(self._problems(to))
            self._complete(other)
            none(self._problems(other))
            self.told += f" after `migrate graph {named}`"
        elif tidies:
            prefixes = ["sortable_ids_next__", "sortable_ids_new__"]
            prefixes += ["sortable_ids_deleted__"] * (other == BEFORE)
            names = connection.introspection.table_names()
            left_over = [name for name in names if name.startswith(tuple(prefixes))]
            with connection.cursor() as cursor:
                for name in left_over:
                    cursor.execute(f"DROP TABLE {connection.ops.quote_name(name)}")
            self.told += f", {len(left_over)} leftovers dropped"
            none(self._problems(other))
        else:
            none(self._problems(other, ignores_leftovers=True))

    def _complete(self, to: str) -> None:
        status, output = self._run(to)
        assert status == 0, output

    def _traced(self, to: str) -> Trace:
        with Migrate(to) as process:
            assert process.wait() == 0, process.output
            return Trace(process.log.statements, time.monotonic())

    def _run(self, to: str) -> tuple[int, str]:
        """Migrate, and return the exit status and the output."""
        give_up = time.monotonic() + PATIENCE
        connection.close()
        while True:
            with Migrate(to) as process:
                status, output = process.wait(), process.output
            if status == 0 or BUSY not in output:
                return status, output
            assert time.monotonic() < give_up, output

    def _problems(self, to: str, *, ignores_leftovers: bool = False) -> Iterator[str]:
        connection.close()
        found = dump()
        if ignores_leftovers:
            found = _without_leftovers(found)
        else:
            yield from changes(self._tables[to], catalogue())
        if to == BEFORE:
            yield from differences(self._before, found)
        else:
            yield from differences(self._content, content(found))
            yield from new_keys.problems(self._before, found)
        connection.close()


def _takes_connections() -> bool:
    connection.close()
    try:
        connection.ensure_connection()
    except OperationalError:
        return False
    return True


def _without_leftovers(found: Dump) -> Dump:
    def kept(names: dict[str, Any]) -> dict[str, Any]:
        return {name: each for name, each in names.items() if not _LEFT_OVER.match(name)}

    return {table: list(map(kept, rows)) for table, rows in kept(found).items()}
