"""The names in a text of SQL, and what stands next to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from django.utils.functional import cached_property

from ...schema.sql_tokens import Token, split
from .known import Known
from .program import Program

_ROWS = {"new", "old"}
_NO_ALIAS = {
    *("ON", "WHERE", "SET", "JOIN", "LEFT", "RIGHT", "INNER", "OUTER", "CROSS", "FULL", "NATURAL"),
    *("STRAIGHT_JOIN", "GROUP", "ORDER", "HAVING", "LIMIT", "USING", "VALUES", "VALUE", "SELECT"),
    *("UNION", "EXCEPT", "INTERSECT", "FOR", "BEGIN", "WHEN", "RETURNING", "DEFAULT", "END"),
    *("THEN", "DO", "LOOP", "FROM", "INTO", "AS", "AND", "OR", "IS", "IN", "NOT", "FORCE", "USE"),
}
_STRINGS = ("'", "$")
_END = Token("", 0, 0, False)


class Name(NamedTuple):
    """A name with the names before its dots: tokens ``start`` to ``end``, inclusive."""

    start: int
    end: int
    parts: tuple[str, ...]
    """In lower case."""

    @property
    def column(self) -> str:
        return self.parts[-1]

    def __str__(self) -> str:
        return ".".join(self.parts[-2:])


class Text:
    """The body of a program."""

    def __init__(self, program: Program, known: Known) -> None:
        self.known = known
        self.tokens = _body(split(program.sql or "", program.pattern), program.kind)
        self._rows_of = [each.lower() for each in program.tables]

    def at(self, place: int) -> Token:
        """The token; one without text before the first and after the last."""
        return self.tokens[place] if 0 <= place < len(self.tokens) else _END

    @cached_property
    def names(self) -> list[Name]:
        return list(self._names())

    def _names(self) -> Iterator[Name]:
        place = 0
        while place < len(self.tokens):
            start = place
            if not is_name(self.at(place)):
                place += 1
                continue
            while self.at(place + 1).text == "." and is_name(self.at(place + 2)):
                place += 2
            parts = tuple(each.name.lower() for each in self.tokens[start : place + 1 : 2])
            yield Name(start, place, parts)
            place += 1

    @cached_property
    def mentioned(self) -> set[str]:
        """The tables."""
        return self._mentioned_in(range(len(self.tokens)))

    def _mentioned_in(self, places: range) -> set[str]:
        found = (part for name in self.names if name.start in places for part in name.parts)
        return {each for each in found if self.known.is_table(each)}

    def _may_have(self, table: str, column: str) -> bool:
        return self.known.changes(table, column) or self.known.has(table, column)

    def query_around(self, start: int, end: int) -> range:
        """The places of the query in parentheses, or of the statement, that contains these."""
        depth = 0
        while start and self.at(start - 1).text != ";":
            depth += (self.at(start).text == ")") - (self.at(start).text == "(")
            if depth < 0 and self.at(start + 1).keyword == "SELECT":
                break
            depth, start = max(depth, 0), start - 1
        # Where a statement starts at the place, its parentheses never end before it does.
        depth = 0 if self.at(start).text == "(" else 1
        end = start
        while self.at(end).text not in ("", ";"):
            depth += (self.at(end).text == "(") - (self.at(end).text == ")")
            end += 1
            if depth == 0:
                break
        return range(start, end)

    @property
    def concerns_changes(self) -> bool:
        """Whether a table that changes fires it, or is mentioned in it."""
        strings = (each.text.lower() for each in self.tokens if is_string(each))
        found = {*self.mentioned, *self._rows_of}
        return any(each in found for each in self.known.changed) or any(
            table in string for string in strings for table in self.known.changed
        )

    @cached_property
    def _aliases(self) -> dict[str, str]:
        found = {}
        for name in self.names:
            if not self.known.is_table(name.column):
                continue
            following = name.end + 1
            following += self.at(following).keyword == "AS"
            alias = self.at(following)
            if is_name(alias) and alias.keyword not in _NO_ALIAS:
                found[alias.name.lower()] = name.column
        return found

    def tables_of(self, name: Name) -> list[str] | None:
        """The tables of which it may be a column; None if nobody knows."""
        if len(name.parts) == 1:
            own = self.query_around(name.start, name.end)
            near = {each for each in self._mentioned_in(own) if self._may_have(each, name.column)}
            return sorted(near or self.mentioned)
        qualifier = name.parts[-2]
        if qualifier in _ROWS and self._rows_of:
            return self._rows_of
        if qualifier in self._aliases:
            return [self._aliases[qualifier]]
        return [qualifier] if self.known.is_table(qualifier) else None

    def is_changed(self, name: Name) -> bool:
        """Whether it may be a column that changes."""
        found = self.tables_of(name)
        if found is None:
            found = [*self.mentioned, *self._rows_of]
        return any(self.known.changes(each, name.column) for each in found)

    def is_dropped(self, name: Name) -> bool:
        """Whether it may be a column that is dropped."""
        found = self.tables_of(name)
        found = [*self.mentioned, *self._rows_of] if found is None else found
        return any(name.column in self.known.dropped.get(each, ()) for each in found)

    def is_surely_changed(self, name: Name) -> bool:
        """Whether it can't be a column that remains as it is."""
        found = self.tables_of(name)
        if found is None or not self.is_changed(name):
            return False
        return not any(
            self.known.has(each, name.column)
            for each in found
            if not self.known.changes(each, name.column)
        )

    def starting(self, place: int) -> Name | None:
        return next((each for each in self.names if each.start == place), None)

    def ending(self, place: int) -> Name | None:
        return next((each for each in self.names if each.end == place), None)


def is_name(token: Token) -> bool:
    """Whether it is a name, or a keyword."""
    if token.is_quoted:
        return not token.text.startswith(_STRINGS)
    return token.text[:1].isalpha() or token.text[:1] in ("_", "@") or token.text[:1] > "\x7f"


def is_string(token: Token) -> bool:
    return token.is_quoted and token.text.startswith(_STRINGS)


def _body(tokens: list[Token], kind: str) -> list[Token]:
    """Without what a CREATE TRIGGER or CREATE VIEW says before it."""
    if not tokens or tokens[0].keyword != "CREATE":
        return tokens
    last = {"trigger": "ON", "view": "AS"}.get(kind)
    place = next((n for n, each in enumerate(tokens) if each.keyword == last), -1)
    # The name of the table follows ON.
    place += kind == "trigger" and place >= 0
    while kind == "trigger" and len(tokens) > place + 1 and tokens[place + 1].text == ".":
        place += 2
    return tokens[place + 1 :]
