"""Refuses, before ``migrate`` runs, what would copy one id into many rows or corrupt a key.

MariaDB and MySQL fill a new NOT NULL column with one value, and the nodes of a Galera cluster one
with a default each for itself. Where a column's type changes SQLite keeps the integers of an old
key as they are, MariaDB turns them into garbage. All that without an error. The guard walks through
the plan and looks at the tables that have rows.

``SORTABLE_IDS = {"GUARD_MIGRATIONS": False}`` turns it off. ``migrate --fake`` looks the same from
here and may need that; code that calls ``MigrationExecutor`` itself goes past it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.apps import AppConfig
from django.apps.registry import Apps
from django.core.management.base import CommandError
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import truncate_name
from django.db.migrations.migration import Migration
from django.db.migrations.operations import (
    AddField,
    AlterField,
    AlterModelTable,
    DeleteModel,
    RenameField,
    RenameModel,
    SeparateDatabaseAndState,
)
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models.signals import pre_migrate

from . import conf
from .fields import SortableIDField
from .schemes import InvalidID, Scheme

_KINDS = {
    "integer": r"(big|medium|small|tiny)?(int|integer|serial)\b",
    "uuid": r"uuid\b",
    "text": r"((var)?char|character|(long|medium|tiny)?text)\b",
    "bytes": r"(bytea|(long|medium|tiny)?blob|(var)?binary)\b",
}


def register(app_config: AppConfig) -> None:
    """Have every plan checked; called once, when the app is ready."""
    pre_migrate.connect(
        check_plan, sender=app_config, dispatch_uid="django_sortable_ids.migration_guard"
    )


def check_plan(*, using: str, apps: Apps, plan: list[tuple[Migration, bool]], **_: Any) -> None:
    """Raise ``CommandError``, with what to do instead, where the plan would damage a table."""
    forwards = [migration for migration, backwards in plan if not backwards]
    touched = any(
        _touches_an_id(operation) for migration in forwards for operation in migration.operations
    )
    if not touched or not conf.guard_migrations():
        return
    walk = _Walk(connections[using], ProjectState.from_apps(apps))
    refusals = [refusal for migration in forwards for refusal in walk.through(migration)]
    if refusals:
        raise CommandError("\n".join(["Nothing was migrated.", *refusals]))


@dataclass
class _Walk:
    """Follows the state of the models through the plan, beside the tables as they are now."""

    connection: BaseDatabaseWrapper
    state: ProjectState
    tables: dict[str, str] = field(default_factory=dict)
    """The present name of a table that the plan renames, by its name at this point of it; an empty
    one for what is no longer there."""
    columns: dict[tuple[str, str], str | None] = field(default_factory=dict)
    """The present name of a column that the plan renames, None for one that it adds, by the
    table's present name and the column's name at this point."""

    def through(self, migration: Migration) -> Iterator[str]:
        for operation in migration.operations:
            for refusal in self.step(migration.app_label, operation):
                yield f"{migration}, {refusal}"

    def step(self, app_label: str, operation: Operation) -> Iterator[str]:
        """What is to be refused of an operation; afterwards its changes are made to the state."""
        if isinstance(operation, SeparateDatabaseAndState):
            before = self.state.clone()
            for inner in operation.database_operations:
                yield from self.step(app_label, inner)
            self.state = before
            operation.state_forwards(app_label, self.state)
            return
        fills_rows = getattr(operation, "fills_rows", False)
        if (
            isinstance(operation, AddField | AlterField)
            and _touches_an_id(operation)
            and not fills_rows
        ):
            refusal = self.refusal(app_label, operation)
            if refusal:
                yield f"{app_label}.{operation.model_name}.{operation.name}: {refusal}"
        self.apply(app_label, operation)

    def apply(self, app_label: str, operation: Operation) -> None:
        """Make the changes of an operation to the state, and follow what it adds and renames."""
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
                table, _ = self.place(app_label, operation.name_lower, None)
                operation.state_forwards(app_label, self.state)
                self.tables[table] = ""
                return
            case AddField():
                operation.state_forwards(app_label, self.state)
                table, column = self.place(app_label, operation.model_name_lower, operation.name)
                self.columns[self.tables.get(table, table), column] = None
                return
            case _:
                operation.state_forwards(app_label, self.state)
                return
        table, column = self.place(app_label, *old)
        operation.state_forwards(app_label, self.state)
        new_table, new_column = self.place(app_label, *new)
        present = self.tables.get(table, table)
        self.tables |= {table: ""} | {new_table: present}
        if column:
            self.columns[present, new_column] = self.columns.pop((present, column), column)

    def place(self, app_label: str, model_name: str, field_name: str | None) -> tuple[str, str]:
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

    def refusal(self, app_label: str, operation: AddField | AlterField) -> str | None:
        model_name = operation.model_name_lower
        table, _ = self.place(app_label, model_name, None)
        table = self.tables.get(table, table)
        if not self.has_rows(table):
            return None
        new: Any = operation.field
        if isinstance(operation, AddField):
            if new.has_db_default():
                return _ADD_ON_EACH_NODE if self.is_a_galera_node() else None
            return None if new.null else _ADD
        historical = self.state.clone().apps.get_model(app_label, model_name)
        old = historical._meta.get_field(operation.name)
        kinds = [_kind(each.db_type(self.connection)) for each in (old, new)]
        if kinds[0] != kinds[1]:
            return _ALTER_TYPE.format(old=kinds[0], new=kinds[1])
        column = self.columns.get((table, old.column), old.column)
        if kinds[0] == "integer" and column and new.scheme != getattr(old, "scheme", None):
            misfit = self.misfit(table, column, new.scheme)
            if misfit:
                return _ALTER_NUMBERS.format(misfit=misfit)
        if not old.null or new.null:
            return None
        if column is None:
            return _ALTER_ADDED if self.fills_with_zeros() else None
        missing = self.nulls(table, column)
        return _ALTER_NULL.format(missing=missing) if missing else None

    def has_rows(self, table: str) -> bool:
        with self.connection.cursor() as cursor:
            if table not in self.connection.introspection.table_names(cursor):
                return False
            cursor.execute(f"SELECT 1 FROM {self.connection.ops.quote_name(table)} LIMIT 1")
            return cursor.fetchone() is not None

    def misfit(self, table: str, column: str, scheme: Scheme) -> str | None:
        """Why the least or the greatest number of a column is no id of the scheme."""
        quote = self.connection.ops.quote_name
        name = quote(column)
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT MIN({name}), MAX({name}) FROM {quote(table)}")
            ends = cursor.fetchone()
        try:
            for number in ends:
                if number is not None:
                    scheme.from_int(number)
        except InvalidID as error:
            return str(error)
        return None

    def nulls(self, table: str, column: str) -> int:
        quote = self.connection.ops.quote_name
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT COUNT(*) FROM {quote(table)} WHERE {quote(column)} IS NULL")
            return int(cursor.fetchone()[0])

    def fills_with_zeros(self) -> bool:
        """Whether the database is a MariaDB or MySQL that turns NULL to zeros for NOT NULL."""
        if self.connection.vendor != "mysql":
            return False
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT @@sql_mode")
            return "STRICT_" not in cursor.fetchone()[0]

    def is_a_galera_node(self) -> bool:
        """Whether an ALTER TABLE is executed by each node, and not its result copied."""
        if self.connection.vendor != "mysql":
            return False
        with self.connection.cursor() as cursor:
            cursor.execute("SHOW VARIABLES LIKE 'wsrep_on'")
            return bool(cursor.fetchone() == ("wsrep_on", "ON"))


def _touches_an_id(operation: Operation) -> bool:
    """Whether the operation adds or alters a sortable id in the database."""
    if isinstance(operation, SeparateDatabaseAndState):
        return any(map(_touches_an_id, operation.database_operations))
    return isinstance(operation, AddField | AlterField) and isinstance(
        operation.field, SortableIDField
    )


def _kind(db_type: str | None) -> str | None:
    for kind, pattern in _KINDS.items():
        if re.match(pattern, db_type or "", re.IGNORECASE):
            return kind
    return db_type


_ADD = (
    "the table has rows, and one id would be copied into all of them. Add the field with null=True "
    "(without primary_key), fill it with `manage.py backfill_ids`, and alter it to NOT NULL then."
)
_ADD_ON_EACH_NODE = (
    "the table has rows, and each node of the Galera cluster would make other ids for them. Add "
    "the field with null=True and without db_default, fill it with `manage.py backfill_ids`, and "
    "alter it then."
)
_ALTER_NULL = (
    "{missing} rows have no id yet, and one would be copied into all of them. Fill them first with "
    "`manage.py backfill_ids`."
)
_ALTER_ADDED = (
    "the column is added by the same plan, and this server, which is not in strict mode, would "
    "give one id to all rows that are still empty then. Migrate up to the step before, fill them "
    "with `manage.py backfill_ids`, and go on; or set a strict sql_mode."
)
_ALTER_NUMBERS = (
    "the table has rows, and their numbers would be taken for ids: {misfit} Add a new field with "
    "null=True and fill it with `manage.py backfill_ids`."
)
_ALTER_TYPE = (
    "the table has rows, and a change of the column's type from {old} to {new} maps no value. Add "
    "a new field with null=True and fill it with `manage.py backfill_ids`."
)
