"""The column of ids that a backfill fills: found by its label, or refused with the reason."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import DEFAULT_DB_ALIAS, connections, models, router
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from ...db import tables
from ...errors import BackfillError, reading_migrations
from ...fields import SortableIDField
from ...fields.of_model import is_same, referenced_column
from ...models import BackfillRun, MoveNote
from ...schema import constraints
from ...schemes.support import nearest
from .target import POLICIES, Target, database_option


def find_field(label: str) -> tuple[type[models.Model], SortableIDField]:
    """Model and field of ``app.Model.field``; ``BackfillError`` if it can't be filled."""
    model, field = named_field(label)
    if field in model._meta.pk_fields:
        raise BackfillError(
            f"{label} is of the primary key, which is never empty. Add a second field, such as "
            f"public_id, to give the rows sortable ids; or replace the key and all that refers to "
            f"it: `manage.py backfill_ids {model._meta.label} --primary-key`"
        )
    return model, field


def named_field(label: str) -> tuple[type[models.Model], SortableIDField]:
    """Like ``find_field``, but accepts a primary key as well, which is filled already."""
    parts = label.split(".")
    if len(parts) != 3:
        raise BackfillError(f"{label!r}: expected app.Model.field, such as shop.Order.public_id")
    try:
        model = apps.get_model(parts[0], parts[1])
    except LookupError as error:
        raise BackfillError(f"{label}: {error}") from None
    # A proxy shares the table of its concrete model, so both names mean the same run.
    model = model._meta.concrete_model or model
    field = next((column for column in model._meta.fields if column.name == parts[2]), None)
    if not isinstance(field, SortableIDField):
        known = names_of(model, SortableIDField)
        raise BackfillError(
            f"{model._meta.label} has no sortable id {parts[2]!r}; its sortable ids: "
            f"{', '.join(known) or 'none'}{nearest(parts[2], known)}"
        )
    if field.model is not model:
        raise BackfillError(
            f"{label} is in the table of {field.model._meta.label}: name that model instead"
        )
    return model, field


def names_of(model: type[models.Model], field_type: type[models.Field[Any, Any]]) -> list[str]:
    return [field.name for field in model._meta.fields if isinstance(field, field_type)]


def database_of(label: str | None) -> str:
    """The database to which routers write ``app.Model.field``; the default one for None."""
    return router.db_for_write(named_field(label)[0]) if label else DEFAULT_DB_ALIAS


def last_run(label: str, using: str) -> BackfillRun | None:
    """The run on a field. Its label names the model that has the table, not a proxy."""
    return BackfillRun.objects.using(using).filter(target=label).first()


def same_options(run: BackfillRun, target: Target) -> bool:
    """Whether the run had the options of the target; its policies may differ."""
    return bool(run.options | {POLICIES: None} == target.options | {POLICIES: None})


def check_schema(model: type[models.Model], field: SortableIDField, using: str) -> None:
    """Raise ``BackfillError`` if the database lacks a required table or column."""
    connection = connections[using]
    for required in (model, BackfillRun, MoveNote):
        require_table(required, using)
    table = model._meta.db_table
    if not tables.has_column(connection, table, str(field.column)):
        makes = f"after `manage.py makemigrations {model._meta.app_label}` if no migration adds it"
        migrate = f"manage.py migrate {model._meta.app_label}{database_option(using)}"
        advice = f"run `{migrate}`, {makes}"
        if not model._meta.managed:
            advice = (
                f"{field.model._meta.label} is not managed, so no migration adds the column. Run "
                f"`{constraints.add_column(field, connection)}`"
            )
        raise BackfillError(f"{table} has no column {field.column} yet: {advice}")


def check_applied(model: type[models.Model], field: SortableIDField, using: str) -> None:
    """Raise ``BackfillError`` if the id, or the key, is another field in the applied migrations,
    which the table is of."""
    with reading_migrations():
        loader = MigrationLoader(connections[using])
    if model._meta.app_label in loader.unmigrated_apps:
        return
    state = loader.project_state([*loader.graph.nodes.keys() & loader.applied_migrations.keys()])
    for now in filter(None, (field, referenced_column(model._meta.pk))):
        known = state.models.get((now.model._meta.app_label, now.model._meta.model_name))
        was: Any = known and known.fields.get(now.name)
        old, new = (was, now) if isinstance(now, SortableIDField) else (now, was)
        if was and isinstance(new, SortableIDField) and not is_same(old, new, connections[using]):
            raise BackfillError(
                f"{now} is another field in the migrations that are applied, {type(was).__name__}: "
                f"run this with the code of these migrations, or run makemigrations and migrate "
                f"first; a key moves by --primary-key. Nothing was written."
            )


def require_table(model: type[models.Model], using: str) -> None:
    """Raise ``BackfillError`` if the database has no table of the model."""
    table = model._meta.db_table
    kind = tables.kind(connections[using], table)
    if kind == "view":
        raise BackfillError(
            f"{table} is a view: fill its underlying table, through a model of that table"
        )
    if kind is None:
        raise BackfillError(tables.lacking(model, using))
    recorded = MigrationRecorder.Migration._meta.db_table
    is_ours = model in (BackfillRun, MoveNote)
    schemas = is_ours and tables.two_schemas(connections[using], table, recorded)
    if schemas:
        raise BackfillError(
            f"{table} is in the schema {schemas[0]}, and {recorded} is in {schemas[1]}: tenants "
            f"would share the progress of their runs and moves. Let {schemas[1]} have its own "
            f"table: with django-tenants, add {model._meta.app_label} to TENANT_APPS, delete its "
            f"rows from {recorded} in the schemas of tenants, and migrate these"
        )
