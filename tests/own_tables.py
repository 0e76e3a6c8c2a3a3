"""Tables that a test makes for itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, models
from django.test.utils import isolate_apps


@contextmanager
def table_with(field: Any) -> Iterator[Any]:
    """A model whose ``made`` is that field, and its table."""
    with isolate_apps("tests.testapp"):

        class Table(models.Model):
            made = field.clone()
            at = models.DateTimeField(null=True)

            class Meta:
                app_label = "testapp"

            def __str__(self) -> str:
                return f"{self.made}"

        with connection.schema_editor() as editor:
            editor.create_model(Table)
        try:
            yield Table
        finally:
            with connection.schema_editor() as editor:
                editor.delete_model(Table)
