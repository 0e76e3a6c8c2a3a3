"""The triggers, views, routines and events of a database of MariaDB or MySQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....db.queries import rows
from ...programs import Program
from ...programs.patterns import MYSQL

_ALL = """
SELECT 'trigger', trigger_name, action_statement, event_object_table
FROM information_schema.triggers WHERE event_object_schema = DATABASE()
UNION ALL SELECT 'view', table_name, view_definition, NULL
FROM information_schema.views WHERE table_schema = DATABASE()
UNION ALL SELECT LOWER(routine_type), routine_name, routine_definition, NULL
FROM information_schema.routines
WHERE routine_schema = DATABASE() AND routine_type IN ('FUNCTION', 'PROCEDURE')
UNION ALL SELECT 'event', event_name, event_definition, NULL
FROM information_schema.events WHERE event_schema = DATABASE()
ORDER BY 1, 2
"""
_FIRED = """
SELECT trigger_name FROM information_schema.triggers
WHERE event_object_schema = DATABASE() AND event_object_table = %s
    AND FIND_IN_SET('UPDATE', event_manipulation) ORDER BY trigger_name
"""


def programs(connection: Any) -> Iterator[Program]:
    for kind, name, sql, table in rows(connection, _ALL):
        yield Program(kind, name, sql or None, MYSQL, (table,) if table else ())


def fired(connection: Any, table: str) -> Iterator[str]:
    yield from (name for (name,) in rows(connection, _FIRED, [table]))
