"""Splits a CREATE TABLE into tokens, as SQLite stores it or MariaDB and MySQL show it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

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
"""For SHOW CREATE TABLE without the modes ANSI_QUOTES and NO_BACKSLASH_ESCAPES."""

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
    is_quoted: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def keyword(self) -> str:
        return "" if self.is_quoted else self.text.upper()

    @property
    def name(self) -> str:
        if not self.is_quoted:
            return self.text
        quote = self.text[-1]
        inner = self.text[1:-1]
        return inner if quote == "]" else inner.replace(quote * 2, quote)


def columns(sql: str, pattern: str) -> Iterator[list[Token]]:
    """The tokens of each column of a CREATE TABLE, column by column."""
    tokens = split(sql, pattern)
    if [each.keyword for each in tokens[:2]] != ["CREATE", "TABLE"]:
        raise NotUnderstood("it is no CREATE TABLE")
    column: list[Token] = []
    for token in tokens:
        if token.depth == 0:
            continue
        ends = token.depth == 1 and token.keyword in (",", ")")
        if not ends:
            column.append(token)
        elif column:
            if column[0].keyword in _TABLE_CONSTRAINTS:
                return
            yield column
            column = []
        if ends and token.keyword == ")":
            return


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
        is_quoted = match.lastgroup == "quoted"
        tokens.append(Token(text, match.start(), 0 if is_outer else depth, is_quoted))
        depth -= text == ")"
    return tokens
