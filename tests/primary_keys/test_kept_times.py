"""``ON UPDATE CURRENT_TIMESTAMP``: what a move updates in place keeps its times."""

import pytest

from tests.marks import own_tables
from tests.support import execute

from . import small
from .mysql import mysql_only

pytestmark = [own_tables, mysql_only]

TIMES = """\
ALTER TABLE {table} ADD changed timestamp(6) NULL ON UPDATE CURRENT_TIMESTAMP(6),
    ADD seen datetime NULL ON UPDATE CURRENT_TIMESTAMP"""
SET = "UPDATE {table} SET changed = '2024-10-27 {hour}:30:00', seen = '2024-10-27 02:30:00'"
NOTES = """CreateModel("Note", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("kind_id", IntegerField()),
    ("object_id", CharField(max_length=40)),
]),"""


@pytest.fixture
def berlin():
    [[zone]] = execute("SELECT @@time_zone")
    yield
    execute(f"SET time_zone = '{zone}'")


def give_times(table):
    execute(
        TIMES.format(table=table),
        "SET time_zone = '+00:00'",
        f"{SET.format(table=table, hour='00')} WHERE name <> 'a'",
        f"{SET.format(table=table, hour='01')} WHERE name = 'a'",
        "SET time_zone = 'Europe/Berlin'",
    )


def times(table):
    execute("SET time_zone = '+00:00'")
    found = execute(f"SELECT name, changed, seen FROM {table} ORDER BY name")
    execute("SET time_zone = 'Europe/Berlin'")
    return found


def test_of_the_keys_themselves(depot, berlin):
    small.create(depot)
    give_times("depot_customer")
    before = times("depot_customer")
    small.write_move(depot)
    depot.migrate()
    assert times("depot_customer") == before
    depot.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
    execute(
        "UPDATE depot_customer SET seen = '2024-01-01', changed = '2024-02-01' WHERE name = 'z'"
    )
    before = times("depot_customer")
    depot.migrate("0001_step")
    assert times("depot_customer") == before


def test_of_texts_with_keys(depot, berlin, settings):
    settings.INSTALLED_APPS = ["django.contrib.contenttypes", *settings.INSTALLED_APPS]
    small.create(depot, more=NOTES)
    execute(
        "INSERT IGNORE INTO django_content_type (app_label, model) VALUES ('depot', 'customer')",
        "INSERT INTO depot_note (name, kind_id, object_id) SELECT c.name, t.id, c.id "
        "FROM depot_customer c JOIN django_content_type t "
        "ON (t.app_label, t.model) = ('depot', 'customer')",
    )
    try:
        give_times("depot_note")
        before = times("depot_note")
        small.write_move(depot, generic=[("depot_note", "object_id", "kind_id")])
        depot.migrate()
        ids = "SELECT object_id FROM depot_note WHERE name = 'a'"
        assert len(execute(ids)[0][0]) == 36
        assert times("depot_note") == before
        depot.migrate("0001_step")
        assert execute(ids) == [("5",)]
        assert times("depot_note") == before
    finally:
        execute("DELETE FROM django_content_type WHERE app_label = 'depot'")
