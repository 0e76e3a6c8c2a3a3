"""The programs of PostgreSQL. It drops views of moved columns and creates them again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...db.queries import rows
from ..programs import Program

_ALL = """
SELECT 'trigger', tgname::text, pg_get_triggerdef(t.oid) || ' ' || prosrc, relname::text
FROM pg_trigger t JOIN pg_proc ON pg_proc.oid = tgfoid JOIN pg_class c ON c.oid = tgrelid
WHERE NOT tgisinternal AND tgparentid = 0
UNION ALL SELECT 'rule', rulename::text, pg_get_ruledef(r.oid), relname::text
FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class WHERE rulename <> '_RETURN' AND r.oid >= 16384
UNION ALL SELECT CASE prokind WHEN 'p' THEN 'procedure' ELSE 'function' END, p.oid::regproc::text,
    pg_get_functiondef(p.oid), NULL
FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
WHERE prokind IN ('f', 'p', 'w') AND nspname NOT IN ('information_schema', 'pg_catalog')
    AND prorettype <> 'trigger'::regtype
    AND NOT EXISTS (
        SELECT FROM pg_depend
        WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
    )
ORDER BY 1, 2, 4
"""
"""Without functions of extensions. A function of triggers is a part of each of their texts."""


def programs(connection: Any) -> Iterator[Program]:
    yield from (Program(*found) for found in rows(connection, _ALL))
