"""The command line, to print it in a message that says how to continue."""

import shlex
from argparse import Action, ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

_PROJECT_OPTIONS = frozenset({"settings", "pythonpath"})
"""Options that every other command of the same project needs, too."""

_DJANGO_OPTIONS = frozenset(
    {"verbosity", "settings", "pythonpath", "traceback", "no_color", "force_color", "skip_checks"}
)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The options of a command, as shell words."""

    words: Mapping[str, Sequence[str]]
    """The options that differ from their defaults, by their keys; more than one word for an option
    that was repeated."""
    labels: tuple[str, ...]
    """What the command is about: usually one field."""

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
        labels = map(shlex.quote, self.labels)
        return _joined(start or " ".join(["backfill_ids", *labels]), chain(*self.words.values()))

    def then(self, start: str, *options: str) -> str:
        """Another command for the same project."""
        project = (words for name, words in self.words.items() if name in _PROJECT_OPTIONS)
        return _joined(start, [*chain(*project), *options])


def command_line(
    parser: ArgumentParser, options: Mapping[str, Any], is_from_shell: bool
) -> CommandLine:
    """The command line for the options that ``handle`` receives."""
    words = {}
    for action in parser._actions:
        value = options.get(action.dest)
        if not action.option_strings or value is None or value == action.default:
            continue
        if action.dest == "skip_checks" and not is_from_shell:
            continue  # call_command sets it by default.
        given = value if isinstance(value, list) else [value]
        words[action.dest] = [_word(action, each) for each in given]
    labels = [options["target"], *(options["others"] or ())]
    return CommandLine(words, tuple(each for each in labels if each is not None))


def _word(action: Action, value: Any) -> str:
    option = max(action.option_strings, key=len)
    if action.nargs == 0:
        return option
    return f"{option}={value:.15g}" if isinstance(value, float) else f"{option}={value}"


def _joined(start: str, words: Iterable[str]) -> str:
    known = {word.partition("=")[0] for word in shlex.split(start)}
    more = [shlex.quote(word) for word in words if word.partition("=")[0] not in known]
    return " ".join(["manage.py", start, *more])
