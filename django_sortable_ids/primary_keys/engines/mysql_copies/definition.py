"""Reads a SHOW CREATE TABLE of MariaDB and MySQL, and changes the definitions of columns."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import pairwise
from typing import NamedTuple

from ....schema.sql_tokens import MYSQL, Token, split

_INDEXES = {"PRIMARY", "UNIQUE", "KEY", "FULLTEXT", "SPATIAL"}
_OPTIONS = {
    *("NOT", "NULL", "DEFAULT", "AUTO_INCREMENT", "COMMENT", "ON", "CHECK", "VISIBLE", "INVISIBLE"),
    *("GENERATED", "AS", "WITH", "WITHOUT", "COLUMN_FORMAT", "STORAGE"),
}
"""The words that end the type of a column."""


class Element(NamedTuple):
    """A column, an index or a constraint."""

    tokens: list[Token]
    text: str

    @property
    def name(self) -> str:
        """Empty for a primary key."""
        return next((each.name for each in self.tokens if each.text[0] == "`"), "")

    @property
    def is_column(self) -> bool:
        return self.tokens[0].text[0] == "`"

    @property
    def is_index(self) -> bool:
        return self.tokens[0].keyword in _INDEXES

    @property
    def columns(self) -> list[str]:
        """Those of an index, or the column itself, in lower case."""
        depth = 2 if self.is_index else 1
        found = (each for each in self.tokens if each.depth == depth and each.text[0] == "`")
        return [each.name.lower() for each in found]

    def is_of(self, column: str) -> bool:
        """Whether it is the column, or an index of the column alone."""
        return (self.is_column or self.is_index) and self.columns == [column]

    def is_constraint(self, kind: str) -> bool:
        return [each.keyword for each in self.tokens[:3:2]] == ["CONSTRAINT", kind]


class Definition:
    """A SHOW CREATE TABLE in the session of ``session.copying``."""

    def __init__(self, sql: str) -> None:
        tokens = split(sql, MYSQL)
        self._sql = sql
        self.elements = list(_elements(sql, tokens))
        end = next(n for n, each in enumerate(tokens) if _closes(each))
        self._options = tokens[end:]

    @property
    def columns(self) -> dict[str, Element]:
        """By their names in lower case."""
        return {each.name.lower(): each for each in self.elements if each.is_column}

    def constraints(self, kind: str) -> dict[str, str]:
        """The text of each, by name. ``kind`` is FOREIGN or CHECK; checks of MariaDB's columns are
        left out."""
        found = (each for each in self.elements if each.is_constraint(kind))
        return {each.name: each.text for each in found}

    @property
    def next_number(self) -> int:
        """The next value of its AUTO_INCREMENT column; 1 if it has none."""
        return next((int(number.text) for _, number in self._numbers()), 1)

    def options(self, next_number: int) -> str:
        """The options of the table, with this number as ``next_number``."""
        start = self._options[0].end
        text = self._sql[start:]
        for word, number in self._numbers():
            text = text[: word.start - start] + text[number.end - start :]
        return f"AUTO_INCREMENT={next_number} {text}" if next_number > 1 else text

    def _numbers(self) -> Iterator[tuple[Token, Token]]:
        """The first and last token of ``AUTO_INCREMENT=5``."""
        for word, equals, number in zip(
            self._options, self._options[1:], self._options[2:], strict=False
        ):
            if word.keyword == "AUTO_INCREMENT" and equals.text == "=":
                yield word, number

    def has_option(self, *words: str) -> bool:
        """Whether the words follow each other in the options of the table."""
        found = [each.keyword for each in self._options]
        return any(tuple(found[n:])[: len(words)] == words for n in range(len(found)))

    def dependents(self, names: Set[str]) -> Iterator[str]:
        """Each of the columns whose value an expression of the table uses, other than whether it is
        NULL. ``names`` are in lower case."""
        for element in self.elements:
            if element.is_constraint("FOREIGN"):
                continue
            tokens = element.tokens
            # KEY `name` (`column`, (`expression`))
            least = 3 if element.is_index else 2
            for place, token in enumerate(tokens):
                is_used = token.depth >= least and token.text[0] == "`"
                if is_used and token.name.lower() in names and not _tests_null(tokens[place + 1 :]):
                    yield token.name

    def indexes_with(self, name: str) -> Iterator[str]:
        """The indexes of several columns of which one is ``name``, which is in lower case."""
        for element in self.elements:
            if element.is_index and name in element.columns and len(element.columns) > 1:
                yield element.name


def redefined(column: Element, kind: str, *, is_key: bool, default: str = "") -> str:
    """The definition of the column with another type.

    A key gets ``default`` in place of its own, and loses AUTO_INCREMENT. Otherwise all remains.
    """
    name, *rest = column.tokens
    outer = [each for each in rest if each.depth == 1]
    first = next((n for n, each in enumerate(outer) if each.keyword in _OPTIONS), len(outer))
    start = outer[first].start if first < len(outer) else column.tokens[-1].end
    offset = name.start
    options = column.text[start - offset :]
    if is_key:
        for begin, end in reversed(list(_generating(outer[first:], offset + len(column.text)))):
            options = options[: begin - start] + options[end - start :]
    parts = (name.text, kind, options.strip(), default)
    return " ".join(filter(None, parts))


def default_of(column: Element) -> str:
    """The DEFAULT of the column: empty if it has none, or NULL."""
    outer = [each for each in column.tokens if each.depth == 1]
    for word, following in pairwise(outer):
        if word.keyword == "DEFAULT" and following.keyword != "NULL":
            return following.text
    return ""


def is_computed(column: Element) -> bool:
    return any(each.depth == 1 and each.keyword == "AS" for each in column.tokens)


def _generating(options: list[Token], end: int) -> Iterator[tuple[int, int]]:
    """The places of AUTO_INCREMENT and DEFAULT in the options of a column."""
    for place, token in enumerate(options):
        if token.keyword == "AUTO_INCREMENT":
            yield token.start, token.end
        elif token.keyword == "DEFAULT":
            following = (each for each in options[place + 2 :] if each.keyword in _OPTIONS)
            after = next(following, None)
            yield token.start, after.start if after else end


def _tests_null(following: list[Token]) -> bool:
    words = [each.keyword for each in following[:3]]
    return words[:2] == ["IS", "NULL"] or words == ["IS", "NOT", "NULL"]


def _elements(sql: str, tokens: list[Token]) -> Iterator[Element]:
    found: list[Token] = []
    for token in tokens:
        if token.depth == 0:
            continue
        ends = token.depth == 1 and token.keyword in (",", ")")
        if not ends:
            found.append(token)
        elif found:
            yield Element(found, sql[found[0].start : token.start].strip())
            found = []
        if _closes(token):
            return


def _closes(token: Token) -> bool:
    return token.depth == 1 and token.text == ")"
