"""Without arguments: every sortable id of the project, and what to run next."""

from io import StringIO

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connections

from django_sortable_ids.backfill import report
from django_sortable_ids.fields import SortableIDField

from .shop.models import Plain, Required, Timeless
from .support import START, fill, insert, insert_orders, rows

pytestmark = pytest.mark.django_db


def lines(using="default"):
    """The report, with the name of the field in front of the other cells."""
    out = StringIO()
    call_command("backfill_ids", database=using, stdout=out)
    cells = [line.split(maxsplit=1) for line in out.getvalue().splitlines()]
    return {name: " ".join(rest.split()) for name, rest in cells}


def test_every_field_of_every_table_is_there_once():
    tables = [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.managed and not model._meta.proxy
    ]
    expected = [
        f"{model._meta.label}.{field.name}"
        for model in tables
        for field in model._meta.local_fields
        if isinstance(field, SortableIDField)
    ]
    assert [entry.label for entry in report.entries("default")] == expected
    assert "shop.Document.public_id" in expected
    assert not {"shop.Invoice.public_id", "shop.PlainProxy.public_id"} & set(expected)


def test_states_and_next_commands():
    insert_orders([START] * 3)
    fill("uuid7")
    rows("uuid7").filter(pk=rows("uuid7")[0].pk).update(uuid7=None)
    fill("ulid")
    insert(Plain, [{"created_at": START}] * 1200)
    Timeless.objects.create()
    rows_of = lines()
    assert rows_of["field"] == "scheme rows state next: manage.py ..."
    assert {name: rows_of[name] for name in EXPECTED} == EXPECTED


EXPECTED = {
    "testapp.Order.uuid7": (
        "uuid7 3 1 missing backfill_ids testapp.Order.uuid7 --created-from created_at"
    ),
    "testapp.Order.ulid": "ulid 3 complete",
    "testapp.Order.number": (
        "lexical_sequence 3 3 missing backfill_ids testapp.Order.number --created-from created_at"
    ),
    "shop.Plain.public_id": (
        "uuid7 1,200 1,200 missing backfill_ids shop.Plain.public_id "
        "--created-from created_at|updated_at"
    ),
    "shop.Timeless.public_id": "ulid 1 complete",
    "shop.SortableKey.id": "ulid 0 complete",
}


def test_a_field_without_times_asks_where_they_are():
    insert(Timeless, [{"id": 1}])
    assert lines()["shop.Timeless.public_id"] == (
        "ulid 1 1 missing backfill_ids shop.Timeless.public_id --created-from ?"
    )


def test_columns_are_aligned():
    Required.objects.create(created_at=START)
    found = list(report.lines("default"))
    places = [line.index(" 0 ") for line in found if " 0 " in line and "complete" in line]
    assert len(set(places)) == 1


def test_another_database(other):
    insert(Plain, [{"created_at": START}] * 2, other)
    with connections[other].cursor() as cursor:
        cursor.execute("ALTER TABLE shop_plain DROP COLUMN other_id")
    found = lines(other)
    assert found["shop.Plain.public_id"] == (
        "uuid7 2 2 missing backfill_ids shop.Plain.public_id "
        "--created-from created_at|updated_at --database=other"
    )
    assert found["shop.Plain.other_id"] == "ulid not migrated migrate shop --database=other"
    assert found["shop.Tight.eighth"] == "snowflake not migrated migrate shop --database=other"


class Router:
    def allow_migrate(self, db, app_label, **hints):
        return app_label != "shop"


def test_tables_that_belong_into_another_database_are_left_out(settings):
    settings.DATABASE_ROUTERS = [Router()]
    assert not [name for name in lines() if name.startswith("shop.")]


def test_a_project_without_ids(settings):
    settings.INSTALLED_APPS = ["django.contrib.contenttypes", "django_sortable_ids"]
    assert list(report.lines("default")) == [
        "No model has a sortable id yet: add a field of django_sortable_ids.fields to one."
    ]
