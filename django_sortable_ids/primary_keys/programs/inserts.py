"""INSERT statements in a text: into which column each value goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from .text import Name, Text

_BEFORE_INTO = {
    *("INSERT", "REPLACE", "IGNORE", "ROLLBACK", "ABORT", "FAIL", "DELAYED", "LOW_PRIORITY"),
    *("HIGH_PRIORITY", "MERGE"),
}
_ENDS_LIST = {"FROM", "UNION", "WHERE", "ON", "RETURNING"}


class Insert(NamedTuple):
    table: Name
    columns: tuple[Name, ...]
    """Empty if the statement lists none."""
    values: int
    """The place where the values start."""


def inserts(text: Text) -> Iterator[Insert]:
    for place in range(len(text.tokens)):
        table = text.starting(place + 1) if is_insert(text, place) else None
        if table is None:
            continue
        start = table.end + 1
        if text.at(start).keyword == "AS":
            start += 2
        columns, start = _listed(text, start)
        if text.at(start).keyword not in ("SET", "DEFAULT"):
            yield Insert(table, tuple(columns), start)


def is_insert(text: Text, place: int) -> bool:
    """Whether an INTO there is that of an INSERT."""
    return text.at(place).keyword == "INTO" and text.at(place - 1).keyword in _BEFORE_INTO


def _listed(text: Text, start: int) -> tuple[list[Name], int]:
    """The columns of a list in parentheses there, and the place after it."""
    columns: list[Name] = []
    if text.at(start).text != "(" or text.at(start + 1).keyword in ("SELECT", "WITH"):
        return columns, start
    while text.at(start).text in ("(", ",") and (name := text.starting(start + 1)) is not None:
        columns.append(name)
        start = name.end + 1
    return columns, start + 1


def column_lists(found: list[Insert]) -> set[int]:
    """The places of names that say where values go."""
    return {each.start for insert in found for each in (insert.table, *insert.columns)}


def wrong_writes(text: Text, found: list[Insert]) -> Iterator[str]:
    """Keys that change and are written into columns that don't, and statements that depend on the
    number of columns."""
    for insert in found:
        table = insert.table.column
        written = list(_written(text, insert))
        is_changed = table in text.known.changed
        if any(text.at(place).text == "*" for _, place in written):
            yield f"inserts all columns of a row into {table}"
        elif not insert.columns and (is_changed or any(_key(text, at) for _, at in written)):
            yield f"inserts into {table} without naming columns"
        else:
            for number, place in written:
                name = _key(text, place)
                if name and not _fits(text, insert, number):
                    yield f"writes {name} into {table}, into a column that keeps its type"


def _fits(text: Text, insert: Insert, number: int) -> bool:
    if number >= len(insert.columns):
        return False
    return text.known.changes(insert.table.column, insert.columns[number].column)


def _key(text: Text, place: int) -> Name | None:
    """The key that starts there, or in a query there, if it changes."""
    while text.at(place).text == "(" or text.at(place).keyword in ("SELECT", "DISTINCT"):
        place += 1
    name = text.starting(place)
    return name if name is not None and text.is_changed(name) else None


def _written(text: Text, insert: Insert) -> Iterator[tuple[int, int]]:
    """Number and place of the start of each value, and of each ``*``."""
    place, number, depth, is_start = insert.values, 0, 0, True
    is_values = text.at(place).keyword in ("VALUES", "VALUE")
    while place < len(text.tokens):
        token = text.at(place)
        if token.text == ";" or (depth == 0 and token.keyword in _ENDS_LIST):
            return
        opens = is_values and depth == 0 and token.text == "("
        depth += (token.text == "(") - (token.text == ")")
        is_inside = depth == int(is_values)
        if opens or (not is_values and token.keyword in ("SELECT", "DISTINCT")):
            number, is_start = 0, True
        elif is_inside and token.text == ",":
            number, is_start = number + 1, True
        elif is_start or (token.text == "*" and text.at(place - 1).text == "."):
            yield number, place
            is_start = False
        place += 1
