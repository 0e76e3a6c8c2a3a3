"""The report of a project with several databases."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connections

from tests.testapp.models import Order

from .shop.models import Plain
from .support import START, insert, insert_orders

pytestmark = pytest.mark.django_db


class ShopElsewhere:
    """As the routers of Django's documentation: no opinion on what isn't theirs."""

    def db_for_write(self, model, **hints):
        return "other" if model._meta.app_label == "shop" else None

    def allow_migrate(self, db, app_label, **hints):
        return db == "other" if app_label == "shop" else None


class OnlyShopElsewhere(ShopElsewhere):
    def allow_migrate(self, db, app_label, **hints):
        return (db == "other") == (app_label == "shop")


def report(**options):
    out = StringIO()
    call_command("backfill_ids", stdout=out, **options)
    return out.getvalue().splitlines()


def rows(**options):
    return [" ".join(line.split()) for line in report(**options)]


@pytest.fixture
def routed(other, settings):
    settings.DATABASE_ROUTERS = [ShopElsewhere()]
    insert_orders([START] * 2)
    insert(Plain, [{"created_at": START}] * 3, other)
    return other


def test_every_database_is_in_one_table(routed, settings):
    settings.DATABASE_ROUTERS = [OnlyShopElsewhere()]
    found = rows()
    assert found[0] == "field database scheme rows state next: manage.py ..."
    assert (
        "testapp.Order.ulid default ulid 2 2 missing backfill_ids testapp.Order.ulid "
        "--created-from created_at"
    ) in found
    assert (
        "shop.Plain.public_id other uuid7 3 3 missing backfill_ids shop.Plain.public_id "
        "--created-from 'created_at|updated_at' --database=other"
    ) in found
    assert ("shop.Tight.eighth other snowflake not migrated migrate shop --database=other") in found
    pairs = [line.split()[:2] for line in found[1:]]
    assert {tuple(each) for each in pairs} == {
        (name, "other" if name.startswith("shop.") else "default") for name, _ in pairs
    }
    assert len(pairs) == len({name for name, _ in pairs})


def test_a_table_that_routers_have_no_opinion_on_is_listed_where_it_is(routed):
    """Orders are in both files; the runs of the app are written to the default one."""
    names = [line.split()[:2] for line in rows()]
    assert ["testapp.Order.ulid", "default"] in names
    assert ["testapp.Order.ulid", "other"] in names
    with connections[routed].schema_editor() as editor:
        editor.delete_model(Order)
    names = [line.split()[:2] for line in rows()]
    assert ["testapp.Order.ulid", "default"] in names
    assert ["testapp.Order.ulid", "other"] not in names


def test_one_database(routed):
    found = rows(database=routed)
    assert found[0] == "field scheme rows state next: manage.py ..."
    assert not [line for line in found if " default " in line]
    assert [line for line in found if line.startswith("shop.Plain.public_id uuid7 3 3 missing")]
    assert not [line for line in rows(database="default") if line.startswith("shop.")]


def test_without_routers_it_is_the_default_one(other):
    assert rows()[0] == "field scheme rows state next: manage.py ..."
    assert rows() == rows(database="default")


def test_a_copy_of_another_database_is_left_out(routed, monkeypatch):
    monkeypatch.setitem(connections[routed].settings_dict["TEST"], "MIRROR", "default")
    assert not [line for line in rows() if " other " in line]


def test_a_database_that_does_not_answer(routed, monkeypatch, tmp_path):
    connections[routed].close()
    monkeypatch.setitem(connections[routed].settings_dict, "NAME", str(tmp_path / "no" / "file"))
    found = rows()
    assert found[-1] == "other does not answer: unable to open database file"
    assert [line for line in found if line.startswith("testapp.Order.ulid default ulid 2")]
    connections[routed].close()


def test_json_of_every_database(routed, monkeypatch, tmp_path):
    found = json.loads("".join(report(as_json=True)))
    places = {(each["field"], each["database"]) for each in found["fields"]}
    assert {("testapp.Order.ulid", "default"), ("shop.Plain.public_id", "other")} <= places
    assert found["unanswered"] == {}

    connections[routed].close()
    monkeypatch.setitem(connections[routed].settings_dict, "NAME", str(tmp_path / "no" / "file"))
    found = json.loads("".join(report(as_json=True)))
    assert found["unanswered"] == {"other": "unable to open database file"}
    assert {each["database"] for each in found["fields"]} == {"default"}
    connections[routed].close()
