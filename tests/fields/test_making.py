"""When ids are made, and when they are not."""

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.state import ProjectState
from django.test.utils import CaptureQueriesContext

from tests.testapp.models import around

pytestmark = pytest.mark.django_db


def test_ids_beside_the_key_are_made_when_the_row_is_inserted(key):
    row = around(key, "Public")()
    assert (row.public, row.optional) == (None, None)
    row.save()
    assert None not in (row.public, row.optional)
    stored = type(row).objects.get()
    assert (stored.public, stored.optional) == (row.public, row.optional)


def test_a_loaded_null_stays_null(key):
    model = around(key, "Public")
    model.objects.create()
    model.objects.update(optional=None)
    row = model.objects.get()
    row.save()
    row.save(update_fields=["optional", "name"])
    model.objects.bulk_update([row], ["optional"])
    row.refresh_from_db()
    assert row.optional is None


def test_a_copy_gets_an_id_of_its_own(key):
    row = key.objects.create(name="a")
    original = row.pk
    row.pk = None
    row.save()
    assert row.pk not in (None, original)
    row.pk, row._state.adding = None, True
    row.save()
    assert key.objects.count() == len(set(key.objects.values_list("pk", flat=True))) == 3


def test_a_subclass_and_its_parent_share_one_id(key):
    special = around(key, "Special")
    row = special.objects.create(name="a", extra="b")
    assert row.pk == row.id == row._meta.get_parent_list()[0].objects.get().pk
    assert special.objects.get(pk=row.pk).extra == "b"
    row.pk = row.id = None
    row.save()
    assert special.objects.count() == key.objects.count() == 2


def test_a_new_row_is_inserted_and_never_overwrites_another(key):
    """Django tries an UPDATE first where a key has no default, and would hit an adopted row."""
    row = key(name="new")
    with CaptureQueriesContext(connection) as queries:
        row.save()
    table = connection.ops.quote_name(key._meta.db_table)
    touching = [query["sql"] for query in queries if table in query["sql"]]
    assert not [sql for sql in touching if sql.startswith("UPDATE")]
    assert [sql for sql in touching if sql.startswith("INSERT")]


@pytest.fixture(scope="module")
def historical_apps():
    return ProjectState.from_apps(apps).apps


def test_historical_models_make_ids(key, historical_apps):
    model = around(key, "Public")
    for current in (key, model):
        historical = historical_apps.get_model("testapp", current.__name__)
        assert historical.__module__ == "__fake__"
        for name in "ab":
            historical.objects.create(name=name)
        historical.objects.bulk_create([historical(), historical()])
        assert len(set(current.objects.values_list("pk"))) == 4
    for name in ("public", "optional"):
        assert len(set(model.objects.values_list(name, flat=True))) == 4


def test_an_upsert_keeps_the_row_and_its_other_ids(key):
    model = around(key, "Public")
    old = model.objects.create(name="old")
    with_target = connection.features.supports_update_conflicts_with_target
    model.objects.bulk_create(
        [model(public=old.public, name="new"), model(name="other")],
        update_conflicts=True,
        unique_fields=["public"] if with_target else None,
        update_fields=["name"],
    )
    found = model.objects.get(public=old.public)
    assert (found.pk, found.name, found.optional) == (old.pk, "new", old.optional)
    assert model.objects.get(name="other").public not in (None, old.public)


# Ids that the database makes
