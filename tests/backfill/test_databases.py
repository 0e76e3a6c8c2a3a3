"""Several databases: one that is named, those of routers, and the report of all."""

import json
from functools import partial

import pytest
from django.db import connections

from django_sortable_ids.management import reporting
from django_sortable_ids.models import BackfillRun
from tests.testapp.models import Order

from . import support
from .shop.models import Plain
from .support import START, insert, insert_orders, is_strict, saved_run
from .support import command as run

pytestmark = pytest.mark.django_db

NAME = "testapp.Order.ulid"
refusal = partial(support.refusal, NAME, created_from="created_at")


# Routers


class OrdersElsewhere:
    """Orders are in the other database, and nothing else is."""

    def db_for_write(self, model, **hints):
        return "other" if model is Order else None

    db_for_read = db_for_write

    def allow_migrate(self, db, app_label, model_name=None, **hints):
        return (app_label == "testapp" and model_name == "order") == (db == "other")


class OrdersHere:
    def allow_migrate(self, db, app_label, **hints):
        return None if db == "default" else app_label != "testapp"


class BesideTheirRuns(OrdersElsewhere):
    """And so are their runs."""

    def allow_migrate(self, db, app_label, **hints):
        return app_label == "django_sortable_ids" or super().allow_migrate(db, app_label, **hints)


@pytest.fixture
def routed(other, settings):
    settings.DATABASE_ROUTERS = [BesideTheirRuns()]
    insert_orders([START] * 5, other)


def drop(model):
    with connections["other"].schema_editor() as editor:
        editor.delete_model(model)


def test_the_database_of_the_model_is_filled_and_verified(routed):
    assert run(NAME, created_from="created_at")[-1] == (
        f"Next: manage.py backfill_ids {NAME} --database=other --verify"
    )
    assert is_strict("ulid", "other")
    assert saved_run("ulid", "other").rows_filled == 5
    assert not BackfillRun.objects.exists()
    assert run(NAME, "--verify")[0] == "5 rows, 5 with an id"
    assert run(NAME, "--status")[0].startswith(f"{NAME}: finished")
    assert run("--status") == ["no backfill of any column has started in the database 'default'"]


def test_a_database_without_the_table(other, settings):
    settings.DATABASE_ROUTERS = [OrdersHere()]
    drop(Order)
    assert refusal(database=other).startswith(
        "the database 'other' has no table testapp_order that its user may see: "
    )


def test_an_empty_database(monkeypatch):
    """As that of a project whose routers use none of the name "default"."""
    empty = {**connections.databases["default"], "ENGINE": "django.db.backends.dummy"}
    monkeypatch.setitem(connections.databases, "empty", empty)
    assert "has no table" in support.refusal("--status", database="empty")


# The report


class ShopElsewhere:
    """As the routers of Django's documentation: no opinion on what isn't theirs."""

    def db_for_write(self, model, **hints):
        return "other" if model._meta.app_label == "shop" else None

    def allow_migrate(self, db, app_label, **hints):
        return db == "other" if app_label == "shop" else None


class OnlyShopElsewhere(ShopElsewhere):
    def allow_migrate(self, db, app_label, **hints):
        return (db == "other") == (app_label == "shop")


class OnlyDefault:
    def allow_migrate(self, db, app_label, **hints):
        return db == "default"


def reported(**options):
    return [" ".join(line.split()) for line in run(**options)]


@pytest.fixture
def shop_elsewhere(other, settings):
    settings.DATABASE_ROUTERS = [ShopElsewhere()]
    insert_orders([START] * 2)
    insert(Plain, [{"created_at": START}] * 3, other)
    return other


def test_every_database_is_in_one_table(shop_elsewhere, settings):
    settings.DATABASE_ROUTERS = [OnlyShopElsewhere()]
    found = reported()
    assert found[0] == "field database scheme rows state next: manage.py ..."
    assert (
        "testapp.Order.ulid default ulid 2 2 missing backfill_ids testapp.Order.ulid "
        "--created-from created_at"
    ) in found
    assert (
        "shop.Plain.public_id other uuid7 3 3 missing backfill_ids shop.Plain.public_id "
        "--created-from (created_at or updated_at) --database=other"
    ) in found
    assert "shop.Tight.eighth other snowflake no table makemigrations shop" in found
    pairs = [line.split()[:2] for line in found[1:]]
    assert {tuple(each) for each in pairs} == {
        (name, "other" if name.startswith("shop.") else "default") for name, _ in pairs
    }
    assert len(pairs) == len({name for name, _ in pairs})


def test_a_table_that_routers_have_no_opinion_on_is_listed_where_it_is(shop_elsewhere):
    """Orders are in both files; the runs of the app are written to the default one."""
    names = [line.split()[:2] for line in reported()]
    assert ["testapp.Order.ulid", "default"] in names
    assert ["testapp.Order.ulid", "other"] in names
    with connections[shop_elsewhere].schema_editor() as editor:
        editor.delete_model(Order)
    names = [line.split()[:2] for line in reported()]
    assert ["testapp.Order.ulid", "default"] in names
    assert ["testapp.Order.ulid", "other"] not in names


def test_one_database(shop_elsewhere):
    found = reported(database=shop_elsewhere)
    assert found[0] == "field scheme rows state next: manage.py ..."
    assert not [line for line in found if " default " in line]
    assert [line for line in found if line.startswith("shop.Plain.public_id uuid7 3 3 missing")]
    assert not [line for line in reported(database="default") if line.startswith("shop.")]


def test_a_database_that_routers_keep_empty(other, settings):
    settings.DATABASE_ROUTERS = [OnlyDefault()]
    assert run(database=other) == [
        "No model of the database 'other' has a sortable id: "
        "add a field of django_sortable_ids.fields."
    ]


def test_a_copy_of_another_database_is_left_out(shop_elsewhere, monkeypatch):
    monkeypatch.setitem(connections[shop_elsewhere].settings_dict["TEST"], "MIRROR", "default")
    assert not [line for line in reported() if " other " in line]


def test_a_default_database_that_is_none(shop_elsewhere, monkeypatch):
    """As Django's documentation has it: ``"default": {}``."""
    databases = {"default": {}, "other": connections.databases["other"]}
    handler = type(connections)(databases)
    handler["other"] = connections["other"]
    monkeypatch.setattr(reporting, "connections", handler)
    assert reporting.databases() == ["other"]


@pytest.fixture
def no_answer(monkeypatch):
    """Has a database no longer answer."""

    def cut(alias):
        connections[alias].close()
        monkeypatch.setitem(connections[alias].settings_dict, "NAME", "/no/such/folder/file")

    yield cut
    connections["other"].close()


def test_json_of_every_database_and_of_one_that_does_not_answer(shop_elsewhere, no_answer):
    found = json.loads("".join(run(as_json=True)))
    places = {(each["field"], each["database"]) for each in found["fields"]}
    assert {("testapp.Order.ulid", "default"), ("shop.Plain.public_id", "other")} <= places
    assert found["unanswered"] == {}

    no_answer(shop_elsewhere)
    found = json.loads("".join(run(as_json=True)))
    assert found["unanswered"] == {"other": "unable to open database file"}
    assert {each["database"] for each in found["fields"]} == {"default"}
    assert reported()[-1] == "other does not answer: unable to open database file"
