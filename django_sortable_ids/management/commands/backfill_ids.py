"""``manage.py backfill_ids``, a story in three steps:

1. ``arguments`` parses the options and says which mode they ask for.
2. A ``Request`` joins the options, the command line, which messages repeat, and the output.
3. The mode does the work by ``reporting``, ``backfill``, ``migrating`` and ``primary_keys``.
"""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.core.management.base import BaseCommand

from ...backfill.pace import signals
from ...backfill.sources.id_column import database_of
from ...db.errors import explained
from ...db.transactions import session_limits
from ...errors import Interrupted
from ...primary_keys import edits
from .. import arguments, modes
from ..request import CommandLine, Output, Request

MODES: dict[str, Callable[[Request], object]] = {
    "report": modes.show_report,
    "status": modes.show_status,
    "plan": lambda request: modes.planned_for(request, request.target()),
    "run": modes.fill,
    "verify": modes.verify_ids,
    "move": modes.move,
}


class Command(BaseCommand):
    help = (
        "Gives the rows of an existing table sortable ids, in the order of their creation\n"
        "times. Without arguments: reports every sortable id of the project."
    )

    _is_from_shell = False
    _line: CommandLine
    _parser: ArgumentParser

    def add_arguments(self, parser: ArgumentParser) -> None:
        arguments.add(parser)
        self._parser = parser

    def execute(self, *args: Any, **options: Any) -> str | None:
        self._line = CommandLine.of(self._parser, options, self._is_from_shell)
        try:
            return super().execute(*args, **options)
        except Interrupted as stop:
            if not self._is_from_shell:
                raise
            # Django would print it as an error.
            self.stderr.write(str(stop), lambda text: text)
            sys.exit(stop.returncode)

    def check(self, *args: Any, **options: Any) -> None:
        """Explain database errors here, too: Django's checks query MySQL for its version."""
        with explained(self._line.again()):
            super().check(*args, **options)

    def handle(self, *, verbosity: int, as_json: bool, **options: Any) -> None:
        output = Output(self.stdout, self.stderr, verbosity, {} if as_json else None)
        request = Request(options, self._line, output)
        with output.document_written():
            mode = arguments.mode_of(options, self._line.own)
            output.add(mode=mode)
            with signals(), request.stopped("nothing was written", self._line.again()):
                if mode in ("report", "status"):
                    MODES[mode](request)
                    return
                using = options["database"]
                if not using and mode == "move":
                    using = edits.database_of(self._line.labels)
                with session_limits(using or database_of(options["target"]), options["retry_time"]):
                    MODES[mode](request)

    def run_from_argv(self, argv: list[str]) -> None:
        self._is_from_shell = True
        try:
            super().run_from_argv(argv)
            self.stdout.flush()
        except BrokenPipeError:
            # `head` closes it, and Python flushes stdout once more when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(arguments.CLOSED)
