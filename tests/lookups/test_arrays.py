"""``ArrayField`` of ids, on PostgreSQL."""

import subprocess
import sys

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import isolate_apps

from tests.field_classes import CLASSES
from tests.marks import own_tables
from tests.own_tables import Own


def members(field):
    scheme = field.scheme
    return [scheme.nth(n) for n in (0, 1)] if hasattr(scheme, "nth") else scheme.generate_many(2)


@own_tables
@pytest.mark.parametrize("field_class", CLASSES)
def test_lookups(field_class):
    if connection.vendor != "postgresql":
        pytest.skip("arrays are PostgreSQL's")
    from django.contrib.postgres.fields import ArrayField

    with isolate_apps("tests.testapp"):

        class Listed(Own):
            ids = ArrayField(field_class())

    with connection.schema_editor() as editor:
        editor.create_model(Listed)
    one, other = members(field_class())
    row = Listed.objects.create(ids=[one])
    row.refresh_from_db()
    assert row.ids == [one]
    for lookup, found in (
        ({"contains": [one]}, True),
        ({"contains": [one, other]}, False),
        ({"overlap": [other, str(one)]}, True),
        ({"overlap": [other]}, False),
        ({"contained_by": [one, other]}, True),
        ({"contained_by": [other]}, False),
        ({"exact": [one]}, True),
        ({"exact": [other]}, False),
        ({"in": [[one], [other]]}, True),
        ({"0": one}, True),
        ({"len": 1}, True),
        ({"contains": []}, True),
    ):
        ((name, value),) = lookup.items()
        rows = Listed.objects.filter(**{f"ids__{name}": value})
        assert rows.exists() == found, lookup
        assert Listed.objects.exclude(pk__in=rows).exists() != found
    with pytest.raises(ValidationError, match="is not a valid"):
        Listed.objects.filter(ids__contains=["bad"]).exists()
    with connection.schema_editor() as editor:
        editor.delete_model(Listed)


LATER = """
import django
from django.conf import settings

database = {"ENGINE": "django.db.backends.postgresql"}
settings.configure(INSTALLED_APPS=["django_sortable_ids"], DATABASES={"default": database})
django.setup()
import django_sortable_ids.fields
from django.contrib.postgres.fields import ArrayField

for name in ("contains", "contained_by", "overlap", "exact"):
    print(ArrayField.get_lookups()[name].__module__)
"""


def test_they_are_there_if_no_model_imports_arrays():
    pytest.importorskip("psycopg")
    command = [sys.executable, "-c", LATER]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert found.split() == ["django_sortable_ids.lookups.ids"] * 4
