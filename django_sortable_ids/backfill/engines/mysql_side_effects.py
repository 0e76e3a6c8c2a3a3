"""The side effects of an UPDATE of the id on MariaDB and MySQL."""

import re
from collections.abc import Iterator
from typing import Any

from ...db import tables
from ..target import Target
from .mysql_tables import KeptColumns

Names = tuple[str | None, str]
"""Schema, if the name of the table has one, and table."""

_DEPENDS_ON_SESSION = re.compile(
    r"\b(from_unixtime|unix_timestamp|dayname|monthname)\(|'system'|date_format\(.*%[abMW]",
    re.IGNORECASE,
)
"""Expressions that depend on the session's time zone or language."""


def effects(target: Target, connection: Any, kept: KeptColumns) -> Iterator[str]:
    """Triggers, system versioning, and stored columns that are computed again."""
    table = target.model._meta.db_table
    names = tables.split(connection, table)
    with connection.cursor() as cursor:
        for (name,) in _all(
            cursor,
            "SELECT trigger_name FROM information_schema.triggers "
            "WHERE event_object_schema = COALESCE(%s, DATABASE()) AND event_object_table = %s "
            "AND FIND_IN_SET('UPDATE', event_manipulation) ORDER BY action_order, trigger_name",
            *names,
        ):
            yield f"the trigger {name}"
        if _adds_history(cursor, target, names, kept):
            yield f"the system versioning of {table}, which keeps the old version of each row"
        for name, expression in _recomputed(cursor, names):
            yield (
                f"the stored column {name}, which is computed again, with the time zone and the "
                f"language of this session: {expression}"
            )


def warnings(target: Target, connection: Any) -> Iterator[str]:
    """A warning if the user can't see triggers."""
    with connection.cursor() as cursor:
        if not _sees_triggers(cursor, *tables.split(connection, target.model._meta.db_table)):
            yield (
                "this user has no right to see triggers: make sure that an UPDATE fires none, or "
                "GRANT TRIGGER"
            )


def _adds_history(cursor: Any, target: Target, names: Names, kept: KeptColumns) -> bool:
    """Whether the UPDATE sets a versioned column, be it to its own value."""
    if not _all(
        cursor,
        "SELECT 1 FROM information_schema.tables WHERE table_schema = COALESCE(%s, DATABASE()) "
        "AND table_name = %s AND table_type = 'SYSTEM VERSIONED'",
        *names,
    ):
        return False
    unversioned = {
        name.lower()
        for (name,) in _all(
            cursor,
            "SELECT column_name FROM information_schema.columns "
            "WHERE table_schema = COALESCE(%s, DATABASE()) AND table_name = %s "
            "AND extra LIKE '%%WITHOUT SYSTEM VERSIONING%%'",
            *names,
        )
    }
    return not unversioned.issuperset(
        name.lower() for name in (str(target.field.column), *kept.names)
    )


def _recomputed(cursor: Any, names: Names) -> Iterator[tuple[str, str]]:
    """Stored columns that depend on the session. Servers may compute each of them again, whatever
    an UPDATE changes. The column of the id is the same in each session.
    """
    columns = _all(
        cursor,
        "SELECT column_name, data_type, generation_expression, extra "
        "FROM information_schema.columns WHERE table_schema = COALESCE(%s, DATABASE()) "
        "AND table_name = %s "
        "ORDER BY ordinal_position",
        *names,
    )
    local = [f"`{name}`" for name, kind, *_ in columns if kind == "timestamp"]
    for name, _, expression, extra in columns:
        if not expression or "STORED" not in extra:
            continue
        if _DEPENDS_ON_SESSION.search(expression) or any(each in expression for each in local):
            yield name, expression


def _sees_triggers(cursor: Any, schema: str | None, table: str) -> bool:
    return bool(
        _all(
            cursor,
            "SELECT 1 FROM information_schema.user_privileges WHERE privilege_type = 'TRIGGER' "
            "UNION SELECT 1 FROM information_schema.schema_privileges "
            "WHERE privilege_type = 'TRIGGER' AND COALESCE(%s, DATABASE()) LIKE table_schema "
            "UNION SELECT 1 FROM information_schema.table_privileges "
            "WHERE privilege_type = 'TRIGGER' AND table_schema = COALESCE(%s, DATABASE()) "
            "AND table_name = %s",
            schema,
            schema,
            table,
        )
    )


def _all(cursor: Any, sql: str, *names: str | None) -> Any:
    cursor.execute(sql, names)
    return cursor.fetchall()
