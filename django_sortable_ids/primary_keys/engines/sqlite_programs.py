"""The triggers and views of SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...db.queries import rows
from ...schema.sql_tokens import split
from ..programs import Program
from ..programs.patterns import SQLITE

_ALL = """
SELECT type, name, tbl_name, sql FROM main.sqlite_master WHERE type IN ('trigger', 'view')
UNION ALL SELECT type, name, tbl_name, sql FROM sqlite_temp_master
WHERE type IN ('trigger', 'view') ORDER BY 1, 2
"""


def programs(connection: Any) -> Iterator[Program]:
    for kind, name, table, sql in rows(connection, _ALL):
        yield Program(kind, name, sql, SQLITE, (table,) if kind == "trigger" else ())


def fired(connection: Any, table: str, column: str) -> Iterator[str]:
    for each in programs(connection):
        if [name.lower() for name in each.tables] == [table.lower()]:
            tokens = split(each.sql or "", SQLITE)
            header = tokens[: next(n for n, token in enumerate(tokens) if token.keyword == "ON")]
            words = [token.keyword for token in header]
            names = [token.name.lower() for token in header]
            is_update = "UPDATE" in words
            columns = names[words.index("OF") :] if is_update and "OF" in words else None
            if is_update and (columns is None or column.lower() in columns):
                yield each.name
