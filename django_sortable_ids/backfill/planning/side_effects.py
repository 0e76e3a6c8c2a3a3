"""What an UPDATE of the id changes besides the id, found before anything is written."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from django.db import connections

from ...db import tables
from ...errors import BackfillError
from ..engines import side_effects_mysql, side_effects_postgresql
from ..engines.statements import Statements
from ..target import Target


def check(target: Target) -> tuple[str, ...]:
    """Warnings. Raise ``BackfillError``, which names each effect, unless the target allows them."""
    connection = connections[target.using]
    statements = Statements(target, connection)
    match connection.vendor:
        case "postgresql":
            effects = list(side_effects_postgresql.effects(target, connection))
            warnings = list(side_effects_postgresql.warnings(target, connection))
        case "mysql":
            effects = list(side_effects_mysql.effects(target, connection, statements.kept))
            warnings = list(side_effects_mysql.warnings(target, connection))
        case _:
            effects, warnings = list(_of_sqlite(target, connection, statements)), []
    if effects and not target.allow_triggers:
        raise BackfillError(
            f"filling {target.label} changes more than its ids: {'; '.join(effects)}. Switch that "
            f"off while the ids are filled, or allow it, if it is meant for each row: "
            f"--allow-triggers, or allow_triggers=True of AddSortableID; nothing was written."
        )
    return (*(f"allowed, though no id: {each}" for each in effects), *warnings)


def _of_sqlite(target: Target, connection: Any, statements: Statements) -> Iterator[str]:
    """The triggers of the table whose programs SQLite compiles into the UPDATE."""
    with connection.cursor() as cursor:
        compiled = _compiled_triggers(connection, cursor, statements.one_by_one())
        # Triggers of other tables may be fired by those of this one.
        table = target.model._meta.db_table
        schema = connection.ops.quote_name(tables.sqlite_schema(connection, table) or "main")
        cursor.execute(
            f"SELECT name FROM (SELECT * FROM {schema}.sqlite_master UNION ALL SELECT * FROM "
            f"sqlite_temp_master) WHERE type = 'trigger' AND tbl_name = %s COLLATE NOCASE "
            f"ORDER BY name",
            [tables.split(connection, table)[1]],
        )
        for (name,) in cursor.fetchall():
            if name in compiled:
                yield f"the trigger {name}"


def _compiled_triggers(connection: Any, cursor: Any, sql: str) -> set[str]:
    """SQLite asks its authorizer about each step of a program, and names the step's trigger."""
    found = set()

    def allow(*action: Any) -> int:
        found.add(action[-1])
        return sqlite3.SQLITE_OK

    connection.connection.set_authorizer(allow)
    try:
        cursor.execute(f"EXPLAIN {sql}", [None] * sql.count("%s"))
    finally:
        connection.connection.set_authorizer(None)
    return found - {None}
