"""``backfill_ids`` as users start it: a process, its output, and signals."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import IO, Any

from django.core.management import CommandError, call_command
from django.db import connections

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]


class Command:
    """A running ``backfill_ids``."""

    def __init__(
        self,
        *arguments: str,
        stdout: int | IO[Any] = subprocess.PIPE,
        stderr: int = subprocess.STDOUT,
        settings: dict[str, Any] | None = None,
        env: dict[str, str] | None = None,
        database: dict[str, str] | None = None,
    ) -> None:
        given = environment(settings or {})
        if database:
            given["BACKFILL_DATABASE"] = json.dumps(database)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "django", "backfill_ids", *arguments],
            cwd=ROOT,
            env={**os.environ, **given, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            text=True,
            # A shell's background job, which the suite may be part of, hands on that it ignores it.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def output(self, patience: float = PATIENCE) -> str:
        """Everything that it wrote, when it has ended."""
        text, _ = self.process.communicate(timeout=patience)
        return text

    @property
    def code(self) -> int:
        return self.process.wait(timeout=PATIENCE)

    def send_when(self, number: int, condition: Callable[[], bool]) -> None:
        """Send the signal as soon as the condition holds."""
        give_up = time.monotonic() + PATIENCE
        while not condition():
            assert self.process.poll() is None, f"it ended too soon:\n{self.output()}"
            assert time.monotonic() < give_up, "it did nothing for too long"
            time.sleep(0.002)
        self.process.send_signal(number)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def called(*arguments: str, **options: Any) -> tuple[str, CommandError | None]:
    """What the command prints in this process, and the error that it ends with."""
    out = StringIO()
    try:
        call_command("backfill_ids", *arguments, stdout=out, **options)
    except CommandError as error:
        return out.getvalue(), error
    return out.getvalue(), None


def printed(*arguments: str, **options: Any) -> str:
    """What the command prints in this process, which it does without an error."""
    text, error = called(*arguments, **options)
    assert error is None
    return text


def environment(settings: dict[str, Any]) -> dict[str, str]:
    database = connections["default"].settings_dict
    return {
        "DJANGO_SETTINGS_MODULE": "tests.backfill.project",
        "PYTHONPATH": str(ROOT),
        "BACKFILL_DATABASE": json.dumps({"NAME": str(database["NAME"])}),
        "BACKFILL_SETTINGS": json.dumps(settings),
    }
