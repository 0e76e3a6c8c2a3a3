"""Edits the CREATE TABLE of a table whose key, or columns that contain keys, get another type."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

from ...db.tables import folded_in_sqlite as folded
from ...schema.sql_tokens import SQLITE, NotUnderstood, Token, columns, split
from ..changes import Key, Table

_TYPE_ENDS = {
    *("CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE"),
    *("REFERENCES", "GENERATED", "AS"),
}
"""The words that end the type of a column."""
_EXPRESSIONS = {"CHECK", "AS", "DEFAULT"}
"""The words before an expression in parentheses."""
_NULL_TESTS = {"IS", "ISNULL", "NOTNULL"}


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


class Definition:
    """Raises ``NotUnderstood`` for what SQLite's grammar does not allow, and for expressions that
    depend on the values of a changed column."""

    def __init__(self, sql: str, table: Table, editor: Any) -> None:
        self._sql = sql
        self._table = table
        self._editor = editor
        self._tokens = split(sql, SQLITE)
        self._columns = list(columns(sql, SQLITE))

    def copy_as(self, name: str) -> str:
        """The definition of the changed table, with another name."""
        self._refuse_dependents()
        sql = self._sql
        # From the end to the beginning, so that places stay right.
        for start, end, text in sorted([self._renamed(name), *self._edits()], reverse=True):
            sql = sql[:start] + text + sql[end:]
        return sql

    def _edits(self) -> Iterator[_Edit]:
        for column in self._table.columns:
            yield self._retyped(column.name, column.db_type(self._editor.connection))
        if key := self._table.key:
            yield self._new_key(key)
            yield self._old_for_next(key)

    def _renamed(self, name: str) -> _Edit:
        end = next(at for at, each in enumerate(self._tokens) if each.text == "(")
        token = self._tokens[end - 1]
        return _Edit(token.start, token.end, self._editor.quote_name(name))

    def _retyped(self, column: str, kind: str) -> _Edit:
        name, *rest = self._column(column)
        ends = (at for at, each in enumerate(rest) if each.keyword in _TYPE_ENDS)
        before = rest[: next(ends, len(rest))]
        return _Edit(name.end, before[-1].end if before else name.end, f" {kind}")

    def _new_key(self, key: Key) -> _Edit:
        tokens = self._column(key.column)
        if not any(each.keyword == "PRIMARY" for each in tokens):
            # PRIMARY KEY is a constraint of the table.
            return self._retyped(key.column, key.after.db_type(self._editor.connection))
        return _Edit(tokens[0].start, tokens[-1].end, self._sql_of(key.after))

    def _old_for_next(self, key: Key) -> _Edit:
        """The column of the old key takes the place of that of the next one, which a plan does not
        have yet."""
        names = [folded(each[0].name) for each in self._columns]
        place = names.index(folded(key.next)) if folded(key.next) in names else len(names)
        start = self._columns[place - 1][-1].end
        end = self._columns[place][-1].end if place < len(names) else start
        text = f", {self._sql_of(key.old_field)}" if key.old else ""
        return _Edit(start, end, text)

    def _sql_of(self, field: Any) -> str:
        definition, _ = self._editor.column_sql(field.model, field)
        # SQLite counts no keys of a table without rowids.
        counts = not self._is_without_rowid
        suffix = field.db_type_suffix(self._editor.connection) if counts else None
        return " ".join(filter(None, [self._editor.quote_name(field.column), definition, suffix]))

    @property
    def _is_without_rowid(self) -> bool:
        end = max(at for at, each in enumerate(self._tokens) if each.text == ")")
        return "ROWID" in {each.keyword for each in self._tokens[end:]}

    def _column(self, name: str) -> list[Token]:
        for tokens in self._columns:
            if self._is(tokens, name):
                return tokens
        raise NotUnderstood(f"it has no column {name}")

    def _is(self, tokens: list[Token], name: str) -> bool:
        return folded(tokens[0].name) == folded(name)

    def _refuse_dependents(self) -> None:
        changed = {folded(each) for each in self._table.changed}
        for expression in self._expressions():
            for token, following in pairwise(expression):
                is_changed = folded(token.name) in changed
                if is_changed and following.keyword not in _NULL_TESTS:
                    raise NotUnderstood(
                        f"an expression depends on {token.name}, whose values change: remove it, "
                        f"migrate, and add it again"
                    )

    def _expressions(self) -> Iterator[list[Token]]:
        """The tokens of each expression, with its parentheses."""
        for at, (word, start) in enumerate(pairwise(self._tokens)):
            if word.keyword in _EXPRESSIONS and start.text == "(" and not self._is_djangos(word):
                rest = self._tokens[at + 1 :]
                ends = (n for n, each in enumerate(rest) if each.text == ")")
                yield rest[: 1 + next(n for n in ends if rest[n].depth == start.depth)]

    def _is_djangos(self, word: Token) -> bool:
        """Whether the expression is the CHECK that Django writes for the type of the old key."""
        key = self._table.key
        if key is None or key.before.db_check(self._editor.connection) is None:
            return False
        tokens = self._column(key.column)
        return tokens[0].start < word.start < tokens[-1].end
