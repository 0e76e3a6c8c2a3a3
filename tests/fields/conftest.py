"""A table of the test's own."""

import pytest
from django.db import connection, models

from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.workers import counters
from tests.own_tables import own_model


class Nothing(models.Manager):
    def get_queryset(self):
        return super().get_queryset().none()


@pytest.fixture
def sequence():
    """Makes a model whose ``number`` is a sequence, and its table; again for other arguments."""
    made = []

    def make(**arguments):
        number = LexicalSequenceField(**({"unique": True, "null": True} | arguments))
        meta = {"db_table": "numbered", "base_manager_name": "hiding"}
        made.append(
            own_model(
                "Numbered", meta=meta, number=number, objects=models.Manager(), hiding=Nothing()
            )
        )
        if len(made) == 1:
            with connection.schema_editor() as editor:
                editor.create_model(made[0])
        return made[-1]

    counters.drop_blocks()
    yield make
    counters.drop_blocks()
    with connection.schema_editor() as editor:
        editor.delete_model(made[0])
