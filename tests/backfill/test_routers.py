"""A model that ``DATABASE_ROUTERS`` keep in another database than the default one."""

from functools import partial

import pytest
from django.db import connections

from django_sortable_ids.models import BackfillRun
from tests.testapp.models import Order

from . import support
from .support import START, ids, insert_orders, is_strict, saved_run
from .support import command as run

NAME = "testapp.Order.ulid"
refusal = partial(support.refusal, NAME, created_from="created_at")


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


@pytest.mark.django_db
def test_the_database_of_the_model_is_filled(routed):
    assert run(NAME, created_from="created_at")[-1] == (
        f"Next: manage.py backfill_ids {NAME} --created-from created_at --database=other --verify"
    )
    assert is_strict("ulid", "other")
    assert saved_run("ulid", "other").rows_filled == 5
    assert not BackfillRun.objects.exists()


@pytest.mark.django_db
def test_it_is_that_of_verify_and_status_too(routed):
    run(NAME, created_from="created_at")
    assert run(NAME, "--verify")[0] == "5 rows, 5 with an id"
    assert run(NAME, "--status")[0].startswith(f"{NAME}: finished")
    assert run("--status") == ["no backfill of any column has started in the database 'default'"]


@pytest.mark.django_db
def test_the_database_that_is_named_is_filled_whatever_the_routers_say(routed):
    insert_orders([START] * 2)
    run(NAME, created_from="created_at", database="default")
    assert None not in ids("ulid")
    assert ids("ulid", "other") == [None] * 5


@pytest.mark.parametrize(
    ("router", "advice"),
    [
        (
            OrdersHere(),
            "your DATABASE_ROUTERS keep testapp.Order out of it; name its database with --database",
        ),
        (OrdersElsewhere(), "run `manage.py migrate testapp --database=other`"),
    ],
)
def test_a_database_without_the_table(other, settings, router, advice):
    settings.DATABASE_ROUTERS = [router]
    drop(Order)
    assert refusal(database=other) == f"the database 'other' has no table testapp_order: {advice}"


def test_a_database_that_routers_keep_the_runs_out_of(other, settings):
    settings.DATABASE_ROUTERS = [OrdersElsewhere()]
    drop(BackfillRun)
    assert refusal() == (
        "the database 'other' has no table django_sortable_ids_backfillrun: allow the app "
        "django_sortable_ids there in allow_migrate() of your DATABASE_ROUTERS, since a run is "
        "stored in the database that it fills, and run `manage.py migrate django_sortable_ids "
        "--database=other`"
    )
