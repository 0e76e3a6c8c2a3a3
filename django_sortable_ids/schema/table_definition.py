"""The CREATE TABLE of a table, as SQLite stores it or MariaDB and MySQL show it: its tokens, and
edits of one column.

Nothing else in the text changes, not even a comment or a space. On SQLite, people and other tools
wrote it, so it may contain anything that SQLite's grammar accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..db import value
from ..db.tables import folded_in_sqlite as folded

_WORDS = r"""
    |(?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*)
    |(?P<other>[0-9.][A-Za-z0-9_.]*|.)
"""
# Texts, not compiled: that takes milliseconds at the start of every process, and few need them.
SQLITE = (
    r"""(?xs)
    (?P<space>[ \t\n\f\r]+|--[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*')
    """
    + _WORDS
)
MYSQL = (
    r"""(?xs)
    (?P<space>[ \t\n\f\r]+|/\*.*?\*/)
    |(?P<quoted>`(?:[^`]|``)*`|'(?:[^'\\]|''|\\.)*')
    """
    + _WORDS
)
"""Tokens of SHOW CREATE TABLE without the modes ANSI_QUOTES and NO_BACKSLASH_ESCAPES."""

_TABLE_CONSTRAINTS = {"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"}
"""The first words of table constraints, which follow the columns."""


class NotUnderstood(Exception):
    """The definition can't be parsed or changed as requested; the text says why."""


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    start: int
    depth: int
    """The number of parentheses around it."""
    keyword: str
    """The word in capitals; empty if it is quoted."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def name(self) -> str:
        if self.keyword:
            return self.text
        quote = self.text[-1]
        inner = self.text[1:-1]
        return inner if quote == "]" else inner.replace(quote * 2, quote)


def columns(sql: str, pattern: str) -> Iterator[list[Token]]:
    """The tokens of each column of a CREATE TABLE, column by column."""
    for element, _ in elements(sql, pattern):
        if element[0].keyword in _TABLE_CONSTRAINTS:
            return
        yield element


def elements(sql: str, pattern: str) -> Iterator[tuple[list[Token], Token]]:
    """The tokens of each column, index and constraint of a CREATE TABLE, and the comma or the
    parenthesis that ends it."""
    tokens = split(sql, pattern)
    if [token.keyword for token in tokens[:2]] != ["CREATE", "TABLE"]:
        raise NotUnderstood("it is no CREATE TABLE")
    element: list[Token] = []
    for token in tokens:
        if token.depth == 1 and token.keyword in (",", ")"):
            if element:
                yield element, token
            element = []
            if token.keyword == ")":
                return
        elif token.depth:
            element.append(token)


def split(sql: str, pattern: str) -> list[Token]:
    """All tokens without spaces and comments. Parentheses have the depth of what they enclose, but
    an outermost "(" has depth 0."""
    tokens = []
    depth = 0
    for match in re.finditer(pattern, sql):
        if match.lastgroup == "space":
            continue
        text = match[0]
        depth += text == "("
        is_outer = depth == 1 and text == "("
        keyword = "" if match.lastgroup == "quoted" else text.upper()
        tokens.append(Token(text, match.start(), 0 if is_outer else depth, keyword))
        depth -= text == ")"
    return tokens


def dependents(tokens: Iterable[Token], keys: Mapping[str, object]) -> list[str]:
    """The columns whose values expressions use, other than whether they are NULL, or equal to
    another one with the same key. ``keys`` are those of the columns in question, by their names in
    lower case. After a comma, each counts: it may be the last argument of a function."""
    words = [
        f"\0{token.name.lower()}\0"
        if token.text[0] != "'" and token.name.lower() in keys
        else token.keyword or "?"
        for token in tokens
        if token.text not in ("(", ")")
    ]
    text = re.sub("(?<!, )\0[^\0]+\0 (IS (NOT )?NULL|ISNULL|NOTNULL)", "", " ".join(words))

    def without_keys(match: re.Match[str]) -> str:
        return match[1] if keys[match[2]] is keys[match[3]] else match[0]

    return re.findall("\0([^\0]+)\0", re.sub(_EQUAL, without_keys, text))


_EQUAL = "(^|(?:NOT|AND|OR|CHECK|WHERE) )\0([^\0]+)\0 (?:=|< >|! =) \0([^\0]+)\0(?=$| AND| OR| ,)"


def with_null(sql: str, column: str, null: bool) -> str:
    """The definition of the table with the column as NULL or NOT NULL."""
    tokens = tokens_of(columns(sql, SQLITE), column)
    words = [token.keyword if token.depth == 1 else "" for token in tokens]
    for place in range(1, len(words)):
        before = words[place - 1]
        if words[place] != "NULL" or before in ("DEFAULT", "SET"):
            continue
        start = tokens[place].start
        if before == "NOT" and null:
            return with_null(sql[: tokens[place - 1].start] + sql[start:], column, null)
        if before == "NOT":
            return sql
        if not null:
            return f"{sql[:start]}NOT {sql[start:]}"
    end = tokens[-1].end
    return sql if null else f"{sql[:end]} NOT NULL{sql[end:]}"


def tokens_of(defined: Iterable[list[Token]], column: str) -> list[Token]:
    """The tokens of one of the ``columns``, on SQLite."""
    for tokens in defined:
        if folded(tokens[0].name) == folded(column):
            return tokens
    raise NotUnderstood(f"it has no column {column}")


def stored_in_sqlite(connection: Any, table: str) -> str:
    sql = "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = %s COLLATE NOCASE"
    stored = value(connection, sql, [table])
    if stored is None:
        raise NotUnderstood("it is no table of the main database")
    return str(stored)
