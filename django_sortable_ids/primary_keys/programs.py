"""Programs of the database (triggers, views, routines, events, rules) that name a moved table.

A move leaves their texts as they are, and nothing but a person can tell whether these fit the new
keys. So each is refused by name, before anything is written, until ``--allow`` names it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from ..db import tables
from ..errors import BackfillError
from .changes import Change
from .engines.base import Program

_SHOWN = 20
"""The number of names in a message."""


def problems(
    connection: Any, programs: Iterable[Program], change: Change, allowed: Sequence[str]
) -> Iterator[str]:
    """The programs that name a table which the change writes, or that a row of it fires; and the
    options that allow them."""
    written = [*(each.name for each in change.tables), *(each.table for each in change.texts)]
    moved = {tables.split(connection, each)[1].lower() for each in written}
    found = {each: reason for each, reason in _naming(list(programs), moved) if reason}
    refused = {each: reason for each, reason in found.items() if not each.is_allowed(allowed)}
    yield from (f"{each.title} {reason}" for each, reason in refused.items())
    if refused:
        names = list(dict.fromkeys(each.name for each in refused))
        options = " ".join(f"--allow {shlex.quote(each)}" for each in names)
        yield (
            f"Read what is named, which the move doesn't change. What fits the new keys: write the "
            f"migration with {options} (or give the operation allowed={[*allowed, *names]}). "
            f"Anything else: drop it, migrate, and create one that fits"
        )


def _naming(programs: Sequence[Program], moved: set[str]) -> Iterator[tuple[Program, str | None]]:
    """Each program, and what it has to do with moved tables. A view of one counts as one."""
    names = set(moved)
    views = [each for each in programs if each.kind == "view"]
    while more := {each.name for each in views if _named(each.sql, names)} - names:
        names |= more
    for program in programs:
        used = _named(program.sql, names - {program.name} if program.kind == "view" else names)
        if program.table and program.table.lower() in moved:
            yield program, "fires on a table that changes"
        elif program.sql is None:
            yield program, "can't be read by this user"
        else:
            yield program, f"names {', '.join(used)}" if used else None


def _named(sql: str | None, names: set[str]) -> list[str]:
    """The tables that a text contains as whole words, quoted or not, also in its strings."""
    return [each for each in sorted(names) if sql and _is_word_of(each, sql)]


def _is_word_of(name: str, sql: str) -> bool:
    spelled = (name, *(name.replace(quote, quote * 2) for quote in ('"', "`")))
    wanted = "|".join(map(re.escape, spelled))
    return re.search(rf"(?<![\w$])(?:{wanted})(?![\w$])", sql, re.IGNORECASE) is not None


def refuse_unknown(allowed: Iterable[str], programs: Iterable[Program]) -> None:
    """Raise ``BackfillError`` for names and patterns that no program of the database matches."""
    found = list(programs)
    unknown = [each for each in allowed if not any(one.is_allowed([each]) for one in found)]
    if unknown:
        titles = {each.name: each.title for each in found}
        raise BackfillError("\n".join(_unknown(each, titles) for each in unknown))


def _unknown(name: str, titles: dict[str, str]) -> str:
    ordered = dict.fromkeys([*get_close_matches(name, titles, n=_SHOWN), *sorted(titles)])
    shown = [titles[each] for each in ordered][:_SHOWN]
    more = f" and {len(titles) - _SHOWN:,} more" if len(titles) > _SHOWN else ""
    has = f"the database has {', '.join(shown)}{more}" if titles else "the database has none"
    return (
        f"--allow {name}: no trigger, view, routine, event or rule that a move leaves as it is has "
        f"that name; {has}. Correct the name, or omit it"
    )
