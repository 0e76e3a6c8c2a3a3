"""What is left over from a move that was stopped before it changed a key: ``migrate`` shows how it
is continued, and the statements that drop it."""

import re
from io import StringIO

from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.models.signals import pre_migrate

from django_sortable_ids.migrating import guard
from tests.key_moves.catalogue import catalogue, changes
from tests.marks import own_tables
from tests.support import execute

from .mysql import mysql_only
from .test_unrecorded import NOTE, stop_before

pytestmark = own_tables
MORE = ["new"] * 6 if connection.vendor == "mysql" else []
STATEMENT = re.compile(r"^    (.+);$", re.MULTILINE)


def output(*to):
    """What ``migrate`` of the depot says."""
    out = StringIO()
    call_command("migrate", *(to or ["depot"]), stdout=out)
    return out.getvalue()


def own_catalogue():
    return {table: found for table, found in catalogue().items() if "depot" in table}


def test_what_is_left_over_can_be_dropped(filled):
    depot, before, keys = filled.depot, own_catalogue(), filled.keys()
    filled.write_move()
    stop_before(depot, NOTE, "0002_step")
    assert own_catalogue() != before
    assert filled.keys() == keys
    said = output("depot", "0001_step")
    assert "`manage.py migrate depot 0002_step` continues it." in said
    found = STATEMENT.findall(said)
    # SQLite drops the map with the connection.
    names = ["deleted", *([] if connection.vendor == "sqlite" else ["next"])]
    assert {name for name in names if any(f"sortable_ids_{name}__" in each for each in found)} == {
        *names
    }
    execute(*found)
    assert list(changes(before, own_catalogue())) == []
    assert "left over" not in output("depot", "0001_step")
    depot.migrate()
    depot.migrate("0001_step")
    assert filled.keys() == keys
    assert list(changes(before, own_catalogue())) == []


def test_it_is_said_once_if_another_app_has_the_id_of_a_config_that_is_gone(filled):
    depot, other = filled.depot, apps.get_app_config("depot")
    filled.write_move()
    stop_before(depot, NOTE, "0002_step")
    uid = "django_sortable_ids"
    pre_migrate.connect(guard.check_migrations, sender=other, dispatch_uid=uid)
    try:
        assert output("depot", "0001_step").count("was stopped before it changed") == 1
    finally:
        pre_migrate.disconnect(sender=other, dispatch_uid=uid)


def test_it_is_continued_without_a_word(filled):
    depot = filled.depot
    filled.write_move()
    stop_before(depot, NOTE, "0002_step")
    assert "left over" not in output("depot", "0002_step")
    assert "left over" not in output("depot", "0001_step")


@mysql_only
def test_copies_of_an_undoing_are_left_over(filled):
    depot = filled.depot
    filled.write_move()
    depot.migrate()
    before, keys = own_catalogue(), filled.keys()
    stop_before(depot, NOTE, "0001_step")
    assert filled.keys() == keys
    found = STATEMENT.findall(output())
    assert found
    assert all(re.match("DROP TABLE `sortable_ids_(new|next)__", each) for each in found)
    execute(*found)
    assert list(changes(before, own_catalogue())) == []
    assert "left over" not in output()
