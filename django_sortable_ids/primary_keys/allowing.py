"""Names of programs that fit the new keys, as ``--allow`` gives them."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from ..errors import BackfillError
from .programs import Program

_SHOWN = 20
"""The number of names in a message."""


def check(allowed: Iterable[str], programs: Iterable[Program]) -> None:
    """Raise ``BackfillError`` for names that no program of the database has."""
    names = {each.name: each.title for each in programs}
    unknown = [each for each in allowed if each not in names]
    if unknown:
        raise BackfillError("\n".join(_message(each, names) for each in unknown))


def _message(unknown: str, names: dict[str, str]) -> str:
    similar = get_close_matches(unknown, names, n=_SHOWN)
    ordered = dict.fromkeys([*similar, *sorted(names)])
    shown = [names[each] for each in ordered][:_SHOWN]
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    found = f"it has {', '.join(shown)}{more}" if names else "it has none"
    return (
        f"--allow {unknown}: the database has no trigger, view or routine of that name that is "
        f"read for uses of keys; {found}. Correct the name, or omit it"
    )
