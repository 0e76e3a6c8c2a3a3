"""Which plans the guard looks at, and how it is turned off."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.marks import own_tables

from .sources import CREATE, CREATE_WITH_ROWS, FIVE_ROWS, fill

pytestmark = own_tables

NOT_NULL = 'AddField("order", "public", ULIDField()),'


def test_nothing_of_a_refused_plan_is_run_and_every_refusal_is_shown_at_once(depot, five_rows):
    depot.write('CreateModel("Place", [("id", BigAutoField(primary_key=True))]),')
    depot.write(NOT_NULL)
    depot.write('AddField("line", "public", UUIDv7Field()),')
    first, second, third = depot.refusal().splitlines()
    assert first == "Nothing was migrated."
    assert second.startswith("depot.0003_step, depot.order.public: the table has rows")
    assert third.startswith("depot.0004_step, depot.line.public: the table has rows")
    assert depot.applied() == ["0001_step"]
    assert "depot_place" not in connection.introspection.table_names()
    depot.migrate("0002")
    assert depot.applied() == ["0001_step", "0002_step"]


def test_plans_backwards_are_left_alone(depot):
    """Back to NOT NULL: the database refuses by itself what it can't do."""
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.write('AddField("order", "public", ULIDField(null=True, unique=True)),')
    depot.write("RunPython(fill, RunPython.noop),", fill("abcde"))
    depot.write('AlterField("order", "public", ULIDField(unique=True)),')
    depot.migrate()
    depot.write('AlterField("order", "public", ULIDField(null=True, unique=True)),')
    depot.write('RemoveField("order", "public"),')
    depot.migrate("0005")
    before = depot.column("depot_order", "public")
    depot.migrate("0004")
    depot.migrate("0001")
    assert depot.applied() == ["0001_step"]
    assert len(set(before)) == 5


def test_a_plan_without_ids_asks_nothing_of_the_tables(depot, five_rows):
    depot.write("RunPython(RunPython.noop, RunPython.noop),")
    with CaptureQueriesContext(connection) as queries:
        depot.migrate()
    assert not [query["sql"] for query in queries if "depot_order" in query["sql"]]


def test_faked_migrations_look_like_real_ones_and_need_the_setting(depot, five_rows, settings):
    depot.write(NOT_NULL)
    with pytest.raises(CommandError, match="the table has rows"):
        depot.migrate(fake=True)
    settings.SORTABLE_IDS = {"GUARD_MIGRATIONS": False}
    depot.migrate(fake=True)
    assert depot.applied() == ["0001_step", "0002_step"]


def test_a_wrong_setting_is_told(depot, settings):
    depot.write(CREATE)
    depot.write(NOT_NULL)
    settings.SORTABLE_IDS = {"GUARD_MIGRATION": False}
    with pytest.raises(ImproperlyConfigured, match="no key 'GUARD_MIGRATION'"):
        depot.migrate()
