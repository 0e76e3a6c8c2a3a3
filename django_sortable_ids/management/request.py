"""One call of the command: its options, its command line and its output."""

from __future__ import annotations

import json
import shlex
from argparse import Action, ArgumentError, ArgumentParser, _AppendAction
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from io import StringIO
from itertools import chain
from signal import SIGINT
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, OutputWrapper

from ..backfill.pace import Stopped
from ..backfill.sources.base import Given
from ..backfill.sources.find import ARGUMENTS, find
from ..backfill.sources.id_column import last_run
from ..backfill.sources.target import POLICIES, Target
from ..backfill.verification import EXAMPLES, MANY
from ..db.errors import explained
from ..errors import Interrupted, WrongArguments
from ..models import OF_FIELDS

_SIGNALLED = 128
"""The exit code after a signal is this plus the signal's number, as in a shell."""

_PROJECT_OPTIONS = frozenset({"settings", "pythonpath"})
"""Options that every other command of the same project needs, too."""

_DJANGO_OPTIONS = frozenset(
    {"verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"}
)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The options of a command as shell words, for messages that say how to continue."""

    words: Mapping[str, Sequence[str]]
    """The options that differ from their defaults, by their keys; more than one word for an option
    that was repeated."""
    labels: Sequence[str]
    """What the command is about: usually one field."""

    @classmethod
    def of(
        cls, parser: ArgumentParser, options: dict[str, Any], is_from_shell: bool
    ) -> CommandLine:
        """The command line for the options that ``execute`` receives.

        ``call_command`` passes on what it is given: in ``options``, values become what argparse
        would have made of them. Raises ``WrongArguments`` for one that no command line can have.
        """
        words = {}
        for action in parser._actions:
            name, value = action.dest, options.get(action.dest)
            if not action.option_strings or value in (None, action.default):
                continue
            items = list(value) if isinstance(value, list | tuple) else [value]
            if action.nargs != 0:
                try:
                    items = [parser._get_values(action, [str(item)]) for item in items]
                except ArgumentError as error:
                    raise WrongArguments(str(error)) from None
                options[name] = items if isinstance(action, _AppendAction) else items[0]
            is_silent = name == "as_json" or (name == "skip_checks" and not is_from_shell)
            # call_command skips checks by default.
            if options[name] != action.default and not is_silent:
                words[name] = [_word(action, item) for item in items]
        return cls(words, [label for label in (options["target"], *options["others"]) if label])

    @property
    def own(self) -> dict[str, str]:
        """The names of the options, such as ``--sleep``, without those of every Django command."""
        return {
            name: words[0].partition("=")[0]
            for name, words in self.words.items()
            if name not in _DJANGO_OPTIONS
        }

    def again(self, start: str = "") -> str:
        """The same command with all of its options. ``start`` may be ``Target.command``, which
        contains some options in their resolved form."""
        start = start or shlex.join(["backfill_ids", *self.labels])
        return _joined(start, chain(*self.words.values()))

    def then(self, start: str, *options: str) -> str:
        project = (words for name, words in self.words.items() if name in _PROJECT_OPTIONS)
        return _joined(start, [*chain(*project), *options])


def _word(action: Action, value: Any) -> str:
    option = max(action.option_strings, key=len)
    if action.nargs == 0:
        return option
    return f"{option}={value:.15g}" if isinstance(value, float) else f"{option}={value}"


def _joined(start: str, words: Iterable[str]) -> str:
    known = {word.partition("=")[0] for word in shlex.split(start)}
    added = [shlex.quote(word) for word in words if word.partition("=")[0] not in known]
    return " ".join(["manage.py", start, *added])


@dataclass(frozen=True, slots=True)
class Request:
    options: Mapping[str, Any]
    """The options that ``handle`` received."""
    line: CommandLine
    output: Output

    def target(self) -> Target:
        """The target to fill or to verify; raises ``BackfillError`` if it can't be filled."""
        options = self.options
        return self.with_policies(find(options["target"], self.given, options["database"]))

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

    @property
    def given(self) -> Given:
        return {name: self.options[name] for name in ARGUMENTS if self.options[name]}

    @contextmanager
    def stopped(self, what: str, again: str) -> Iterator[None]:
        """Raise ``Interrupted`` if a signal ends the block, ``CommandError`` for database errors.

        Both messages contain ``again``, the command that continues. ``what`` says what was written.
        """
        try:
            with explained(again):
                yield
        except ValidationError as error:
            raise CommandError(
                f"{error.messages[0]} A row has this key: correct it. Continue with: {again}"
            ) from None
        except (KeyboardInterrupt, Stopped) as stop:
            signum = stop.number if isinstance(stop, Stopped) else SIGINT
            message = f"Stopped; {what}. Continue with: {again}"
            self.output.add(next=again)
            raise Interrupted(message, returncode=_SIGNALLED + signum) from None


@dataclass(slots=True)
class Output:
    _stdout: OutputWrapper
    _stderr: OutputWrapper
    _verbosity: int
    _document: dict[str, Any] | None
    """What is printed as JSON at the end; None means text."""

    @property
    def is_verbose(self) -> bool:
        return self._verbosity > 1

    @property
    def examples(self) -> int:
        """How many rows of each kind a verification shows."""
        return MANY if self.is_verbose else EXAMPLES

    def say(self, *lines: str) -> None:
        """Write lines without wrapping, because they may contain commands to copy."""
        if self._verbosity and self._document is None:
            for line in lines:
                self._stdout.write(line)

    def add(self, **values: Any) -> None:
        if self._document is not None:
            self._document |= values

    @property
    def progress(self) -> OutputWrapper:
        if not self._verbosity:
            return OutputWrapper(StringIO())
        stderr: Any = self._stderr
        # Around its stream, without the colour of errors.
        return self._stdout if self._document is None else OutputWrapper(stderr._out)

    @contextmanager
    def document_written(self) -> Iterator[None]:
        """Write the document at the end, with the error if there is one."""
        if self._document is None:
            yield
            return

        def as_text(value: Any) -> str:
            return value.isoformat() if isinstance(value, datetime) else str(value)

        end: dict[str, Any] = {"exit_code": 0, "error": None}
        try:
            yield
        except BaseException as error:
            code = error.returncode if isinstance(error, CommandError) else 1
            end = {"exit_code": code, "error": str(error) or type(error).__name__}
            raise
        finally:
            self._stdout.write(json.dumps(self._document | end, indent=2, default=as_text))
            self._stdout.flush()


def of_target(target: Target) -> dict[str, Any]:
    return {
        "field": target.label,
        "database": target.using,
        "scheme": target.field.scheme.name,
        **{name: target.source.options.get(name) for name in OF_FIELDS},
        "on_null": target.on_null,
        "on_out_of_range": target.on_out_of_range,
    }
