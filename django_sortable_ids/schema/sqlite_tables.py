"""One column's NULL or NOT NULL in the text of a CREATE TABLE, as SQLite keeps it.

Nothing else of the text changes, not a comment and not a space. People and other tools wrote it, so
it may hold whatever SQLite's grammar takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import DatabaseError

from ..db.tables import folded_in_sqlite
from ..db.tables import folded_in_sqlite as folded
from ..errors import BackfillError
from .sql_tokens import SQLITE, NotUnderstood, Token, columns, split


def with_null(sql: str, column: str, null: bool) -> str:
    """The definition of a table in which the column may be NULL, or may not."""
    tokens = _column(sql, column)
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


def without_unique(sql: str, column: str) -> str:
    """The definition of a table in which the column is not declared UNIQUE."""
    tokens = [token for token in _column(sql, column) if token.depth == 1]
    words = [token.keyword for token in tokens]
    for place in range(1, len(words)):
        if words[place] == "UNIQUE":
            has_conflict = words[place + 1 : place + 3] == ["ON", "CONFLICT"]
            end = tokens[place + 3 if has_conflict else place].end
            # Its name would become that of the next constraint.
            first = place - 2 if words[place - 2 : place - 1] == ["CONSTRAINT"] else place
            return f"{sql[: tokens[first].start].rstrip(' ')}{sql[end:]}"
    raise NotUnderstood(f"the column {column} is not declared UNIQUE by itself")


def column_text(sql: str, column: str) -> str:
    """What the definition of a table says of the column."""
    tokens = _column(sql, column)
    return sql[tokens[0].start : tokens[-1].end]


def as_temporary(sql: str) -> str:
    """The statement that makes such a table in the schema ``temp``."""
    tokens = split(sql, SQLITE)
    if [each.keyword for each in tokens[:2]] != ["CREATE", "TABLE"]:
        raise NotUnderstood("it is no CREATE TABLE")
    return f"CREATE TEMP {sql[tokens[1].start :]}"


def _column(sql: str, column: str) -> Sequence[Token]:
    for tokens in columns(sql, SQLITE):
        if folded(tokens[0].name) == folded(column):
            return tokens
    raise NotUnderstood(f"it has no column {column}")


def refuse_orphans(connection: Any, label: str) -> None:
    """Raise ``BackfillError`` where a row of any table refers to none.

    Django looks for such rows at the end of every migration on SQLite, when the change is there.
    """
    try:
        connection.check_constraints()
    except DatabaseError as error:
        raise BackfillError(
            f"{label}: {str(error).rstrip('.')}. Django ends no migration on SQLite with that: "
            f"correct or delete what `PRAGMA foreign_key_check` lists, and migrate again"
        ) from error


def refuse_references(connection: Any, label: str, table: str, column: str) -> None:
    """Raise ``BackfillError`` where a foreign key refers to the column, which has to be unique."""

    def fold(name: str | None) -> str:
        return folded_in_sqlite(name or "")

    with connection.cursor() as cursor:
        cursor.execute(
            'SELECT m.name, f."from", f."table", f."to" FROM main.sqlite_master AS m, '
            "pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'"
        )
        found = [
            f"{child}.{key}"
            for child, key, parent, to in cursor.fetchall()
            if fold(parent) == fold(table) and fold(to) == fold(column)
        ]
    if found:
        raise BackfillError(
            f"{label}: {', '.join(found)} refers to it by a foreign key, for which it has to be "
            f"unique: take that away first, and migrate again; nothing was changed"
        )
