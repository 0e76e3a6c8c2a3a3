"""SQLite can't alter a key: each table is copied into one with another definition.

The definition is the stored one with another type for each changed column, so columns, checks and
triggers that no model knows remain.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from django.db import DatabaseError, transaction

from ...db import row, rows, tables, value
from ...db.errors import sqlite_code
from ...db.tables import folded_in_sqlite as folded
from ...schema.constraints_sqlite import foreign_keys
from ...schema.table_definition import (
    SQLITE,
    NotUnderstood,
    Token,
    columns,
    dependents,
    split,
    stored_in_sqlite,
    tokens_of,
)
from .change import Key, Table
from .engine import ForeignKey, InOneTransaction

_COPY = "moving__"
_CACHE = 131_072
"""Kilobytes."""
_DEPENDENTS = """
SELECT name, sql FROM main.sqlite_master
WHERE type IN ('index', 'trigger') AND sql IS NOT NULL AND tbl_name = %s COLLATE NOCASE
ORDER BY type, rowid
"""
_PROGRAMS = """
SELECT CASE type WHEN 'table' THEN 'virtual table' ELSE type END, name, sql,
    CASE type WHEN 'trigger' THEN tbl_name END
FROM (SELECT * FROM main.sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL %' ORDER BY 1, 2
"""


class SQLiteKeys(InOneTransaction):
    locks = "the database, for writing, until it ends"
    programs_sql = _PROGRAMS
    create_map = "CREATE TEMPORARY TABLE"
    """Tables of this connection, so that the file doesn't grow."""
    in_order_of_the_file = " NOT INDEXED"

    def foreign_keys(self) -> list[ForeignKey]:
        return [
            ForeignKey("", table, (column,), parent, (referenced,))
            for table, column, parent, referenced in foreign_keys(self.connection)
        ]

    def rehearse(self) -> Iterator[str]:
        for table in self.change.tables:
            try:
                with transaction.atomic(self.connection.alias):
                    self.execute(self._definition(table))
                    transaction.set_rollback(True, self.connection.alias)
            except NotUnderstood as error:
                yield f"{table.name}: its definition can't be changed: {error}"
            except DatabaseError as error:
                if sqlite_code(error) != sqlite3.SQLITE_ERROR:
                    raise  # such as a full disk, which is no fault of the table
                reason = str(error).replace(_COPY, "")
                yield (
                    f"{table.name}: a copy with the new columns can't be made: {reason}. Make the "
                    f"table again without what prevents it, such as STRICT, and migrate"
                )

    def last_counted(self, key: Key) -> int | None:
        return self._sequence(key.table)

    def create_maps(self) -> None:
        # Pages of indexes and sorted rows stay in memory, instead of being written and read again.
        for schema in ("main", "temp"):
            row(self.connection, f"PRAGMA {schema}.cache_size = -{_CACHE}")
        super().create_maps()

    def replace_keys(self) -> None:
        self.refuse_unfilled()
        self.execute("PRAGMA legacy_alter_table = ON")
        try:
            for table in self.change.tables:
                self._copy(table)
            for table in self.change.tables:
                self._take_place(table)
        finally:
            self.execute("PRAGMA legacy_alter_table = OFF")

    def _copy(self, table: Table) -> None:
        self.execute(self._definition(table))
        changed = {folded(column.name): self.new_value(column) for column in table.changed}
        dropped = {*map(folded, table.dropped)}
        described = rows(self.connection, f"PRAGMA main.table_xinfo({self.quote(table.name)})")
        # Each column of the copy, and where its values come from.
        selected = {
            name: changed.get(folded(name), f"t.{self.quote(name)}")
            for _, name, *_, hidden in described
            if not hidden and folded(name) not in dropped
        }
        selected |= {old.column: f"t.{self.quote(name)}" for name, old in table.added}
        names = ", ".join(map(self.quote, selected))
        self.execute(
            f"INSERT INTO {self.quote(_COPY + table.name)} ({names}) "
            f"SELECT {', '.join(selected.values())} FROM {self.quote(table.name)} t"
        )

    def _take_place(self, table: Table) -> None:
        gone = {
            index
            for column in table.dropped
            for index in tables.names_of(self.connection, table.name, column, index=True)
        }
        dependent = rows(self.connection, _DEPENDENTS, [table.name])
        recreated = [sql for name, sql in dependent if name not in gone]
        key, sequence = table.key, self._sequence(table.name)
        if key:
            is_counted = key.after.db_type_suffix(self.connection)
            sequence = self.last_number(key) if is_counted else None
        self.execute(f"DROP TABLE {self.quote(table.name)}")
        copy = self.quote(_COPY + table.name)
        self.execute(f"ALTER TABLE {copy} RENAME TO {self.quote(table.name)}")
        for sql in recreated:
            self.execute(sql)
        for _, old in table.added:
            for statement in self.editor._field_indexes_sql(old.model, old):
                self.execute(str(statement))
        if sequence is not None:
            # DROP TABLE forgets it.
            name = self.editor.quote_value(table.name)
            self.execute(f"DELETE FROM main.sqlite_sequence WHERE name = {name}")
            values = f"({name}, {sequence})"
            self.execute(f"INSERT INTO main.sqlite_sequence (name, seq) VALUES {values}")

    def _sequence(self, table: str) -> int | None:
        """The last number of an AUTOINCREMENT; None if the table never had one."""
        has_any = "SELECT 1 FROM main.sqlite_master WHERE name = 'sqlite_sequence'"
        if not value(self.connection, has_any):
            return None
        sql = "SELECT seq FROM main.sqlite_sequence WHERE name = %s COLLATE NOCASE"
        number: int | None = value(self.connection, sql, [table])
        return number

    def _definition(self, table: Table) -> str:
        """The CREATE TABLE of the copy: the stored one, with another name and the new columns.

        Raises ``NotUnderstood`` for what SQLite's grammar does not allow, and for expressions that
        depend on the values of a changed column.
        """
        sql, quote = stored_in_sqlite(self.connection, table.name), self.editor.quote_name
        tokens, every_column = split(sql, SQLITE), list(columns(sql, SQLITE))
        _refuse_dependents(tokens, every_column, table, self.connection)
        # SQLite counts no keys of a table WITHOUT ROWID.
        end = max(n for n, token in enumerate(tokens) if token.text == ")")
        counts = "ROWID" not in {token.keyword for token in tokens[end:]}

        def sql_of(field: Any) -> str:
            definition, _ = self.editor.column_sql(field.model, field)
            suffix = field.db_type_suffix(self.connection) if counts else None
            return " ".join(filter(None, [quote(field.column), definition, suffix]))

        name = next(before for before, token in pairwise(tokens) if token.text == "(")
        edits = [(name.start, name.end, quote(_COPY + table.name))]
        for column in table.changed:
            defined = tokens_of(every_column, column.name)
            if column is table.key and any(token.keyword == "PRIMARY" for token in defined):
                edits.append((defined[0].start, defined[-1].end, sql_of(column.after)))
            else:  # PRIMARY KEY may be a constraint of the table.
                ends = (n for n, token in enumerate(defined) if n and token.keyword in _TYPE_ENDS)
                before = defined[: next(ends, len(defined))]
                kind = column.db_type(self.connection)
                edits.append((defined[0].end, before[-1].end, f" {kind}"))
        for dropped in table.dropped:
            # With the comma before it, or after it if it is the first one.
            defined = tokens_of(every_column, dropped)
            if place := every_column.index(defined):
                edits.append((every_column[place - 1][-1].end, defined[-1].end, ""))
            else:
                edits.append((defined[0].start, every_column[1][0].start, ""))
        end = every_column[-1][-1].end
        edits.append((end, end, "".join(f", {sql_of(old)}" for _, old in table.added)))
        # From the end to the beginning, so that places stay right.
        for start, end, text in sorted(edits, reverse=True):
            sql = sql[:start] + text + sql[end:]
        return sql


_TYPE_ENDS = {
    *("CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE"),
    *("REFERENCES", "GENERATED", "AS"),
}
"""The words that end the type of a column."""
_EXPRESSIONS = {"CHECK", "AS", "DEFAULT"}
"""The words before an expression in parentheses."""


def _refuse_dependents(
    tokens: list[Token], every_column: list[list[Token]], table: Table, connection: Any
) -> None:
    key = table.key
    of_key: list[Token] = []
    if key and key.before.db_check(connection) is not None:
        # Its CHECK is the one that Django writes for the type of the old key.
        of_key = tokens_of(every_column, key.name)
    expressions: list[list[Token]] = []
    for place, (word, start) in enumerate(pairwise(tokens)):
        is_expression = word.keyword in _EXPRESSIONS and start.text == "("
        if not is_expression or (of_key and of_key[0].start < word.start < of_key[-1].end):
            continue
        rest = tokens[place + 1 :]
        ends = (n for n, token in enumerate(rest) if token.text == ")")
        expressions.append(rest[: next(n for n in ends if rest[n].depth == start.depth)])
    for _, sql in rows(connection, _DEPENDENTS, [table.name]):
        parsed = split(f"{sql}\n)", SQLITE)
        if "INDEX" not in [token.keyword for token in parsed[1:3]]:
            continue  # A trigger, which somebody has read.
        parsed = parsed[[token.text for token in parsed].index("(") :]
        after = {",", ")", "ASC", "DESC", "COLLATE"}
        expressions.append(
            [
                token
                for before, token, following in zip(parsed, parsed[1:], parsed[2:], strict=False)
                # Only if it is more than a column
                if token.depth != 1
                or before.text not in ("(", ",")
                or following.keyword not in after
            ]
        )
    keys = {column.name.lower(): column.key for column in table.changed}
    for name in (name for expression in expressions for name in dependents(expression, keys)):
        raise NotUnderstood(
            f"an expression depends on {name}, whose values change: remove it, "
            f"migrate, and add it again"
        )
