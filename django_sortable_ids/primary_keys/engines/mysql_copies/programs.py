"""The triggers, views, routines and events of a database of MariaDB or MySQL."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....db.queries import rows
from ...programs import Program

_ALL = """
SELECT 'trigger', trigger_name, NULLIF(action_statement, ''), event_object_table
FROM information_schema.triggers WHERE event_object_schema = DATABASE()
UNION ALL SELECT 'view', table_name, NULLIF(view_definition, ''), NULL
FROM information_schema.views WHERE table_schema = DATABASE()
UNION ALL SELECT LOWER(routine_type), routine_name, NULLIF(routine_definition, ''), NULL
FROM information_schema.routines
WHERE routine_schema = DATABASE() AND routine_type IN ('FUNCTION', 'PROCEDURE')
UNION ALL SELECT 'event', event_name, NULLIF(event_definition, ''), NULL
FROM information_schema.events WHERE event_schema = DATABASE()
ORDER BY 1, 2
"""


def programs(connection: Any) -> Iterator[Program]:
    yield from (Program(*found) for found in rows(connection, _ALL))
