"""Tables that no migration has made, and models of them, for as long as a test needs both."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from io import StringIO
from typing import Any

from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, models

from django_sortable_ids.fields import SortableIDField

TIME = {"postgresql": "timestamptz", "mysql": "datetime(6)", "sqlite": "datetime"}
KEY = {
    "postgresql": "bigint PRIMARY KEY",
    "mysql": "bigint PRIMARY KEY",
    "sqlite": "integer PRIMARY KEY",
}


def execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@contextmanager
def in_registry(*names: str) -> Iterator[None]:
    """Have the models of these names, which the block defines in the app ``shop``, forgotten."""
    try:
        yield
    finally:
        for name in names:
            apps.all_models["shop"].pop(name.lower(), None)
        apps.clear_cache()


def define(name: str, table: str, managed: bool = True, **fields: Any) -> type[models.Model]:
    """A model of the app ``shop``."""
    meta = type("Meta", (), {"app_label": "shop", "db_table": table, "managed": managed})
    content = {"Meta": meta, "__module__": "tests.backfill.shop.models", **fields}
    return type(name, (models.Model,), content)


def insert_into(table: str, rows: list[tuple[Any, ...]], columns: str) -> None:
    places = ", ".join(["%s"] * len(rows[0]))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", rows)


def command(*arguments: str, **options: Any) -> list[str]:
    out = StringIO()
    call_command("backfill_ids", *arguments, stdout=out, **options)
    return out.getvalue().splitlines()


UNSEEN = ", or none that its user may see" if connection.vendor == "mysql" else ""
"""What is said of a table that is not there; MariaDB and MySQL hide tables."""


def refusal(*arguments: str, **options: Any) -> str:
    try:
        command(*arguments, **options)
    except CommandError as error:
        return str(error)
    raise AssertionError("it was not refused")


def naive(at: datetime) -> datetime | str:
    """A time as raw SQL has it: MariaDB, MySQL and SQLite have no zones."""
    if connection.vendor == "postgresql":
        return at
    return str(at.replace(tzinfo=None))


def sortable(model: type[models.Model]) -> SortableIDField:
    return next(each for each in model._meta.fields if isinstance(each, SortableIDField))
