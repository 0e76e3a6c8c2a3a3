"""The side effects of an UPDATE of the id on PostgreSQL."""

from collections.abc import Iterator
from typing import Any

from ..target import Target

_ROW, _UPDATE = 1, 16
"""Bits of pg_trigger.tgtype."""
_IS_ENABLED = (
    "IN ('A', CASE WHEN current_setting('session_replication_role') = 'replica' "
    "THEN 'R' ELSE 'O' END)"
)
_TRIGGERS = f"""
WITH RECURSIVE parts AS (
    SELECT %(table)s::regclass::oid AS part, true AS is_named
    UNION SELECT inhrelid, false FROM pg_inherits JOIN parts ON inhparent = part
), columns AS (
    SELECT part, is_named, attnum FROM parts JOIN pg_attribute ON attrelid = part
    WHERE attname = %(column)s
), changed AS (
    SELECT part, attnum FROM columns
    UNION SELECT part, generated.adnum FROM columns
    JOIN pg_attrdef generated ON generated.adrelid = part
    JOIN pg_depend ON refclassid = 'pg_class'::regclass AND refobjid = part
        AND refobjsubid = attnum
        AND (classid, objid, objsubid) IN (
            ('pg_attrdef'::regclass, generated.oid, 0),
            ('pg_class'::regclass, part, generated.adnum)
        )
)
SELECT oid, tgparentid, tgname, tgrelid::regclass::text, tgconstraint <> 0
FROM columns JOIN pg_trigger ON tgrelid = part
WHERE NOT tgisinternal AND tgtype & {_UPDATE} <> 0 AND (is_named OR tgtype & {_ROW} <> 0)
    AND tgenabled {_IS_ENABLED}
    AND (tgattr::text = '' OR EXISTS (
        SELECT FROM changed WHERE changed.part = tgrelid AND changed.attnum = ANY (tgattr)
    ))
ORDER BY tgname, tgrelid::regclass::text
"""
"""The triggers of the table, and of its partitions and children, whose rows the UPDATE changes. A
trigger on a column that is generated from the id fires as well."""
_RULES = f"""
SELECT rulename FROM pg_rewrite
WHERE ev_class = %(table)s::regclass AND ev_type = '2' AND ev_enabled {_IS_ENABLED}
ORDER BY rulename
"""


def effects(target: Target, connection: Any) -> Iterator[str]:
    """Triggers (without constraint triggers), rules, and row-level security that hides rows."""
    for name, table, is_constraint in _triggers(target, connection):
        if not is_constraint:
            yield f"the trigger {name} of {table}"
    with connection.cursor() as cursor:
        cursor.execute(_RULES, {"table": _named(connection, target.model)})
        for (name,) in cursor.fetchall():
            yield f"the rule {name}"
        chain = target.model._meta.get_base_chain(target.source.model)
        for model in dict.fromkeys([target.model, *chain, target.source.model]):
            cursor.execute(
                "SELECT row_security_active(%s::regclass), current_user",
                [_named(connection, model)],
            )
            is_active, user = cursor.fetchone()
            if is_active:
                yield (
                    f"the row-level security of {model._meta.db_table} may hide rows from {user}; "
                    f"these get no id"
                )


def warnings(target: Target, connection: Any) -> Iterator[str]:
    """Constraint triggers, which usually only check rows, but may do anything."""
    for name, table, is_constraint in _triggers(target, connection):
        if is_constraint:
            yield f"each row fires the constraint trigger {name} of {table}"


def _triggers(target: Target, connection: Any) -> Iterator[tuple[str, str, bool]]:
    with connection.cursor() as cursor:
        cursor.execute(
            _TRIGGERS,
            {"table": _named(connection, target.model), "column": target.field.column},
        )
        found = cursor.fetchall()
    known = {oid for oid, *_ in found}
    for _, parent, *trigger in found:
        # A trigger of a partitioned table has a clone in each partition.
        if parent not in known:
            yield tuple(trigger)


def _named(connection: Any, model: Any) -> str:
    """The quoted name of the table, as a text to cast to regclass."""
    return str(connection.ops.quote_name(model._meta.db_table))
