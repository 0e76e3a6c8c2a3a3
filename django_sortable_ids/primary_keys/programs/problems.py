"""Which programs don't fit the new keys, found by reading their text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .inserts import column_lists, inserts, is_insert, wrong_writes
from .known import Known
from .program import Program
from .text import Text, is_name, is_string
from .uses import wrong_uses


def problems(programs: Iterable[Program], known: Known) -> Iterator[tuple[str, str]]:
    """The name of each program that doesn't fit, or may not, and the reason."""
    found = list(programs)
    _read_views(found, known)
    for program in found:
        if program.sql is None:
            yield program.name, f"{program.title}: this user may not read it"
        elif reason := _reason(Text(program, known)):
            yield program.name, f"{program.title} {reason}"


def _read_views(programs: list[Program], known: Known) -> None:
    """A view of a column that changes has one, too."""
    views = [each for each in programs if each.kind == "view"]
    while any(known.add_view(each.name, _outputs(Text(each, known))) for each in views):
        pass


def _outputs(text: Text) -> Iterator[str]:
    for name in text.names:
        if text.is_changed(name):
            yield name.column
            following = name.end + 1
            following += text.at(following).keyword == "AS"
            if is_name(text.at(following)):
                yield text.at(following).name.lower()


def _reason(text: Text) -> str | None:
    """The first reason against a program; None if there is none."""
    if not text.concerns_changes:
        return None
    found = list(inserts(text))
    ignored = column_lists(found)
    reasons = [
        *(f"uses {name}, which is dropped" for name in text.names if text.is_dropped(name)),
        *wrong_writes(text, found),
        *_variables(text, ignored),
        *_built(text),
        *wrong_uses(text, ignored),
    ]
    return reasons[0] if reasons else None


def _variables(text: Text, ignored: set[int]) -> Iterator[str]:
    """Keys that a SELECT reads into variables, as far as a statement shows them."""
    start = 0
    for place, token in enumerate(text.tokens):
        if token.keyword in ("SELECT", "RETURNING"):
            start = place
        if token.keyword == "CURSOR":
            read = range(len(text.tokens))
        elif token.keyword == "INTO" and not is_insert(text, place):
            read = range(start, _end_of_list(text, place) if start == place - 1 else place)
        else:
            continue
        for name in text.names:
            if name.start in read and name.start not in ignored and text.is_changed(name):
                yield f"reads {name} into a variable"


def _end_of_list(text: Text, place: int) -> int:
    while text.at(place).text not in ("", ";") and text.at(place).keyword != "FROM":
        place += 1
    return place


def _built(text: Text) -> Iterator[str]:
    """Statements in texts, which can't be read here."""
    strings = " ".join(each.text.lower() for each in text.tokens if is_string(each))
    for place, token in enumerate(text.tokens):
        following = text.at(place + 1).keyword
        is_executed = token.keyword == "EXECUTE" and following not in ("FUNCTION", "PROCEDURE")
        if is_executed or token.keyword == "PREPARE":
            for table in text.known.changed:
                if table in strings or table in text.mentioned:
                    yield f"builds statements from texts that may name {table}"
