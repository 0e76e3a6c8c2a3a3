"""``backfill_ids`` as users start it: a process, its output, and signals."""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from io import StringIO
from typing import IO, Any

from django.core.management import CommandError, call_command
from django.db import connections

from tests import support
from tests.patience import PATIENCE, wait_until
from tests.support import ROOT


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
        stops_in: Sequence[int] = (),
    ) -> None:
        """``stops_in``: the numbers of batches in which it stops itself, as by SIGSTOP, until it is
        told to continue. Their ids are written then, and not committed.
        """
        given = environment(settings or {})
        if database:
            given["BACKFILL_DATABASE"] = json.dumps(database)
        given["BACKFILL_STOPS_IN"] = json.dumps(stops_in)
        self._read = b""
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
        return self._read.decode() + (text or "")

    @property
    def code(self) -> int:
        return self.process.wait(timeout=PATIENCE)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Which must be before it ends."""

        def is_met() -> bool:
            if condition():
                return True
            assert self.process.poll() is None, f"it ended too soon:\n{self.output()}"
            return False

        wait_until(is_met, "what the command is to do")

    def wait_for(self, text: str) -> None:
        """Until it has written that."""
        pipe = self.process.stdout
        assert pipe is not None
        while text.encode() not in self._read:
            assert select.select([pipe], [], [], PATIENCE)[0], "it wrote nothing for too long"
            # Not through the pipe's own buffer, which communicate() passes by.
            more = os.read(pipe.fileno(), 65536)
            assert more, f"it ended too soon:\n{self._read.decode()}"
            self._read += more

    def wait_until_stopped(self) -> None:
        """By itself or by SIGSTOP."""
        ways = os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT

        def is_stopped() -> bool:
            found = os.waitid(os.P_PID, self.process.pid, ways)
            return found is not None and found.si_code == os.CLD_STOPPED

        self.wait_until(is_stopped)

    def send_while_stopped(self, *numbers: int) -> None:
        """Send the signals when it has stopped itself, and let it continue."""
        self.wait_until_stopped()
        for number in (*numbers, signal.SIGCONT):
            os.kill(self.process.pid, number)

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


printed = partial(support.printed, "backfill_ids")
"""What the command prints in this process, which it does without an error."""


def environment(settings: dict[str, Any]) -> dict[str, str]:
    database = connections["default"].settings_dict
    return {
        "DJANGO_SETTINGS_MODULE": "tests.backfill.project",
        "PYTHONPATH": str(ROOT),
        "BACKFILL_DATABASE": json.dumps({"NAME": str(database["NAME"])}),
        "BACKFILL_SETTINGS": json.dumps(settings),
    }
