"""What the command was asked to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from signal import SIGINT
from typing import Any

from ...backfill.sources.fields import database_of, notes
from ...backfill.sources.find import Given, find
from ...backfill.supervising.control import Stopped
from ...backfill.target import Target
from ...db.locks import limited_lock_timeout
from ...db.refusals import explained
from ...errors import Interrupted
from .command_line import CommandLine
from .output import Output

_SIGNALLED = 128
"""What a shell adds to the number of a signal."""


@dataclass(frozen=True, slots=True)
class Request:
    options: Mapping[str, Any]
    """As ``handle`` got them."""
    given: CommandLine
    output: Output
    success: Callable[[str], str]
    """The style of good news."""

    def target(self) -> Target:
        """What is to be filled or verified; ``BackfillError`` for what can't be filled."""
        options = self.options
        label = options["target"]
        self.output.say(*notes(label))
        found = find(label, self.sources, options["database"])
        return replace(
            found,
            on_null=options["on_null"],
            on_out_of_range=options["on_out_of_range"],
            allow_triggers=options["allow_triggers"],
        )

    @contextmanager
    def limited_lock_timeout(self) -> Iterator[None]:
        """Let no lock of others stop the reading for longer than ``--retry-time``."""
        using = self.options["database"] or database_of(self.options["target"])
        with limited_lock_timeout(using, self.options["retry_time"]):
            yield

    @property
    def sources(self) -> Given:
        """Where times come from, as the options say it."""
        return Given(**{each.name: self.options[each.name] for each in fields(Given)})

    @contextmanager
    def stopped(self, what: str, again: str) -> Iterator[None]:
        """Raise ``Interrupted`` where a signal ends the block, and ``CommandError`` for what the
        database refuses, both with the command that continues.
        """
        try:
            with explained(again):
                yield
        except (KeyboardInterrupt, Stopped) as wish:
            number = wish.number if isinstance(wish, Stopped) else SIGINT
            message = f"Stopped; {what}. Continue with: {again}"
            self.output.add(next=again)
            raise Interrupted(message, returncode=_SIGNALLED + number) from None
