"""Triggers of MariaDB and MySQL, which would follow a renamed table: they are dropped, and created
again as they were."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

from django.db import Error

from ....db.error_codes import error_number
from ....db.locks import session_variables
from ....db.queries import named_rows, rows, value
from .session import execute

_NAMES = """
SELECT trigger_name FROM information_schema.triggers
WHERE event_object_schema = DATABASE() AND event_object_table = %s
ORDER BY action_order, trigger_name
"""
_RIGHTS = """
SELECT 1 FROM information_schema.user_privileges WHERE privilege_type = 'TRIGGER'
UNION ALL SELECT 1 FROM information_schema.schema_privileges
    WHERE privilege_type = 'TRIGGER' AND DATABASE() LIKE table_schema
UNION ALL SELECT 1 FROM information_schema.table_privileges
    WHERE privilege_type = 'TRIGGER' AND table_schema = DATABASE() AND table_name = %s
"""
_NEEDS_SUPER = 1419
Trigger = dict[str, str]


def of_table(connection: Any, table: str) -> list[Trigger]:
    """What ``create`` needs, in the order in which they fire."""
    return [_read(connection, name) for (name,) in rows(connection, _NAMES, [table])]


def _read(connection: Any, name: str) -> Trigger:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW CREATE TRIGGER {connection.ops.quote_name(name)}")
        (found,) = named_rows(cursor)
    return {
        "name": name,
        "sql": found["SQL Original Statement"],
        "sql_mode": found["sql_mode"],
        "character_set_client": found["character_set_client"],
        "collation_connection": found["collation_connection"],
    }


def exists(connection: Any, trigger: Trigger) -> bool:
    sql = (
        "SELECT 1 FROM information_schema.triggers "
        "WHERE trigger_schema = DATABASE() AND trigger_name = %s"
    )
    return value(connection, sql, [trigger["name"]]) is not None


def drop(editor: Any, trigger: Trigger) -> None:
    execute(editor, f"DROP TRIGGER {editor.quote_name(trigger['name'])}")


def create(editor: Any, trigger: Trigger) -> None:
    names = ("sql_mode", "character_set_client", "collation_connection")
    with session_variables(editor.connection, **{each: trigger[each] for each in names}):
        execute(editor, trigger["sql"])


def problems(editor: Any, table: str, copy: str) -> Iterator[str]:
    """Why the triggers of a table can't be created again. ``copy`` is a table without rows, where
    it is tried."""
    connection = editor.connection
    found = of_table(connection, table)
    for trigger in found:
        is_utf8 = trigger["character_set_client"].startswith("utf8")
        if not is_utf8 and not trigger["sql"].isascii():
            yield (
                f"{table}: trigger {trigger['name']} was created in "
                f"{trigger['character_set_client']}: create it again in utf8mb4"
            )
    try:
        for definer in {_definer(connection, each["name"]) for each in found} or {""}:
            _try(editor, definer, copy)
    except Error as error:
        if found or error_number(error) != _NEEDS_SUPER:
            yield f"{table}: its triggers could not be created again: {error}. {_ADVICE}"
        elif not value(connection, _RIGHTS, [table]):
            yield f"{table}: without the privilege TRIGGER, its triggers can't be seen. {_ADVICE}"


_ADVICE = (
    "Migrate as a database user who may create triggers in the name of their definers (with a "
    "binary log, log_bin_trust_function_creators = 1 or more privileges may be needed)"
)


def _definer(connection: Any, trigger: str) -> str:
    sql = (
        "SELECT definer FROM information_schema.triggers "
        "WHERE trigger_schema = DATABASE() AND trigger_name = %s"
    )
    user, _, host = value(connection, sql, [trigger]).rpartition("@")
    quote = connection.ops.quote_name
    return f"DEFINER = {quote(user)}@{quote(host)} "


def _try(editor: Any, definer: str, table: str) -> None:
    # A crash of MariaDB may leave the name of a trigger in use.
    name = editor.quote_name(f"sortable_ids_{secrets.token_hex(8)}")
    execute(
        editor,
        f"CREATE {definer}TRIGGER {name} AFTER INSERT ON {editor.quote_name(table)} "
        f"FOR EACH ROW SET @sortable_ids = 1",
    )
    execute(editor, f"DROP TRIGGER {name}")
