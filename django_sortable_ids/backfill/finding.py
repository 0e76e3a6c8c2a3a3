"""Finds the target of a backfill, or says why a column can't be filled."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.db import DEFAULT_DB_ALIAS, connections, models, router

from ..fields import SortableIDField
from ..models import BackfillRun, VerificationRun
from .errors import BackfillError
from .target import Target, database_option


def find(label: str, created_from: str | None, using: str) -> Target:
    """The target ``app.Model.field``; ``BackfillError`` for what can't be filled.

    ``created_from`` None means what the last run on the target took.
    """
    return of_model(*find_field(label), created_from, using)


def find_field(label: str) -> tuple[type[models.Model], SortableIDField]:
    """Model and field of ``app.Model.field``; ``BackfillError`` for what can't be filled."""
    model, field = _find_field(label)
    if field in model._meta.pk_fields:
        part = "" if field.primary_key else "part of "
        raise BackfillError(
            f"{label} is {part}the primary key, and a key is never empty. Add a second field, such "
            f"as public_id, to give the rows sortable ids"
        )
    return model, field


def of_model(
    model: type[models.Model], field: SortableIDField, created_from: str | None, using: str
) -> Target:
    """As ``find``, of a model that may be a historical one of a migration."""
    check_tables(model, field, using)
    source = _find_source(model, created_from or _last_source(model, field, using))
    return Target(model, field, source, using)


def _find_field(label: str) -> tuple[type[models.Model], SortableIDField]:
    parts = label.split(".")
    if len(parts) != 3:
        raise BackfillError(f"{label!r}: expected app.Model.field, such as shop.Order.public_id")
    try:
        model = apps.get_model(parts[0], parts[1])
    except LookupError as error:
        raise BackfillError(f"{label}: {error}") from None
    if model._meta.abstract or model._meta.proxy or not model._meta.managed:
        raise BackfillError(f"{model._meta.label} has no table of its own: it is not managed")
    try:
        field = model._meta.get_field(parts[2])
    except FieldDoesNotExist:
        known = ", ".join(
            each.name for each in model._meta.fields if isinstance(each, SortableIDField)
        )
        raise BackfillError(
            f"{model._meta.label} has no field {parts[2]!r}; its sortable ids: {known or 'none'}"
        ) from None
    if not isinstance(field, SortableIDField):
        raise BackfillError(f"{label} is a {type(field).__name__}, not a sortable id")
    if field.model is not model:
        raise BackfillError(f"{label} is in the table of {field.model._meta.label}: name that one")
    return model, field


def _find_source(
    model: type[models.Model], created_from: str | None
) -> models.DateTimeField[Any, Any]:
    times = [each for each in model._meta.fields if isinstance(each, models.DateTimeField)]
    for each in times:
        if each.name == created_from:
            return each
    name = model._meta.label
    other = next((each for each in model._meta.fields if each.name == created_from), None)
    if other is not None:
        raise BackfillError(
            f"{name}.{created_from} is a {type(other).__name__}, and creation times come from a "
            f"DateTimeField: add one, and copy the times into it, with the zone and the time of "
            f"day that they mean"
        )
    if not times:
        raise BackfillError(
            f"{name} has no DateTimeField to take creation times from, and ids can't be given the "
            f"times that nobody recorded"
        )
    known = ", ".join(each.name for each in times)
    if created_from is None:
        raise BackfillError(f"say where creation times come from: --created-from, one of {known}")
    raise BackfillError(f"{name} has no DateTimeField {created_from!r}; it has {known}")


def _last_source(model: type[models.Model], field: SortableIDField, using: str) -> str | None:
    runs = BackfillRun.objects.using(using).filter(target=f"{model._meta.label}.{field.name}")
    options = runs.values_list("options", flat=True).first()
    return options["created_from"] if options else None


def database_of(label: str | None) -> str:
    """Where routers write the model of ``app.Model.field``; the default database for None."""
    return router.db_for_write(find_field(label)[0]) if label else DEFAULT_DB_ALIAS


def check_tables(model: type[models.Model], field: SortableIDField, using: str) -> None:
    """Raise ``BackfillError`` where the database lacks the tables or the column."""
    connection = connections[using]
    where = database_option(using)
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        views = connection.introspection.table_names(cursor, include_views=True)
        for each in (model, BackfillRun, VerificationRun):
            if each._meta.db_table in views and each._meta.db_table not in tables:
                raise BackfillError(
                    f"{each._meta.db_table} is a view: fill the table behind it, by a model of "
                    f"that table"
                )
            if each._meta.db_table not in tables:
                raise BackfillError(
                    f"the database {using!r} has no table {each._meta.db_table}: "
                    f"{_how_to_make(each, using)}"
                )
        description = connection.introspection.get_table_description(cursor, model._meta.db_table)
    if field.column not in {each.name for each in description}:
        raise BackfillError(
            f"{model._meta.db_table} has no column {field.column} yet: run "
            f"`manage.py migrate {model._meta.app_label}{where}`"
        )


def _how_to_make(model: type[models.Model], using: str) -> str:
    """What to do where the table of the model is missing."""
    label = model._meta.app_label
    migrate = f"run `manage.py migrate {label}{database_option(using)}`"
    if router.allow_migrate_model(using, model):
        return migrate
    if model in (BackfillRun, VerificationRun):
        return (
            f"allow the app {label} there in allow_migrate() of your DATABASE_ROUTERS, since a run "
            f"is kept beside the rows that it fills, and {migrate}"
        )
    return f"your DATABASE_ROUTERS keep {model._meta.label} out of it; name its own by --database"
