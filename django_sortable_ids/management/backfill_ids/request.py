"""One call of the command: its options and its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from signal import SIGINT
from typing import Any

from ...backfill.sources.fields import database_of, last_run, notes
from ...backfill.sources.find import Given, find
from ...backfill.supervising.control import Stopped
from ...backfill.target import POLICIES, Target
from ...db.locks import limited_lock_timeout
from ...db.refusals import explained
from ...errors import Interrupted
from .command_line import CommandLine
from .output import Output

_SIGNALLED = 128
"""The exit code after a signal is this plus the signal's number, as in a shell."""


@dataclass(frozen=True, slots=True)
class Request:
    options: Mapping[str, Any]
    """The options that ``handle`` received."""
    given: CommandLine
    output: Output
    success: Callable[[str], str]
    """The style of success messages."""

    def target(self) -> Target:
        """The target to fill or to verify; raises ``BackfillError`` if it can't be filled."""
        label = self.options["target"]
        self.output.say(*notes(label))
        return self.with_policies(find(label, self.sources, self.options["database"]))

    def with_policies(self, target: Target) -> Target:
        """The target with the given policies, or else with those of its last run."""
        run, options = last_run(target.label, target.using), self.options
        known = run.options.get(POLICIES, {}) if run else {}
        return replace(
            target,
            on_null=options["on_null"] or known.get("on_null", "error"),
            on_out_of_range=options["on_out_of_range"] or known.get("on_out_of_range", "error"),
            allow_triggers=options["allow_triggers"],
        )

    @contextmanager
    def limited_lock_timeout(self) -> Iterator[None]:
        """Wait for table locks for at most ``--retry-time``."""
        using = self.options["database"] or database_of(self.options["target"])
        with limited_lock_timeout(using, self.options["retry_time"]):
            yield

    @property
    def sources(self) -> Given:
        """The options that say where times come from."""
        return Given(**{each.name: self.options[each.name] for each in fields(Given)})

    @contextmanager
    def stopped(self, what: str, again: str) -> Iterator[None]:
        """Raise ``Interrupted`` if a signal ends the block, ``CommandError`` for database errors.

        Both messages contain ``again``, the command that continues. ``what`` says what was written.
        """
        try:
            with explained(again):
                yield
        except (KeyboardInterrupt, Stopped) as stop:
            number = stop.number if isinstance(stop, Stopped) else SIGINT
            message = f"Stopped; {what}. Continue with: {again}"
            self.output.add(next=again)
            raise Interrupted(message, returncode=_SIGNALLED + number) from None
