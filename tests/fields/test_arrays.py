"""An ``ArrayField`` of ids: its lookups find what it contains, or the check refuses it."""

import pytest
from django.db import connection

from django_sortable_ids.fields.storage import storage_names
from django_sortable_ids.schemes.catalog.sequence import LexicalSequence
from tests.field_classes import CLASSES
from tests.marks import own_tables
from tests.own_tables import own_model, tables

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="a field of PostgreSQL"),
]
LOOKUPS = ["contains", "contained_by", "overlap", "exact"]
FOUND = {
    "SnowflakeField": [None, "integer"],
    "UUIDv7Field": [None, "uuid"],
    "ULIDField": ["char", "varchar"],
    "KSUIDField": ["char", "varchar"],
    "HexULIDField": [None, "char", "varchar"],
}
"""The storages that some fields may have."""


def arrays(field_class):
    from django.contrib.postgres.fields import ArrayField  # imports psycopg

    for storage in (None, *storage_names(field_class().scheme)):
        element = field_class(storage=storage)
        yield storage, own_model("Shelf", ids=ArrayField(element))


@pytest.mark.parametrize("field_class", CLASSES)
def test_lookups_find_what_the_check_lets_pass(field_class):
    passed = []
    for storage, model in arrays(field_class):
        # postgres.E005 of Django 6.1: the app with its lookups of texts is not installed.
        found = model._meta.get_field("ids").check()
        problems = [each.msg for each in found if each.id != "postgres.E005"]
        if problems:
            assert "an ArrayField finds no id in this column" in problems[0]
            continue
        passed.append(storage)
        with tables(model):
            scheme = field_class().scheme
            first, second, *others = (
                scheme.nth(n) if isinstance(scheme, LexicalSequence) else scheme.generate()
                for n in range(1, 5)
            )
            ids = [first, second]
            shelf = model.objects.create(ids=ids)
            model.objects.create(ids=others)
            for lookup in LOOKUPS:
                assert list(model.objects.filter(**{f"ids__{lookup}": ids})) == [shelf], lookup
            assert list(model.objects.filter(ids__1=ids[1])) == [shelf]
    assert passed == FOUND.get(field_class.__name__, passed)
    assert passed
