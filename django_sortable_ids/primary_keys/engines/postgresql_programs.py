"""The functions and procedures of PostgreSQL, whose texts it doesn't follow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...db.queries import rows
from ..programs import Program
from ..programs.patterns import POSTGRESQL

_ALL = """
SELECT CASE prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, p.oid::regproc::text, prosrc,
    ARRAY(SELECT DISTINCT relname::text FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
        WHERE tgfoid = p.oid ORDER BY 1)
FROM pg_proc p JOIN pg_language l ON l.oid = prolang JOIN pg_namespace n ON n.oid = pronamespace
WHERE lanname IN ('sql', 'plpgsql') AND nspname NOT IN ('information_schema', 'pg_catalog')
    AND prosrc <> '' AND NOT EXISTS (
        SELECT FROM pg_depend
        WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
    )
ORDER BY 2
"""
"""Without those of extensions, and those with a body of SQL, on which a change of types fails."""
_FIRED = """
SELECT tgname::text FROM pg_trigger
WHERE tgrelid = to_regclass(%(table)s) AND NOT tgisinternal AND tgconstraint = 0
    AND tgtype & 16 <> 0 AND tgenabled IN ('A', 'O')
    AND (tgattr::text = '' OR EXISTS (
        SELECT FROM pg_attribute
        WHERE attrelid = tgrelid AND attname = %(column)s AND attnum = ANY (tgattr)
    ))
UNION ALL SELECT rulename::text FROM pg_rewrite
WHERE ev_class = to_regclass(%(table)s) AND ev_type = '2' AND ev_enabled IN ('A', 'O')
ORDER BY 1
"""


def programs(connection: Any) -> Iterator[Program]:
    for kind, name, sql, tables in rows(connection, _ALL):
        yield Program(kind, name, sql, POSTGRESQL, tuple(tables))


def fired(connection: Any, quoted: str, column: str) -> Iterator[str]:
    """``quoted`` is the table as SQL spells it."""
    yield from (name for (name,) in rows(connection, _FIRED, {"table": quoted, "column": column}))
