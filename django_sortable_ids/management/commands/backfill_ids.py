"""``manage.py backfill_ids``: its arguments and output are in ``management.backfill_ids``, the work
is done in ``backfill``."""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from ...backfill.supervising.control import stoppable
from ...db.refusals import explained
from ...errors import Interrupted
from ..backfill_ids import arguments, modes, verifying
from ..backfill_ids.arguments import TARGET_TIME as TARGET_TIME
from ..backfill_ids.command_line import CommandLine, command_line
from ..backfill_ids.modes import FIRST_BATCH as FIRST_BATCH
from ..backfill_ids.output import Output
from ..backfill_ids.redirects import refuse_migrations
from ..backfill_ids.request import Request

_BEFORE = {
    1: "refused before it began: see stderr",
    arguments.WRONG: "wrong arguments: see stderr",
    130: "stopped before it began",
}
"""What the JSON document says of what ends it before ``handle``, by exit codes."""
_BROKEN_PIPE = 141
"""The exit code that shells give to what SIGPIPE ends."""

MODES: dict[str, Callable[[Request], None]] = {
    "report": modes.show_report,
    "status": modes.show_status,
    "plan": modes.show_plan,
    "run": modes.fill,
    "verify": verifying.check,
}


class Command(BaseCommand):
    help = (
        "Gives the rows of an existing table sortable ids, in the order of their creation times. "
        "Without arguments: reports every sortable id of the project."
    )

    _is_from_shell = False
    _has_begun = False
    _given: CommandLine

    def add_arguments(self, parser: ArgumentParser) -> None:
        arguments.add(parser)

    def run_from_argv(self, argv: list[str]) -> None:
        self._is_from_shell = True
        # Before the arguments are read: whatever is wrong with them, the shell has made the file.
        try:
            refuse_migrations(self.stdout)
        except CommandError as error:
            self.stderr.write(f"CommandError: {error}")
            sys.exit(error.returncode)
        with _quiet_pipe(), self._ended_before_it_began(argv):
            super().run_from_argv(argv)

    @contextmanager
    def _ended_before_it_began(self, argv: list[str]) -> Iterator[None]:
        try:
            yield
        except SystemExit as end:
            # Django and argparse have said why, on stderr.
            self._write_end(argv, end.code)
            raise
        except KeyboardInterrupt:
            if self._has_begun:
                raise
            self._write_end(argv, 130)
            self.stderr.write("Stopped; nothing was written.", lambda text: text)
            sys.exit(130)

    def _write_end(self, argv: list[str], code: object) -> None:
        wants_json = any(len(word) > 2 and "--json".startswith(word) for word in argv)
        if not self._has_begun and wants_json and code in _BEFORE:
            self.stdout.write(json.dumps({"exit_code": code, "error": _BEFORE[code]}))

    def execute(self, *args: Any, **options: Any) -> str | None:
        parser = self.create_parser("manage.py", "backfill_ids")
        own = {name: value for name, value in options.items() if name != "as_json"}
        self._given = command_line(parser, own, self._is_from_shell)
        try:
            return super().execute(*args, **options)
        except Interrupted as wish:
            if not self._is_from_shell:
                raise
            # Django would print it as an error.
            self.stderr.write(str(wish), lambda text: text)
            sys.exit(wish.returncode)

    def check(self, *args: Any, **options: Any) -> None:
        """Django's checks come before ``handle``, and ask MySQL for its version."""
        with explained(self._given.again()):
            super().check(*args, **options)

    def handle(self, *, verbosity: int, as_json: bool, **options: Any) -> None:
        self._has_begun = True
        output = Output(self.stdout, self.stderr, verbosity, {} if as_json else None)
        request = Request(options, self._given, output, self.style.SUCCESS)
        with output.document_written():
            mode = arguments.mode_of(options, self._given.own)
            output.add(mode=mode)
            with stoppable(), request.stopped("nothing was written", self._given.again()):
                MODES[mode](request)


@contextmanager
def _quiet_pipe() -> Iterator[None]:
    """End without a traceback where the reader of the output has gone, as ``head`` does."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # What is still in the buffer goes nowhere, when Python flushes it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_BROKEN_PIPE)
