"""Keys that move more than once, to fields of the same class: each move is executed, and one that
was not recorded is seen."""

import pytest
from django.core.management.base import CommandError
from django.db import connection

from django_sortable_ids.migrating.unrecorded import unrecorded_changes
from tests.marks import own_tables

from . import small
from .stops import migrate_until_done
from .test_unrecorded import RECORDS, stop_before

pytestmark = own_tables
AGAIN = {
    "field": 'UUIDv7Field(primary_key=True, storage="char36")',
    "options": 'created_from="created_at"',
}
"""A second field for the old key would have the name of the first."""


def moved_once(depot):
    small.create(depot)
    small.write_move(depot)
    depot.migrate()


def lengths(depot):
    return {len(str(each)) for each in depot.column("depot_order", "customer_id")}


def test_a_second_move(depot):
    moved_once(depot)
    before = set(depot.model("Customer").objects.values_list("pk", flat=True))
    small.write_move(depot, **AGAIN)
    assert migrate_until_done(depot) > 5
    assert small.names(depot) == small.IN_ORDER
    assert not before & set(depot.model("Customer").objects.values_list("pk", flat=True))
    assert lengths(depot) == {36}


def test_one_plan_with_both(depot, small_move):
    small.write_move(depot, **AGAIN)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    assert lengths(depot) == {36}
    assert unrecorded_changes(connection) == []


def test_a_second_move_that_was_not_recorded(depot):
    moved_once(depot)
    small.write_move(depot, **AGAIN)
    depot.migrate("0002_step")  # reads the new migration
    assert unrecorded_changes(connection) == []
    stop_before(depot, RECORDS, "0003_step")
    assert [each.migration for each in unrecorded_changes(connection)] == [("depot", "0003_step")]
    with pytest.raises(CommandError, match=r"Complete it by `manage.py migrate depot 0003_step`"):
        depot.migrate("0001_step")
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    assert unrecorded_changes(connection) == []


def test_a_move_after_the_way_back_that_was_not_recorded(depot):
    moved_once(depot)
    depot.migrate("0001_step")
    stop_before(depot, RECORDS, "0002_step")
    assert [each.migration for each in unrecorded_changes(connection)] == [("depot", "0002_step")]
    depot.migrate()
    assert unrecorded_changes(connection) == []
    depot.migrate("0001_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS


def test_a_table_that_was_made_again(depot):
    moved_once(depot)
    depot.write('DeleteModel("Order"),\nDeleteModel("Customer"),')
    small.create(depot)
    small.write_move(depot)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    depot.migrate("0004_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS


def test_a_move_that_was_edited_before_it_was_recorded(depot, small_move):
    stop_before(depot, RECORDS, "0002_step")
    depot.names.pop()
    small.write_move(depot, field=AGAIN["field"])
    with pytest.raises(CommandError) as error:
        depot.migrate()
    assert str(error.value).splitlines() == [
        "No key was moved.",
        "depot_customer has a column old_id already, which a move adds: if the key was moved "
        "before, restore the migration as it was then; otherwise rename or drop the column, and "
        "run this again",
    ]
    depot.names.pop()
    small.write_move(depot)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
