"""A table of the test's own."""

import pytest
from django.db import connection
from django.test.utils import isolate_apps

from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.workers import counters
from tests.own_tables import Own


@pytest.fixture
def sequence():
    """Makes a model whose ``number`` is a sequence, and its table; again for other arguments."""
    made = []

    def make(**arguments):
        with isolate_apps("tests.testapp"):

            class Numbered(Own):
                number = LexicalSequenceField(**({"unique": True, "null": True} | arguments))

                class Meta(Own.Meta):
                    db_table = "numbered"

        if not made:
            with connection.schema_editor() as editor:
                editor.create_model(Numbered)
        made.append(Numbered)
        return Numbered

    counters.drop_blocks()
    yield make
    counters.drop_blocks()
    with connection.schema_editor() as editor:
        editor.delete_model(made[0])
