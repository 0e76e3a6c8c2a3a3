"""A column's own definition on MariaDB and MySQL, with NULL or NOT NULL and all else as it is.

MODIFY takes away what its definition doesn't have: DEFAULT, COMMENT, CHECK, INVISIBLE, a character
set.
"""

from __future__ import annotations

import re
from typing import Any

from .sql_tokens import MYSQL, Token, columns

_AFTER_NULL = {"DEFAULT", "ON", "COMMENT", "CHECK", "INVISIBLE", "WITHOUT", "WITH"}
"""Before which NOT NULL can stand; on MariaDB nothing can follow CHECK."""
_COMMENTS = re.compile(r"(?: */\*.*?\*/)*", re.DOTALL)
"""Such as MySQL's ``/*!80023 INVISIBLE */``."""


def with_null(connection: Any, table: str, column: str, null: bool) -> str | None:
    """The column as MODIFY takes it; None where there is no such column.

    In the session of ``locks.strict``, on which the spelling of SHOW CREATE TABLE depends.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW CREATE TABLE {connection.ops.quote_name(table)}")
        sql = str(cursor.fetchone()[1])
    for tokens in columns(sql, MYSQL):
        if tokens[0].name.lower() == column.lower():
            return _changed(sql, tokens, null)
    return None


def _changed(sql: str, tokens: list[Token], null: bool) -> str:
    wanted = "NULL" if null else "NOT NULL"
    outer = [token for token in tokens[1:] if token.depth == 1]
    words = [token.keyword for token in outer]
    trailing = _COMMENTS.match(sql, tokens[-1].end)
    end = trailing.end() if trailing else tokens[-1].end
    place = next((n for n, word in enumerate(words) if word == "NULL"), None)
    if place is not None:
        has_more = words[place - 1] in ("NOT", "DEFAULT")
        start = outer[place - 1 if has_more else place].start
        return f"{sql[tokens[0].start : start]}{wanted}{sql[outer[place].end : end]}"
    at = next((token.start for token in outer if token.keyword in _AFTER_NULL), end)
    before = sql[tokens[0].start : at].rstrip()
    return f"{before} {wanted} {sql[at:end]}".rstrip()
