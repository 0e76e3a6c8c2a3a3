"""A move that is stopped after its new keys were filled, and whose migration is then edited."""

import pytest
from django.db import connection

from django_sortable_ids.db import tables
from django_sortable_ids.errors import BackfillError
from tests.marks import own_tables

from . import small
from .histories import DELETED, is_one_to_one
from .mysql import mysql_only
from .test_unrecorded import NOTE, RENAMES, stop_before

pytestmark = own_tables
EDITS = {
    "scheme": ("ULIDField(primary_key=True)", 'created_from="created_at"'),
    "type": ("SnowflakeField(primary_key=True)", 'created_from="created_at"'),
    "storage": ('UUIDv7Field(primary_key=True, storage="char36")', 'created_from="created_at"'),
    "source": (
        "UUIDv7Field(primary_key=True)",
        'created_from="pk", start="2020-01-01T00:00:00Z", end="2021-01-01T00:00:00Z"',
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_keys_are_those_of_the_edited_migration(depot, edit):
    field, source = EDITS[edit]
    small.create(depot)
    small.write_move(depot)
    stop_before(depot, NOTE, "0002_step")
    depot.names.pop()
    small.write_move(depot, field=field, options=f"{source}, old={small.OLD}")
    depot.migrate()
    connection.check_constraints()
    wanted = small.IN_ORDER if edit != "source" else ["e", "d", "c", "b", "a"]
    assert small.names(depot) == wanted
    key = depot.model("Customer")._meta.pk
    assert all(key.scheme.created_at(each.pk) for each in depot.model("Customer").objects.all())


BY_BACKFILL = 'created_from="created_at", on_null="now"'
"""With that, the map is filled by a backfill."""


def left_over():
    names = connection.introspection.table_names()
    return [each for each in names if each.startswith("sortable_ids_")]


@pytest.mark.parametrize("field", ["UUIDv7Field", "SnowflakeField"])
def test_a_map_that_is_filled_in_another_way(depot, small_move, field):
    stop_before(depot, NOTE, "0002_step")
    depot.names.pop()
    small.write_move(
        depot, field=f"{field}(primary_key=True)", options=f"{BY_BACKFILL}, old={small.OLD}"
    )
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    assert left_over() == []
    depot.migrate("0001_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS


def test_new_keys_of_deleted_rows_are_those_of_the_edited_migration(filled):
    depot, before = filled.depot, filled.keys()
    filled.write_move()
    stop_before(depot, NOTE, "0002_step")
    depot.names.pop()
    filled.write_move("SnowflakeField", BY_BACKFILL)
    depot.migrate()
    assert is_one_to_one(before, filled.keys())
    assert {type(filled.key(name)) for name in "bce"} == {int}
    assert left_over() == [DELETED]
    depot.migrate("0001_step")
    assert filled.keys() == before


OLD_FIELDS = {"another": "BigIntegerField({})", "none": ""}


@pytest.mark.parametrize("edit", OLD_FIELDS)
def test_copies_of_old_keys_are_those_of_the_edited_migration(filled, edit):
    depot, before = filled.depot, filled.keys()
    filled.write_move(old="IntegerField({})")
    stop_before(depot, NOTE, "0002_step")
    depot.names.pop()
    filled.write_move(old=OLD_FIELDS[edit])
    depot.migrate()
    assert is_one_to_one(before, filled.keys())
    for table in ("depot_historicalcustomer", "depot_customer"):
        column = tables.column_info(connection, table, "old_id")
        assert (column and column.kind) == ("bigint" if OLD_FIELDS[edit] else None)
    if OLD_FIELDS[edit]:
        copies = filled.objects("HistoricalCustomer")
        assert {each.pk: str(each.old_id) for each in copies.all()} == {
            row: key for (name, row), key in before.items() if name == "HistoricalCustomer"
        }
        depot.migrate("0001_step")
        assert filled.keys() == before


@mysql_only
def test_a_move_that_began_to_change_tables_is_completed_as_it_was(filled):
    depot, before = filled.depot, filled.keys()
    filled.write_move(old="IntegerField({})")
    stop_before(depot, RENAMES, "0002_step")
    depot.names.pop()
    filled.write_move(old="BigIntegerField({})")
    with pytest.raises(BackfillError, match="restore its migration as it was, and run that again"):
        depot.migrate()
    depot.names.pop()
    filled.write_move(old="IntegerField({})")
    depot.migrate()
    assert is_one_to_one(before, filled.keys())
