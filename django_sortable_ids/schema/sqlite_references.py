"""Foreign keys of a SQLite database, which may not have been enforced."""

from __future__ import annotations

from typing import Any

from django.db import DatabaseError

from ..db.tables import folded_in_sqlite
from ..errors import BackfillError


def refuse_orphans(connection: Any, label: str) -> None:
    """Raise ``BackfillError`` where a row of any table refers to none.

    Django looks for such rows at the end of every migration on SQLite, when the change is there.
    """
    try:
        connection.check_constraints()
    except DatabaseError as error:
        raise BackfillError(
            f"{label}: {str(error).rstrip('.')}. Django ends no migration on SQLite with that: "
            f"correct or delete what `PRAGMA foreign_key_check` lists, and migrate again"
        ) from error


def refuse_references(connection: Any, label: str, table: str, column: str) -> None:
    """Raise ``BackfillError`` where a foreign key refers to the column, which has to be unique."""

    def fold(name: str | None) -> str:
        return folded_in_sqlite(name or "")

    with connection.cursor() as cursor:
        cursor.execute(
            'SELECT m.name, f."from", f."table", f."to" FROM main.sqlite_master AS m, '
            "pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'"
        )
        found = [
            f"{child}.{key}"
            for child, key, parent, to in cursor.fetchall()
            if fold(parent) == fold(table) and fold(to) == fold(column)
        ]
    if found:
        raise BackfillError(
            f"{label}: {', '.join(found)} refers to it by a foreign key, for which it has to be "
            f"unique: take that away first, and migrate again; nothing was changed"
        )
