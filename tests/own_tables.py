"""Tables that a test makes for itself."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.utils import isolate_apps


class Own(models.Model):
    """The base of a model that a test defines in the app ``testapp``."""

    class Meta:
        abstract = True
        app_label = "testapp"

    def __str__(self) -> str:
        return f"{self.pk}"


def own_model(
    name: str, /, *bases: type[models.Model], meta: dict[str, Any] | None = None, **fields: Any
) -> Any:
    """A model of the app ``testapp`` that no other test sees."""
    options = type("Meta", (), {"app_label": "testapp", **(meta or {})})
    with isolate_apps("tests.testapp"):
        return type(name, bases or (Own,), {"__module__": __name__, "Meta": options, **fields})


@contextmanager
def second_database(path: Path) -> Iterator[str]:
    """The alias of an SQLite file, with Django's default options."""
    connections.databases["other"] = {
        **connections.databases["default"],
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path / "other.sqlite3"),
        "OPTIONS": {},
    }
    try:
        yield "other"
    finally:
        connections["other"].close()
        del connections["other"], connections.databases["other"]


@cache
def _with_few_tables() -> bytes:
    """The file of an SQLite database that has the tables of Django and of our app alone."""
    with closing(sqlite3.connect(":memory:")) as few:
        with closing(sqlite3.connect(connection.settings_dict["NAME"])) as all_tables:
            all_tables.backup(few)
        names = few.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        for (name,) in names:
            if not name.startswith(("auth_", "django_", "sqlite_")):
                few.execute(f'DROP TABLE "{name}"')
        few.execute("VACUUM")
        return few.serialize()


@contextmanager
def few_tables(file: Path) -> Iterator[None]:
    """On SQLite, a database of the test alone, in a file, without the tables of the test apps: each
    ALTER reads the definitions of all tables."""
    if connection.vendor != "sqlite":
        yield
        return
    file.write_bytes(_with_few_tables())
    settings, of_all = connections.settings[DEFAULT_DB_ALIAS], connections[DEFAULT_DB_ALIAS]
    before, settings["NAME"] = settings["NAME"], file
    connections[DEFAULT_DB_ALIAS] = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        yield
    finally:
        connection.close()
        settings["NAME"], connections[DEFAULT_DB_ALIAS] = before, of_all


@contextmanager
def tables(*of: Any, using: BaseDatabaseWrapper = connection) -> Iterator[Any]:
    """Of these models, for as long as the block lasts; gives the first one."""
    with using.schema_editor() as editor:
        for model in of:
            editor.create_model(model)
    try:
        yield of[0]
    finally:
        with using.schema_editor() as editor:
            for model in reversed(of):
                editor.delete_model(model)


@contextmanager
def with_tables(define: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Defines models, and makes their tables, which are there until the block ends."""
    with ExitStack() as stack:

        def make(*arguments: Any, **options: Any) -> Any:
            model = define(*arguments, **options)
            stack.enter_context(tables(model))
            return model

        yield make


@contextmanager
def table_with(field: Any) -> Iterator[Any]:
    """A model whose ``made`` is that field, and its table."""
    with tables(own_model("Table", made=field.clone(), at=models.DateTimeField(null=True))) as made:
        yield made
