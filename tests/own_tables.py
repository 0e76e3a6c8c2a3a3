"""Tables that a test makes for itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test.utils import isolate_apps


class Own(models.Model):
    """The base of a model that a test defines in the app ``testapp``."""

    class Meta:
        abstract = True
        app_label = "testapp"

    def __str__(self) -> str:
        return f"{self.pk}"


@contextmanager
def tables(*of: type[models.Model], using: BaseDatabaseWrapper = connection) -> Iterator[None]:
    """Of these models, for as long as the block lasts."""
    with using.schema_editor() as editor:
        for model in of:
            editor.create_model(model)
    try:
        yield
    finally:
        with using.schema_editor() as editor:
            for model in reversed(of):
                editor.delete_model(model)


@contextmanager
def table_with(field: Any) -> Iterator[Any]:
    """A model whose ``made`` is that field, and its table."""
    with isolate_apps("tests.testapp"):

        class Table(Own):
            made = field.clone()
            at = models.DateTimeField(null=True)

        with tables(Table):
            yield Table
