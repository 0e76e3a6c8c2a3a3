"""The command that was given, to print it for the next time."""

import shlex
from argparse import Action, ArgumentParser
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_WHERE = frozenset({"settings", "pythonpath"})
"""What every other command on the same project needs as well."""

_DJANGOS = frozenset(
    {"verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"}
)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The options that were given, as words of a shell."""

    words: Mapping[str, str]
    """By their keys, those that differ from their defaults."""
    label: str | None

    @property
    def own(self) -> dict[str, str]:
        """The options, such as ``--sleep``, without those of every Django command."""
        return {
            name: word.partition("=")[0]
            for name, word in self.words.items()
            if name not in _DJANGOS
        }

    def again(self, start: str = "") -> str:
        """The same command with all of its options; ``start`` is that of ``Target.command``, which
        has some of them as they were resolved.
        """
        label = [] if self.label is None else [shlex.quote(self.label)]
        return _joined(start or " ".join(["backfill_ids", *label]), self.words.values())

    def then(self, start: str, *options: str) -> str:
        """Another command for the same project."""
        where = [word for name, word in self.words.items() if name in _WHERE]
        return _joined(start, [*where, *options])


def command_line(
    parser: ArgumentParser, options: Mapping[str, Any], is_from_shell: bool
) -> CommandLine:
    """Of the options that ``handle`` got."""
    words = {}
    for action in parser._actions:
        value = options.get(action.dest)
        if not action.option_strings or value is None or value == action.default:
            continue
        if action.dest == "skip_checks" and not is_from_shell:
            continue  # call_command sets it
        words[action.dest] = _word(action, value)
    return CommandLine(words, options["target"])


def _word(action: Action, value: Any) -> str:
    option = max(action.option_strings, key=len)
    if action.nargs == 0:
        return option
    return f"{option}={value:.15g}" if isinstance(value, float) else f"{option}={value}"


def _joined(start: str, words: Iterable[str]) -> str:
    known = {word.partition("=")[0] for word in shlex.split(start)}
    more = [shlex.quote(word) for word in words if word.partition("=")[0] not in known]
    return " ".join(["manage.py", start, *more])
