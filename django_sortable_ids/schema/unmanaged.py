"""The statements for tables that no migration changes, because of ``managed = False``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..db import tables
from ..db.tables import is_unique, may_be_null
from ..fields import SortableIDField
from .constraints import constrain as alter
from .constraints import redefined


def how_to_add(field: SortableIDField, connection: Any) -> str | None:
    """What to run to add the column; None if a migration does that."""
    if field.model._meta.managed:
        return None
    return (
        f"{field.model._meta.label} is not managed, so no migration adds the column. Run "
        f"`{add_column(field, connection)}`"
    )


def add_column(field: SortableIDField, connection: Any) -> str:
    """The statement that adds the column, without constraints because it is empty at first."""
    editor, quote = _editor(connection), connection.ops.quote_name
    definition, _ = editor.column_sql(field.model, _plain(field))
    table = quote(field.model._meta.db_table)
    return f"ALTER TABLE {table} ADD COLUMN {quote(str(field.column))} {definition}"


def lacks(connection: Any, table: str, column: str, new: SortableIDField) -> bool:
    """Whether the column lacks a constraint that ``constrain`` adds."""
    is_nullable = connection.vendor != "sqlite" and may_be_null(connection, table, column)
    return is_nullable or (new.unique and not is_unique(connection, table, column))


def constrain(field: SortableIDField, new: SortableIDField, connection: Any) -> Iterator[str]:
    """The statements that give a filled column the constraints of ``new``."""
    editor, model = _editor(connection), field.model
    if connection.vendor == "sqlite":
        # SQLite can't add NOT NULL to a column.
        quote, table = connection.ops.quote_name, model._meta.db_table
        schema, plain = tables.split(connection, table)
        name = quote(f"{plain}_{field.column}_uniq")
        where = f"{quote(schema)}.{name}" if schema else name
        yield f"CREATE UNIQUE INDEX {where} ON {quote(plain)} ({quote(str(field.column))});"
        return
    new.set_attributes_from_name(field.name)
    new.model = model
    alter(editor, _plain(field), new)
    yield from editor.collected_sql


def _plain(field: SortableIDField) -> Any:
    """The field as it is first added: nullable and without constraints."""
    plain = redefined(field, "unique", "db_index", null=True)
    plain.set_attributes_from_name(field.name)
    plain.model = field.model
    return plain


def _editor(connection: Any) -> Any:
    """A schema editor that only collects statements."""
    editor = connection.schema_editor(collect_sql=True, atomic=False)
    editor.deferred_sql = []
    return editor
