"""The triggers and views of SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...db.queries import rows
from ..programs import Program

_ALL = """
SELECT type, name, sql, CASE type WHEN 'trigger' THEN tbl_name END
FROM (SELECT * FROM main.sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
WHERE type IN ('trigger', 'view') ORDER BY 1, 2
"""


def programs(connection: Any) -> Iterator[Program]:
    yield from (Program(*found) for found in rows(connection, _ALL))
