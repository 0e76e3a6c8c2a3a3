"""Names of indexes and constraints that Django derives from the names of their columns.

When columns swap their names, these names must follow. Otherwise a later migration fails because
the name of its new index is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db import models

from ..db import tables

_SUFFIXES = ("", "_uniq", "_like", "_notnull")
Quote = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Renaming:
    old: str
    new: str
    columns: tuple[str, ...]
    """Their names after the swap."""
    unique: bool
    is_constraint: bool
    schema: str | None
    """The table's; None if the database looks for it itself."""

    @property
    def temporary(self) -> str:
        return f"swapped__{self.old}"[:60]

    def on_mysql(self, quote: Quote) -> str:
        return f"RENAME INDEX {quote(self.old)} TO {quote(self.new)}"

    def free_old_name(self, quote: Quote, table: str, vendor: str) -> str:
        """The statement that frees the old name, which another index may get."""
        if vendor == "sqlite":
            return f"DROP INDEX {quote(self.old)}"
        return self._rename(quote, table, self.old, self.temporary)

    def take_new_name(self, quote: Quote, table: str, vendor: str) -> str:
        if vendor == "sqlite":
            columns = ", ".join(map(quote, self.columns))
            kind = "UNIQUE INDEX" if self.unique else "INDEX"
            return f"CREATE {kind} {quote(self.new)} ON {quote(table)} ({columns})"
        return self._rename(quote, table, self.temporary, self.new)

    def _rename(self, quote: Quote, table: str, old: str, new: str) -> str:
        if self.is_constraint:
            return f"ALTER TABLE {quote(table)} RENAME CONSTRAINT {quote(old)} TO {quote(new)}"
        where = f"{quote(self.schema)}." if self.schema else ""
        return f"ALTER INDEX {where}{quote(old)} RENAME TO {quote(new)}"


def renamings(editor: Any, model: type[models.Model], moves: dict[str, str]) -> list[Renaming]:
    """How to rename the indexes and constraints whose names derive from the columns in ``moves``,
    which maps old names of columns to new ones."""
    table = model._meta.db_table
    connection, fold = editor.connection, tables.folded
    new_names = {fold(connection, old): new for old, new in moves.items()}
    indexes, (schema, _) = _indexes(connection, table), tables.split(connection, table)
    renamed = []
    for name, each in indexes.items():
        columns = tuple(each["columns"])
        if None in columns:  # an expression
            continue
        after = tuple(new_names.get(fold(connection, column), column) for column in columns)
        new = _derived(editor, table, name, columns, after)
        if new and new != name:
            kind = each["unique"], not each["index"]
            renamed.append(Renaming(name, new, after, *kind, schema))
    taken = {*indexes} - {each.old for each in renamed}
    return [each for each in renamed if each.new not in taken]


def unnamed(
    connection: Any, field: models.Field[Any, Any], table: str = "", **wanted: Any
) -> list[str]:
    """Constraints and indexes on the field's column alone that the model's Meta doesn't name.

    ``table`` is another table than the model's, ``wanted`` is as for ``tables.names_of``.
    """
    meta = field.model._meta
    named = {each.name for each in [*meta.constraints, *meta.indexes]}
    names = tables.names_of(connection, table or meta.db_table, str(field.column), **wanted)
    return [name for name in names if name not in named]


def _derived(
    editor: Any, table: str, name: str, columns: tuple[str, ...], after: tuple[str, ...]
) -> str | None:
    """The name for the columns ``after``, if ``name`` derives from ``columns``; else None."""
    for suffix in _SUFFIXES:
        if name == editor._create_index_name(table, list(columns), suffix=suffix):
            return str(editor._create_index_name(table, list(after), suffix=suffix))
    inline = {"postgresql": "{table}_{column}_key", "mysql": "{column}"}.get(
        editor.connection.vendor
    )
    if inline and len(columns) == 1 and name == inline.format(table=table, column=columns[0]):
        return inline.format(table=table, column=after[0])
    return None


def _indexes(connection: Any, table: str) -> dict[str, Any]:
    """Django's description of the indexes and of their constraints, by name."""
    if connection.vendor != "sqlite":
        described = tables.constraints(connection, table)
        return {name: each for name, each in described.items() if each["index"] or each["unique"]}
    if tables.split(connection, table)[0]:
        return {}
    # Others couldn't be created again from their columns.
    return {
        name: each
        for name, each in tables.constraints(connection, table).items()
        if each.get("plain") and not each["partial"] and not name.startswith("sqlite_")
    }
