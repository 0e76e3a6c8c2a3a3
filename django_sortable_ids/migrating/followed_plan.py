"""The models at one point of a migration plan, and the present names of their columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import truncate_name
from django.db.migrations.operations import (
    AddField,
    AlterField,
    AlterModelTable,
    DeleteModel,
    RenameField,
    RenameModel,
)
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


@dataclass
class FollowedPlan:
    """Maps names at this point of the plan to present ones, before ``migrate`` has renamed them."""

    connection: BaseDatabaseWrapper
    state: ProjectState
    _tables: dict[str, str] = field(default_factory=dict)
    """Present names of tables that the plan renames, by their names at this point; empty for a
    table that no longer exists at this point."""
    _columns: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """Present names of columns that the plan renames, None for columns that it adds, by the
    table's present name and the column's name at this point."""

    def table(self, app_label: str, model_name: str) -> str:
        """The present name of the model's table; empty if there is none."""
        table, _ = self.names(app_label, model_name, None)
        return self._tables.get(table, table)

    def column(self, table: str, column: str) -> str | None:
        """The present name of a column; None if the plan adds the column. ``table`` is the table's
        present name, ``column`` the column's name at this point."""
        return self._columns.get((table, column), column)

    def apply(self, app_label: str, operation: Operation) -> None:
        """Apply an operation to the state, and follow what it adds and renames."""
        swapped: tuple[str, ...] = getattr(operation, "swapped_fields", ())
        if swapped:
            self._swap(app_label, operation, swapped)
            return
        old: tuple[str, str | None]
        new: tuple[str, str | None]
        match operation:
            case RenameModel():
                old, new = (operation.old_name_lower, None), (operation.new_name_lower, None)
            case AlterModelTable():
                old = new = (operation.name_lower, None)
            case RenameField():
                model_name = operation.model_name_lower
                old, new = (model_name, operation.old_name), (model_name, operation.new_name)
            case AlterField():
                old = new = (operation.model_name_lower, operation.name)
            case DeleteModel():
                table, _ = self.names(app_label, operation.name_lower, None)
                operation.state_forwards(app_label, self.state)
                self._tables[table] = ""
                return
            case AddField():
                operation.state_forwards(app_label, self.state)
                table, column = self.names(app_label, operation.model_name_lower, operation.name)
                self._columns[self._tables.get(table, table), column] = None
                return
            case _:
                operation.state_forwards(app_label, self.state)
                return
        table, column = self.names(app_label, *old)
        operation.state_forwards(app_label, self.state)
        new_table, new_column = self.names(app_label, *new)
        present = self._tables.get(table, table)
        self._tables |= {table: ""} | {new_table: present}
        if column:
            self._columns[present, new_column] = self._columns.pop((present, column), column)

    def _swap(self, app_label: str, operation: Any, names: tuple[str, ...]) -> None:
        model_name = operation.model_name_lower
        before = [self.names(app_label, model_name, name) for name in names]
        table = self._tables.get(before[0][0], before[0][0])
        columns = [self._columns.pop((table, column), column) for _, column in before]
        operation.state_forwards(app_label, self.state)
        for name, present in zip(reversed(names), columns, strict=True):
            self._columns[table, self.names(app_label, model_name, name)[1]] = present

    def names(self, app_label: str, model_name: str, field_name: str | None) -> tuple[str, str]:
        """The names of the table and of a field's column at this point of the plan."""
        model = self.state.models[app_label, model_name]
        table = model.options.get("db_table") or truncate_name(
            f"{app_label}_{model_name}", self.connection.ops.max_name_length()
        )
        if field_name is None:
            return table, ""
        named = model.fields[field_name].clone()
        named.set_attributes_from_name(field_name)
        return table, named.column
