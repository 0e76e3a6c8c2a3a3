"""SQLite can't alter a key: each table is copied into one with another definition.

The definition is the stored one with another type for each changed column, so columns, checks and
triggers that no model knows remain.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

from django.db import DatabaseError, transaction

from ...db import tables
from ...db.queries import row, rows, value
from ...db.tables import folded_in_sqlite as folded
from ...schema.table_definition import SQLITE, NotUnderstood, Token, columns, split
from ..changes import Key, Table
from .base import ForeignKey, KeyEngine

_COPY = "moving__"
_SCHEMAS = ("main", "temp")
_CACHE = 131_072
"""Kilobytes."""
_ALL_KEYS = """
SELECT m.name, f.id, f."table", f."from", f."to"
FROM main.sqlite_master AS m, pragma_foreign_key_list(m.name) AS f
WHERE m.type = 'table' ORDER BY m.name, f.id, f.seq
"""
_DEPENDENTS = """
SELECT name, sql FROM main.sqlite_master
WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name = %s COLLATE NOCASE
ORDER BY type, rowid
"""
_PROGRAMS = """
SELECT type, name, sql, CASE type WHEN 'trigger' THEN tbl_name END
FROM (SELECT * FROM main.sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
WHERE type IN ('trigger', 'view') ORDER BY 1, 2
"""


class SQLiteKeys(KeyEngine):
    locks = "the database, for writing, until it ends"
    programs_sql = _PROGRAMS
    create_map = "CREATE TEMPORARY TABLE"
    """Of this connection, so that the file doesn't grow."""
    in_order_of_the_file = " NOT INDEXED"

    def foreign_keys(self) -> Iterator[ForeignKey]:
        for table, _, parent, column, referenced in rows(self.connection, _ALL_KEYS):
            if not referenced:
                about = rows(self.connection, f"PRAGMA main.table_info({self.quote(parent)})")
                # It refers to the primary key.
                referenced = next((name for _, name, *_, place in about if place == 1), "")
            yield ForeignKey("", table, (column,), parent, (referenced,))

    def rehearse(self) -> Iterator[str]:
        for table in self.change.tables:
            try:
                with transaction.atomic(self.connection.alias):
                    self.execute(self._definition(table))
                    transaction.set_rollback(True, self.connection.alias)
            except NotUnderstood as error:
                yield f"{table.name}: its definition can't be changed: {error}"
            except DatabaseError as error:
                reason = str(error).replace(_COPY, "")
                yield (
                    f"{table.name}: a copy with the new columns can't be made: {reason}. Make the "
                    f"table again without what prevents it, such as STRICT, and migrate"
                )

    def last_counted(self, key: Key) -> int:
        return self._sequence(key.table) or 0

    @contextmanager
    def working(self) -> Iterator[None]:
        """Pages of indexes and sorted rows are kept in memory, instead of written and read again
        and again."""
        before = {each: value(self.connection, f"PRAGMA {each}.cache_size") for each in _SCHEMAS}
        # Another move of the same editor may have changed it already.
        restore = [
            f"PRAGMA {schema}.cache_size = {size}"
            for schema, size in before.items()
            if size != -_CACHE
        ]
        try:
            for each in _SCHEMAS:
                row(self.connection, f"PRAGMA {each}.cache_size = -{_CACHE}")
            yield
        except BaseException:
            for each in restore:
                row(self.connection, each)
            raise
        # The editor runs them after it has checked all foreign keys.
        self.editor.deferred_sql += restore

    def exchange(self) -> None:
        with transaction.atomic(self.connection.alias):
            self.refuse_unfilled()
            self.execute("PRAGMA legacy_alter_table = ON")
            try:
                for table in self.change.tables:
                    self._copy(table)
                for table in self.change.tables:
                    self._exchange(table)
            finally:
                self.execute("PRAGMA legacy_alter_table = OFF")

    def _copy(self, table: Table) -> None:
        copy = _COPY + table.name
        self.execute(self._definition(table))
        selected = dict(self._selected(table))
        names = ", ".join(map(self.quote, selected))
        self.execute(
            f"INSERT INTO {self.quote(copy)} ({names}) "
            f"SELECT {', '.join(selected.values())} FROM {self.quote(table.name)} t"
        )

    def _selected(self, table: Table) -> Iterator[tuple[str, str]]:
        """Each column of the copy, and where its values come from."""
        changed = {folded(each.name): self.new_value(each) for each in table.parts}
        dropped = {*map(folded, table.dropped)}
        about = rows(self.connection, f"PRAGMA main.table_xinfo({self.quote(table.name)})")
        for _, name, *_, hidden in about:
            if not hidden and folded(name) not in dropped:
                yield name, changed.get(folded(name), f"t.{self.quote(name)}")
        for name, old in table.added:
            yield old.column, f"t.{self.quote(name)}"

    def _exchange(self, table: Table) -> None:
        gone = {
            index
            for column in table.dropped
            for index in tables.names_of(self.connection, table.name, column, index=True)
        }
        found = rows(self.connection, _DEPENDENTS, [table.name])
        dependents = [sql for name, sql in found if name not in gone]
        key, sequence = table.key, self._sequence(table.name)
        if key and key.after.db_type_suffix(self.connection):
            sequence = self.last_number(key)
        self.execute(f"DROP TABLE {self.quote(table.name)}")
        copy = self.quote(_COPY + table.name)
        self.execute(f"ALTER TABLE {copy} RENAME TO {self.quote(table.name)}")
        for sql in dependents:
            self.execute(sql)
        for _, old in table.added:
            for statement in self.editor._field_indexes_sql(old.model, old):
                self.execute(str(statement))
        if sequence is not None:
            self._restore_sequence(table.name, sequence)

    def _sequence(self, table: str) -> int | None:
        """The last number of an AUTOINCREMENT; None if the table never had one."""
        has_any = "SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'"
        if not value(self.connection, has_any):
            return None
        sql = "SELECT seq FROM main.sqlite_sequence WHERE name = %s COLLATE NOCASE"
        found: int | None = value(self.connection, sql, [table])
        return found

    def _restore_sequence(self, table: str, number: int) -> None:
        """DROP TABLE forgets the number. A table without AUTOINCREMENT keeps it, too: the migration
        backwards gives no number twice."""
        name = self.editor.quote_value(table)
        self.execute(f"DELETE FROM main.sqlite_sequence WHERE name = {name}")
        self.execute(f"INSERT INTO main.sqlite_sequence (name, seq) VALUES ({name}, {number})")

    def _definition(self, table: Table) -> str:
        """The CREATE TABLE of the copy."""
        sql = "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = %s COLLATE NOCASE"
        stored = value(self.connection, sql, [table.name])
        if stored is None:
            raise NotUnderstood("it is no table of the main database")
        return Definition(str(stored), table, self.editor).copy_as(_COPY + table.name)


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
        yield from map(self._without, self._table.dropped)
        if added := [self._sql_of(old) for _, old in self._table.added]:
            end = self._columns[-1][-1].end
            yield _Edit(end, end, "".join(f", {each}" for each in added))

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

    def _without(self, column: str) -> _Edit:
        """With the comma before it, or after it if it is the first one."""
        tokens = self._column(column)
        if at := self._columns.index(tokens):
            return _Edit(self._columns[at - 1][-1].end, tokens[-1].end, "")
        return _Edit(tokens[0].start, self._columns[1][0].start, "")

    def _sql_of(self, field: Any) -> str:
        definition, _ = self._editor.column_sql(field.model, field)
        end = max(at for at, each in enumerate(self._tokens) if each.text == ")")
        # SQLite counts no keys of a table WITHOUT ROWID.
        counts = "ROWID" not in {each.keyword for each in self._tokens[end:]}
        suffix = field.db_type_suffix(self._editor.connection) if counts else None
        return " ".join(filter(None, [self._editor.quote_name(field.column), definition, suffix]))

    def _column(self, name: str) -> list[Token]:
        for tokens in self._columns:
            if folded(tokens[0].name) == folded(name):
                return tokens
        raise NotUnderstood(f"it has no column {name}")

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
