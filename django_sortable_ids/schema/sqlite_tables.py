"""Edits one column in the CREATE TABLE that SQLite stores, and checks foreign keys.

Nothing else in the text changes, not even a comment or a space. People and other tools wrote it, so
it may contain anything that SQLite's grammar accepts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import DatabaseError, models

from ..db.queries import rows
from ..db.tables import folded_in_sqlite as folded
from ..errors import BackfillError
from .sql_tokens import SQLITE, NotUnderstood, Token, columns, split


def with_null(sql: str, column: str, null: bool) -> str:
    """The definition of the table with the column as NULL or NOT NULL."""
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
    """The definition of the table without the column's UNIQUE."""
    tokens = [token for token in _column(sql, column) if token.depth == 1]
    words = [token.keyword for token in tokens]
    for place in range(1, len(words)):
        if words[place] == "UNIQUE":
            has_conflict = words[place + 1 : place + 3] == ["ON", "CONFLICT"]
            end = tokens[place + 3 if has_conflict else place].end
            # The constraint's name goes, too: it would become the name of the next one.
            first = place - 2 if words[place - 2 : place - 1] == ["CONSTRAINT"] else place
            return f"{sql[: tokens[first].start].rstrip(' ')}{sql[end:]}"
    raise NotUnderstood(f"the column {column} is not declared UNIQUE by itself")


def column_text(sql: str, column: str) -> str:
    """The part of the definition of the table that defines the column."""
    tokens = _column(sql, column)
    return sql[tokens[0].start : tokens[-1].end]


def as_temporary(sql: str) -> str:
    """The CREATE TABLE for the same table in the schema ``temp``."""
    tokens = split(sql, SQLITE)
    return f"CREATE TEMP {sql[tokens[1].start :]}"


def _column(sql: str, column: str) -> Sequence[Token]:
    for tokens in columns(sql, SQLITE):
        if folded(tokens[0].name) == folded(column):
            return tokens
    raise NotUnderstood(f"it has no column {column}")


def refuse_orphans(connection: Any, label: object) -> None:
    """Raise ``BackfillError`` if a row of any table refers to a row that doesn't exist.

    Django checks this at the end of every migration on SQLite, when the change is already made.
    """
    try:
        connection.check_constraints()
    except DatabaseError as error:
        raise BackfillError(
            f"{label}: {str(error).rstrip('.')}. Django refuses to finish a migration on SQLite "
            f"with such rows: correct or delete those that `PRAGMA foreign_key_check` lists, and "
            f"migrate again"
        ) from error


def refuse_references(connection: Any, field: models.Field[Any, Any]) -> None:
    """Raise ``BackfillError`` if a foreign key refers to the column, which must stay unique."""
    wanted = [folded(field.model._meta.db_table), folded(str(field.column))]
    keys = rows(
        connection,
        'SELECT m.name, f."from", f."table", f."to" FROM main.sqlite_master AS m, '
        "pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'",
    )
    references = [
        f"{child}.{key}"
        for child, key, *referenced in keys
        if [folded(each or "") for each in referenced] == wanted
    ]
    if references:
        raise BackfillError(
            f"{field}: {', '.join(references)} refers to it by a foreign key, so it must stay "
            f"unique. Nothing was changed: remove the foreign key first, and migrate again"
        )
