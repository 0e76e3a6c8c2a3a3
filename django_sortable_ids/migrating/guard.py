"""Refuses, before ``migrate`` runs, plans that would copy one id into many rows or corrupt a key.

MariaDB and MySQL fill a new NOT NULL column with one value. Each node of a Galera cluster fills a
new column with a default on its own. When a column's type changes, SQLite keeps the integers of the
old key, and MariaDB turns them into garbage. None of this raises an error. The guard walks through
the plan and checks the tables that have rows.

``SORTABLE_IDS = {"GUARD_MIGRATIONS": False}`` turns it off. ``migrate --fake`` may need that, since
the guard can't tell it from ``migrate``. Code that calls ``MigrationExecutor`` bypasses the guard.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from django.apps import AppConfig
from django.apps.registry import Apps
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import truncate_name
from django.db.migrations import operations
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.migration import Migration
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import AutoField

from .. import conf
from ..db import row, tables, value
from ..errors import counted
from ..fields import SortableIDField
from ..fields.of_model import is_same, referenced_id
from ..fields.storage import storage_names
from ..schema.constraints_sqlite import refuse_orphans
from ..schema.stored_values import KEEP_DEFAULT, automatic_keys, misfit, misread, sampled

_AddOrAlter = operations.AddField | operations.AlterField


def check_migrations(
    *, sender: AppConfig, using: str, apps: Apps, plan: list[tuple[Migration, bool]], **_: Any
) -> None:
    """A receiver of ``pre_migrate``. Raises ``CommandError``, with what to do instead, if the plan
    would damage a table."""
    # Signals know a sender by its id, which another app's config may get when this one is gone.
    if sender.name != "django_sortable_ids" or not conf.get("GUARD_MIGRATIONS"):
        return
    if plan and all(migration.app_label == sender.label for migration, _ in plan):
        return  # They touch no table of the project, and other commands need them.
    connection = connections[using]
    # Imported here because they import the backfill.
    from ..primary_keys.operation import moves
    from . import unrecorded

    # Outside a transaction, an error that Django finds at the end doesn't undo a change.
    if connection.vendor == "sqlite" and any(
        moves(migration) or (not migration.atomic and _touches_ids(migration))
        for migration, _ in plan
    ):
        refuse_orphans(connection, "Nothing was migrated")
    loader = MigrationLoader(connection)
    changes = unrecorded.unrecorded_changes(connection, loader)
    stopped = [
        *unrecorded.refusals(connection, loader, plan, changes),
        *(f"{reason}. {KEEP_DEFAULT}" for _, reason in automatic_keys(connection)),
    ]
    if stopped:
        raise CommandError("\n".join(["Nothing was migrated.", *stopped]))
    forwards = [migration for migration, backwards in plan if not backwards]
    if not any(_touches_ids(migration, operations.AlterField) for migration in forwards):
        return
    walk = _Walk(connection, ProjectState.from_apps(apps))
    reasons = [
        f"{migration}, {refusal}"
        for migration in forwards
        for operation in migration.operations
        for refusal in walk.step(migration.app_label, operation)
    ]
    if reasons:
        raise CommandError("\n".join(["Nothing was migrated.", *reasons]))


@dataclass
class _Walk:
    """Compares each operation of the plan with its table as it is now."""

    connection: BaseDatabaseWrapper
    state: ProjectState
    """The models at this point of the plan."""
    tables: dict[tuple[str, str], str] = field(default_factory=dict)
    """Present names of tables that the plan renames, by (app, model) at this point; empty for one
    that it creates or deletes."""
    columns: dict[tuple[str, str], dict[str, str | None]] = field(default_factory=dict)
    """Present names of columns that it renames, by model and field; None for one that it adds."""

    def step(self, app_label: str, operation: Any) -> Iterator[str]:
        """The refusals of an operation; afterwards it is applied to the state."""
        if isinstance(operation, operations.SeparateDatabaseAndState):
            before = self.state.clone()
            for inner in operation.database_operations:
                yield from self.step(app_label, inner)
            renamed = {
                self.own_table(model): present
                for model, present in self.tables.items()
                if model in self.state.models
            }
            self.state = before
            operation.state_forwards(app_label, before)
            # The state may give a table to another model.
            for model in before.models.keys() - self.tables.keys():
                if self.own_table(model) in renamed:
                    self.tables[model] = renamed[self.own_table(model)]
            return
        fills_rows = getattr(operation, "fills_rows", False)
        if isinstance(operation, _AddOrAlter) and not fills_rows:
            reasons = islice(self.refusals(app_label, operation), 1)
            field = f"{app_label}.{operation.model_name}.{operation.name}"
            yield from (f"{field}: {reason}" for reason in reasons)
        self.follow(app_label, operation)
        operation.state_forwards(app_label, self.state)

    def follow(self, app_label: str, operation: Any) -> None:
        """Follow what the operation adds and renames, before the state does."""
        renamed = getattr(operation, "renamed_fields", ())
        match operation:
            case operations.RenameModel():
                old, new = (
                    (app_label, name)
                    for name in (operation.old_name_lower, operation.new_name_lower)
                )
                self.tables[new] = self.table(old)
                self.tables.pop(old, None)
                self.columns[new] = self.columns.pop(old, {})
            case operations.AlterModelTable():
                model = app_label, operation.name_lower
                self.tables[model] = self.table(model)
            case operations.CreateModel() | operations.DeleteModel():
                model = app_label, operation.name_lower
                self.tables[model] = ""
                self.columns.pop(model, None)
            case operations.AddField():
                model = app_label, operation.model_name_lower
                self.columns.setdefault(model, {})[operation.name] = None
            case operations.RenameField(old_name=old_name, new_name=new_name):
                renamed = [(old_name, new_name)]
            case operations.AlterField(name=name):
                renamed = [(name, name)]
        if renamed:
            model = app_label, operation.model_name_lower
            kept = {new: self.column(*model, old) for old, new in renamed}
            self.columns.setdefault(model, {}).update(kept)

    def table(self, model: tuple[str, str]) -> str:
        """The present name of the model's table; empty if there is none."""
        return self.tables[model] if model in self.tables else self.own_table(model)

    def own_table(self, model: tuple[str, str]) -> str:
        longest = self.connection.ops.max_name_length()
        db_table = self.state.models[model].options.get("db_table")
        return str(db_table or truncate_name("_".join(model), longest))

    def column(self, app_label: str, model_name: str, name: str) -> str | None:
        """The present name of a field's column; None if the plan adds it."""
        known = self.columns.get((app_label, model_name), {})
        if name in known:
            return known[name]
        # A model without a key of its own gets one when its state is rendered.
        named = self.state.models[app_label, model_name].fields.get(name, AutoField()).clone()
        named.set_attributes_from_name(name)
        return str(named.column)

    def refusals(self, app_label: str, operation: _AddOrAlter) -> Iterator[str]:
        """Why the operation would damage a table with rows."""
        new: Any = operation.field
        is_id, model_name = isinstance(new, SortableIDField), operation.model_name_lower
        connection, table = self.connection, self.table((app_label, model_name))
        if not table:
            return
        is_added = isinstance(operation, operations.AddField)
        if not is_id:
            # Only what is an id or a relation now, and no relation afterwards, may leave ids.
            was = self.state.models[app_label, model_name].fields.get(operation.name)
            has_ids = was and (isinstance(was, SortableIDField) or was.is_relation)
            if is_added or new.is_relation or not has_ids:
                return
        if is_added and new.null and not new.has_db_default():
            return  # To render the state would take long in a large project.
        some = f"SELECT 1 FROM {connection.ops.quote_name(table)} LIMIT 1"
        if tables.kind(connection, table) != "table" or not row(connection, some):
            return
        historical = self.state.clone().apps.get_model(app_label, model_name)
        if not operation.allow_migrate_model(connection.alias, historical):
            return
        if is_added and not new.has_db_default():
            yield (
                "the table has rows, and one id would be copied into all of them. Delete this "
                "migration, or its change, and add the field with null=True (without primary_key); "
                "fill it with `manage.py backfill_ids`, and then alter it to NOT NULL."
            )
        elif is_added:
            # Each node of a Galera cluster executes an ALTER TABLE itself.
            sql = "SHOW VARIABLES LIKE 'wsrep_on'"
            if connection.vendor == "mysql" and row(connection, sql) == ("wsrep_on", "ON"):
                yield (
                    "the table has rows, and each node of the Galera cluster would generate other "
                    "ids for them. Add the field with null=True and without db_default, fill it "
                    "with `manage.py backfill_ids`, and then alter it."
                )
        else:
            old = historical._meta.get_field(operation.name)
            column = self.present(table, historical, operation.name)
            if is_id:
                yield from self.refusals_of_type(table, column, old, new)
            if column:
                yield from self.refusals_of_values(table, column, old, new)
            if is_id and old.null and not new.null:
                yield from self.refusals_of_null(table, column)

    def refusals_of_type(self, table: str, column: str | None, old: Any, new: Any) -> Iterator[str]:
        before, after = (tables.family(each.db_type(self.connection)) for each in (old, new))
        if self.connection.vendor == "mysql" and before == "uuid" and column:
            # Django 4 created char(32), which Django 5 leaves as it is.
            info = tables.column_info(self.connection, table, column)
            before = tables.family(info and info.kind)
            if (before, after) == ("text", "uuid"):
                table, column = map(self.connection.ops.quote_name, (table, column))
                yield (
                    f"the table has rows, and its column is no uuid but a char, as Django 4 "
                    f'created it. Give the field storage="char32", or change the column first: '
                    f"ALTER TABLE {table} MODIFY {column} uuid, as in all columns that refer to it."
                )
        if before != after:
            yield _altered(old, f"the column would get another type, {after} instead of {before}.")

    def refusals_of_values(self, table: str, column: str, old: Any, new: Any) -> Iterator[str]:
        """Sampled values that are no ids of the new field, or other ids; or that a field without
        ids would read as other values."""
        is_id, was = isinstance(new, SortableIDField), referenced_id(old)
        if (is_id and is_same(old, new, self.connection)) or not (is_id or was):
            return
        pk = self.present(table, old.model, old.model._meta.pk_fields[0].name)
        values = sampled(self.connection, table, column, pk)
        if is_id:
            late_share = 0.5 if "sortable_ids.W011" in settings.SILENCED_SYSTEM_CHECKS else 0
            reason = misfit(values, new, self.connection, old, (table, column), late_share)
            checked = f"{len(values):,} values were checked, from both ends and the middle"
            what = f"{reason} {checked} of the table."
            declare = (
                " Or declare what the values are, if they may stay (UUIDs of other versions by "
                "accept_other_versions=True)."
            )
            if reason and reason.advice:
                yield f"the table has rows, and an AlterField changes no value: {what}"
            elif reason and isinstance(old, SortableIDField):
                yield _altered(old, what)
            elif reason:
                yield _altered(old, what) + declare
        elif was:
            for sample in values:
                if why := misread(sample, was, new, self.connection):
                    storage = storage_names(was.scheme)[-1]
                    what = f'{why}. First store the ids otherwise, by storage="{storage}".'
                    yield _altered(was, what)

    def refusals_of_null(self, table: str, column: str | None) -> Iterator[str]:
        if column is None:
            # Without strict mode, MariaDB and MySQL turn NULL into zeros for NOT NULL.
            if self.connection.vendor == "mysql" and (
                "STRICT_" not in value(self.connection, "SELECT @@sql_mode")
            ):
                yield (
                    "the same plan adds the column, and this server, which is not in strict mode, "
                    "would give one id to all rows that have none. Migrate up to the migration "
                    "before this one, fill the rows with `manage.py backfill_ids`, and migrate the "
                    "rest; or set a strict sql_mode."
                )
            return
        quote = self.connection.ops.quote_name
        sql = f"SELECT COUNT(*) FROM {quote(table)} WHERE {quote(column)} IS NULL"
        if missing := value(self.connection, sql):
            yield (
                f"{counted(missing, 'row')} without an id: NOT NULL would fail, or copy one id "
                f"into all of them. Migrate up to the migration before this one, fill them with "
                f"`manage.py backfill_ids`, and migrate the rest; or keep null=True."
            )

    def present(self, table: str, model: Any, name: str) -> str | None:
        """``column``; None if the table has none, as where a RunSQL of the plan adds it."""
        column = self.column(model._meta.app_label, model._meta.model_name, name)
        return column if column and tables.has_column(self.connection, table, column) else None


def _altered(old: Any, what: str) -> str:
    advice = (
        f"Add a second field with null=True, fill it with `manage.py backfill_ids`, such as "
        f"--convert-from {old.name}, and swap the two by SwapSortableID."
    )
    if old.primary_key:
        advice = (
            f"Delete the changes of the key and of a field for the old one, and let `manage.py "
            f"backfill_ids {old.model._meta.app_label} --primary-key --write-migration` write a "
            f"migration that moves the key."
        )
    return f"the table has rows, and an AlterField changes no value: {what} {advice}"


def _touches_ids(migration: Migration, *kinds: type[Operation]) -> bool:
    """Whether it adds or alters sortable ids in the database, or has operations of these kinds."""
    from ..primary_keys.operation import operations_of  # imports the backfill

    return any(
        isinstance(step, kinds)
        or (isinstance(step, _AddOrAlter) and isinstance(step.field, SortableIDField))
        for step in operations_of(migration.operations)
    )
