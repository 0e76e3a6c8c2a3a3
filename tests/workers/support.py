"""Processes that lease worker numbers."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from typing import IO, Any

from django.db import connection

from django_sortable_ids.models import WorkerLease
from django_sortable_ids.schemes import get
from tests.backfill.command import environment
from tests.patience import PATIENCE
from tests.support import ROOT

TERM = 1.0
SKEW = 0.5
"""Seconds."""


class Maker:
    """A running ``making``, with numbers of ``worker_bits``."""

    def __init__(
        self,
        worker_bits: int = 4,
        *,
        term: float = TERM,
        database: dict[str, Any] | None = None,
        stdout: int | IO[Any] = subprocess.PIPE,
        stderr: IO[Any] | None = None,
        **env: str,
    ) -> None:
        leasing = {
            "WORKER": "lease",
            "WORKER_LEASE_SECONDS": term,
            "WORKER_CLOCK_SKEW_SECONDS": SKEW,
        }
        apps = ["django_sortable_ids"]
        given = environment({"SORTABLE_IDS": leasing, "INSTALLED_APPS": apps})
        if connection.vendor == "sqlite":
            # With the transactions that projects have, unless they ask for others.
            database = {"OPTIONS": {"timeout": PATIENCE}} | (database or {})
        if database:
            named = json.loads(given["BACKFILL_DATABASE"])
            given["BACKFILL_DATABASE"] = json.dumps(named | database)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.workers.making", str(worker_bits)],
            cwd=ROOT,
            env={**os.environ, **given, **env},
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=stderr,
            text=True,
        )
        self.scheme: Any = get("snowflake", worker_bits=worker_bits)

    def tell(self, *words: object) -> None:
        assert self.process.stdin
        print(*words, file=self.process.stdin, flush=True)

    def answer(self) -> Any:
        assert self.process.stdout
        return json.loads(self.process.stdout.readline())

    def ask(self, *words: object) -> Any:
        self.tell(*words)
        return self.answer()

    def ids(self, count: int = 5) -> Any:
        """Ids, or the error in their place."""
        return self.ask("ids", count)

    def ids_at_last(self) -> list[int]:
        """Ids, as soon as there are any."""
        give_up = time.monotonic() + PATIENCE
        while isinstance(answer := self.ids(), dict):
            assert time.monotonic() < give_up, answer
            time.sleep(0.05)
        return list(answer)

    def number(self, value: int) -> int:
        """The worker number in an id."""
        _, suffix = self.scheme.parts(value)
        return int(suffix // (self.scheme.layout.suffixes // self.scheme.layout.workers))

    def time_ms(self, value: int) -> int:
        """The Unix time in an id."""
        tick, _ = self.scheme.parts(value)
        return int(tick + self.scheme.epoch_ns // 1_000_000)

    def stop(self) -> None:
        """Stop it where it is; but not while it has SQLite's file locked, for everybody else."""
        while True:
            self.process.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED)
            if connection.vendor != "sqlite" or not _is_locked():
                return
            self.go_on()
            time.sleep(0.01)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Let it end by itself."""
        assert self.process.stdin
        self.process.stdin.close()
        assert self.process.wait(PATIENCE) == 0

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout):
            if stream:
                stream.close()


def _is_locked() -> bool:
    file = sqlite3.connect(connection.settings_dict["NAME"], timeout=0, isolation_level=None)
    try:
        file.execute("BEGIN IMMEDIATE")
        file.execute("ROLLBACK")
    except sqlite3.OperationalError:
        return True
    finally:
        file.close()
    return False


def row(number: int = 0) -> WorkerLease:
    return WorkerLease.objects.get(number=number)


def occupy(*numbers: int) -> None:
    """Let somebody have these numbers for long."""
    expires = (time.time_ns() + 3600 * 10**9) // 10**6
    WorkerLease.objects.bulk_create(
        WorkerLease(number=number, owner="web-9 pid 1", token="theirs", starts=0, expires=expires)
        for number in numbers
    )
