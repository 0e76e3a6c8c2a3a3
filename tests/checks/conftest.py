"""Models of one test alone, and their tables."""

import pytest
from django.db import connection
from django.test.utils import isolate_apps

from django_sortable_ids.checks import databases, definitions


@pytest.fixture
def isolated(monkeypatch):
    """Models that the test defines are the only ones that the checks see."""
    with isolate_apps("tests.testapp") as apps:
        monkeypatch.setattr(definitions, "apps", apps)
        monkeypatch.setattr(databases, "apps", apps)
        yield apps


@pytest.fixture
def table(isolated):
    """Makes the table of a model; for tests that are marked ``own_tables``."""
    made = []

    def make(model):
        with connection.schema_editor() as editor:
            editor.create_model(model)
        made.append(model)
        return model

    yield make
    with connection.schema_editor() as editor:
        for model in reversed(made):
            editor.delete_model(model)
