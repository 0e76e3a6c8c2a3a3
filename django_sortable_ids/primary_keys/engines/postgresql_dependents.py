"""What PostgreSQL can't change together with the type of a column, or would change wrongly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...db.queries import row, rows
from ..changes import Table

_TABLE = """
SELECT relkind = 'p', relispartition, (SELECT COUNT(*) FROM pg_inherits WHERE inhparent = oid)
FROM pg_class WHERE oid = to_regclass(%s)
"""
_DEPENDENTS = """
SELECT DISTINCT pg_describe_object(classid, objid, 0)
FROM pg_depend JOIN pg_attribute ON attrelid = refobjid AND attnum = refobjsubid
LEFT JOIN pg_rewrite ON classid = 'pg_rewrite'::regclass AND pg_rewrite.oid = objid
LEFT JOIN pg_class ON pg_class.oid = ev_class
WHERE refclassid = 'pg_class'::regclass AND refobjid = to_regclass(%s) AND attname = ANY (%s)
    AND classid IN ('pg_rewrite'::regclass, 'pg_trigger'::regclass, 'pg_policy'::regclass,
        'pg_proc'::regclass, 'pg_publication_rel'::regclass)
    AND deptype = 'n' AND COALESCE(relkind, 'r') NOT IN ('v', 'm')
ORDER BY 1
"""
"""Views are left out: they are dropped and created again."""
_EXPRESSIONS = """
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid = to_regclass(%(table)s) AND contype = 'c'
UNION ALL
SELECT indexrelid::regclass::text, concat_ws(' ', pg_get_expr(indpred, indrelid), pg_get_expr(
    indexprs, indrelid)) FROM pg_index WHERE indrelid = to_regclass(%(table)s)
UNION ALL
SELECT attname::text, pg_get_expr(adbin, adrelid)
FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
WHERE adrelid = to_regclass(%(table)s) AND attgenerated <> ''
"""
_DEFAULTS = """
SELECT attname::text, pg_get_expr(adbin, adrelid)
FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum
WHERE adrelid = to_regclass(%s) AND attgenerated = '' AND attname = ANY (%s)
"""
_COUNTED_BY = """
SELECT s.oid::regclass::text, k.attname::text,
    pg_describe_object(used.classid, used.objid, used.objsubid)
FROM pg_attribute k
JOIN pg_depend owned ON owned.refclassid = 'pg_class'::regclass AND owned.refobjid = attrelid
    AND owned.refobjsubid = attnum AND owned.classid = 'pg_class'::regclass
    AND owned.deptype IN ('a', 'i')
JOIN pg_class s ON s.oid = owned.objid AND relkind = 'S'
JOIN pg_depend used ON used.refclassid = 'pg_class'::regclass AND used.refobjid = s.oid
    AND used.deptype = 'n'
LEFT JOIN pg_attrdef d ON used.classid = 'pg_attrdef'::regclass AND d.oid = used.objid
WHERE attrelid = to_regclass(%s) AND attname = ANY (%s)
    AND (adrelid, adnum) IS DISTINCT FROM (attrelid, attnum)
ORDER BY 1, 3
"""
"""What else uses the sequence of a column."""


def problems(connection: Any, quoted: str, table: Table) -> Iterator[str]:
    """``quoted`` is the table as SQL spells it."""
    is_partitioned, is_partition, children = row(connection, _TABLE, [quoted])
    if is_partitioned or is_partition or children:
        yield f"{table.name} is partitioned or has child tables: its keys can't be moved"
    changed = list(table.changed)
    for (name,) in rows(connection, _DEPENDENTS, [quoted, changed]):
        yield f"{name} depends on a column that changes: drop it, migrate, and create it again"
    for name, expression in rows(connection, _EXPRESSIONS, {"table": quoted}):
        for column in changed:
            if _depends(expression or "", column):
                yield (
                    f"{name} of {table.name} depends on {column}, whose values change: remove it, "
                    f"migrate, and add it again"
                )
    owners = [table.key.column, table.key.next] if table.key else []
    for sequence, column, user in rows(connection, _COUNTED_BY, [quoted, owners]):
        yield (
            f"the sequence {sequence} of {table.name}.{column}, which the move drops, is used by "
            f"{user}, too: give that another sequence, and migrate again"
        )
    if table.key and not table.key.before.has_db_default():
        parameters = [quoted, [table.key.column]]
        owned = row(connection, "SELECT pg_get_serial_sequence(%s, %s)", [quoted, table.key.column])
        for name, default in rows(connection, _DEFAULTS, parameters) if owned == (None,) else ():
            yield (
                f"{table.name}.{name} has the default {default}, which the new key would lose: "
                f"drop the default, and migrate again"
            )
    columns = [each.name for each in table.columns]
    for name, default in rows(connection, _DEFAULTS, [quoted, columns]):
        yield (
            f"{table.name}.{name} has the default {default}, which is an old key: drop the "
            f"default, and migrate again"
        )


def _depends(expression: str, column: str) -> bool:
    """Whether the value of the column matters, more than whether it is NULL."""
    name = re.escape(column)
    without = re.sub(rf'\(?"?\b{name}\b"? IS (NOT )?NULL', "", expression)
    return re.search(rf"\b{name}\b", without) is not None
