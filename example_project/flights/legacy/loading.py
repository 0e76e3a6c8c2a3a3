"""Fills the tables of migration 0001, each in one transaction."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from django.apps import apps
from django.apps.registry import Apps
from django.db import connection, models, transaction
from django.db.migrations.loader import MigrationLoader

from .tables import Reference, Table

BATCH_ROWS = 2000

Row = dict[str, str]
Convert = Callable[[Row], Any]
"""Makes a value for the database out of a row of the file."""


def legacy_models() -> Apps:
    """The models as they were in migration 0001."""
    return MigrationLoader(connection).project_state(("flights", "0001_initial")).apps


def is_loaded(table: Table) -> bool:
    """Whether the table is there and has rows; ``load`` leaves none or all of them."""
    model = apps.get_model("flights", table.model)
    if model._meta.db_table not in connection.introspection.table_names():
        return False
    return model._default_manager.exists()


def load(table: Table, rows: Iterator[Row], legacy: Apps, progress: Callable[[int], None]) -> None:
    """Insert all rows, or none where it is stopped; the database gives them their integer keys."""
    model = legacy.get_model("flights", table.model)
    converters = _converters(table, model)
    statement = _insert(model, list(converters))
    with transaction.atomic(), connection.cursor() as cursor:
        while batch := [
            [convert(row) for convert in converters.values()] for row in islice(rows, BATCH_ROWS)
        ]:
            cursor.executemany(statement, batch)
            progress(len(batch))


def _converters(table: Table, model: type[models.Model]) -> dict[str, Convert]:
    """How each column is filled, by its name in the database."""
    converters: dict[str, Convert] = {}
    for name, column in table.columns.items():
        field = model._meta.get_field(name)
        converters[field.column] = _value(field, column)
    for name, reference in table.references.items():
        field = model._meta.get_field(name)
        converters[field.column] = _key(field.related_model, reference)
    return converters


def _value(field: models.Field, column: str) -> Convert:
    empty = "" if isinstance(field, models.CharField) else None

    def convert(row: Row) -> Any:
        text = row[column]
        return field.get_db_prep_save(empty if text == "NA" else text, connection)

    return convert


def _key(model: type[models.Model], reference: Reference) -> Convert:
    keys = dict(model.objects.values_list(reference.key, "pk"))
    return lambda row: keys.get(row[reference.column])


def _insert(model: type[models.Model], columns: list[str]) -> str:
    quote = connection.ops.quote_name
    names = ", ".join(map(quote, columns))
    places = ", ".join(["%s"] * len(columns))
    return f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({places})"
