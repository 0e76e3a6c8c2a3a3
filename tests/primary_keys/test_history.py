"""History tables contain keys of rows that are gone: each has one new key, the same everywhere."""

from datetime import timedelta

import pytest
from django.db import connection

from django_sortable_ids.functions.time_columns import time_range
from django_sortable_ids.ids import created_at
from django_sortable_ids.schemes import get
from tests.marks import own_tables
from tests.support import constraints, execute, on_statement, raising

from .histories import AT, DELETED, day, is_one_to_one
from .stops import migrate_until_done

pytestmark = own_tables

MAP = "sortable_ids_next__depot_customer"
COLLECTS = rf"^\s*INSERT INTO .*{DELETED}"
"""What writes the keys of deleted rows into a table that remains."""


def tables():
    return set(connection.introspection.table_names())


END = time_range(get("snowflake"))[1]
FIELDS = ["ULIDField", "SnowflakeField", "KSUIDField"]
"""A text in the column of a UUID, a number, and bytes."""


@pytest.mark.parametrize("field", FIELDS)
def test_each_key_has_one_new_one_and_comes_back_also_in_a_second_move(filled, field):
    before, depot = filled.keys(), filled.depot
    filled.write_move(field)
    for _ in range(2):
        depot.migrate()
        after = filled.keys()
        assert is_one_to_one(before, after)
        assert not set(before.values()) & set(after.values())
        copies = filled.objects("HistoricalCustomer")
        assert {each.pk: str(each.old_id) for each in copies.all()} == {
            row: key for (name, row), key in before.items() if name == "HistoricalCustomer"
        }
        indexes = [each["columns"] for each in constraints("depot_historicalcustomer").values()]
        assert indexes.count(["old_id"]) == 1
        depot.migrate("0001_step")
        assert filled.keys() == before
        assert DELETED not in tables()


def test_new_keys_have_the_time_of_the_first_history_row(filled):
    filled.write_move()
    filled.depot.migrate()
    at = [created_at(filled.objects("HistoricalCustomer").filter(name=name)[0]) for name in "be"]
    assert at == [day(8), day(5)]


def test_a_project_without_time_zones_in_the_east(filled, settings):
    """There, the last times of a scheme are after the calendar."""
    filled.write_move()
    settings.TIME_ZONE, settings.USE_TZ = "Asia/Tokyo", False
    before = filled.keys()
    filled.depot.migrate()
    assert is_one_to_one(before, filled.keys())


@pytest.mark.parametrize(
    ("field", "at", "bound"),
    [
        ("UUIDv7Field", "1960-01-01T00:00Z", get("uuid7").earliest),
        ("SnowflakeField", END, END - timedelta(milliseconds=1)),
    ],
)
def test_times_that_the_scheme_does_not_have_become_its_first_or_last_one(filled, field, at, bound):
    for name, key in (("HistoricalCustomer", "id"), ("HistoricalOrder", "customer_id")):
        rows = filled.objects(name).filter(**{key: filled.key("b")})
        rows.update(history_date=at)
    filled.write_move(field)
    filled.depot.migrate()
    rows = filled.objects("HistoricalCustomer").filter(name="b")
    assert {created_at(row) for row in rows} == {bound}


def test_each_statement_can_be_the_last(filled):
    depot, third, last = filled.depot, filled.key("c"), filled.key("e")
    # Never a key of a row, and no key.
    filled.objects("Visit").create(number=last + 1, text="no key")
    before = filled.keys()
    filled.write_move()
    assert migrate_until_done(depot) > 15
    assert is_one_to_one(before, filled.keys())
    filled.delete("c", 11)
    filled.add("x", 12)
    filled.delete("x", 13)
    filled.objects("Visit").create(text="later")
    rows = filled.keys()
    known = {row: key for row, key in before.items() if row in rows}
    assert migrate_until_done(depot, "0001_step") > 10
    assert {row: key for row, key in filled.keys().items() if row in known} == known
    assert (filled.key("c"), filled.key("x")) == (third, last + 2)
    assert DELETED not in tables()


def test_a_row_that_was_restored_keeps_its_key(filled):
    filled.write_move()
    depot = filled.depot
    before = filled.keys()
    stop = on_statement(COLLECTS, raising(ValueError("stopped")), after=True)
    with stop, pytest.raises(ValueError, match="stopped"):
        depot.migrate()
    key = filled.key("b")
    filled.objects("Customer").create(id=key, name="b", created_at=day(8))
    depot.migrate()
    before |= {("Customer", "b"): str(key)}
    assert is_one_to_one(before, filled.keys())
    assert filled.objects("Customer").get(name="b").pk == filled.key("b")


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("HistoricalOrder", {"id": 1, "customer_id": 99, "history_date": AT}),
        ("Customer", {"id": 99, "name": "z", "created_at": AT}),
    ],
)
def test_rows_that_are_inserted_during_the_move_stop_it(filled, name, row):
    before = filled.keys()
    filled.write_move()

    def insert():
        filled.objects(name).create(**row)

    with on_statement(COLLECTS, insert, after=True, once=True):
        said = filled.depot.refusal()
    assert said == (
        f"depot_{name.lower()}: rows were inserted during the migration. No key was moved: stop "
        "the application, and migrate again"
    )
    filled.objects(name).filter(**row).delete()
    assert filled.keys() == before
    filled.depot.migrate()
    assert is_one_to_one(before, filled.keys())


def test_without_deleted_rows_no_table_remains(shop):
    shop.create()
    key = shop.add("a", 1).pk
    shop.write_move()
    shop.depot.migrate()
    assert DELETED not in tables()
    shop.depot.migrate("0001_step")
    assert shop.key("a") == key


def test_keys_that_are_not_kept(filled):
    before = filled.keys()
    filled.write_move()
    filled.depot.migrate()
    assert DELETED in tables()
    filled.write_move("ULIDField", old="")
    filled.depot.migrate()
    assert is_one_to_one(before, filled.keys())
    assert DELETED not in tables()


def test_no_deleted_row_gets_the_key_of_another(filled):
    before, deleted = filled.keys(), filled.key("b")
    filled.write_move("SnowflakeField")

    def collide():
        [(taken,)] = execute(f"SELECT MAX(new_key) FROM {MAP} WHERE time IS NULL")
        execute(f"UPDATE {MAP} SET new_key = {taken} WHERE old_key = {deleted}")

    fills = rf"^\s*UPDATE .*{MAP}.* SET \S*new_key"
    with on_statement(fills, collide, after=True, once=True) as done:
        filled.depot.migrate()
    assert done
    assert is_one_to_one(before, filled.keys())


def test_a_time_that_is_gone_with_its_row(filled):
    key = filled.objects("Customer").get(name="c").pk + 1
    assert filled.objects("HistoricalOrder").filter(customer_id=key).delete()
    before = filled.keys()
    filled.write_move()
    filled.depot.migrate()
    assert is_one_to_one(before, filled.keys())


def test_keys_that_contain_a_time_are_converted(shop):
    shop.create("ULIDField(primary_key=True)", "ULIDField(db_index=True)")
    before, after = moved_there_and_back(shop, source='convert_from="id"', old="ULIDField({})")
    rows = [each for each in before if each[0] != "Tagged"]
    by_both = [sorted(rows, key=lambda row, of=of: (of[row], row)) for of in (before, after)]
    assert by_both[0] == by_both[1]


def test_texts_as_keys(shop):
    shop.create("CharField(max_length=9, primary_key=True)", "CharField(max_length=9)")
    moved_there_and_back(
        shop, lambda name: {"id": f"key-{name}"}, old="CharField(max_length=9, {})"
    )


def moved_there_and_back(shop, key=lambda name: {}, **move):
    """The keys of three rows, one of them deleted, before the move and after it."""
    for number, name in enumerate("abc"):
        shop.add(name, 1 + number, **key(name))
    shop.delete("b", 10)
    before = shop.keys()
    shop.write_move(**move)
    shop.depot.migrate()
    after = shop.keys()
    assert is_one_to_one(before, after)
    shop.depot.migrate("0001_step")
    assert shop.keys() == before
    return before, after


# Deleted rows that were inserted again under their new keys


def restore(shop, name, key):
    """As somebody does who knows nothing of its old key."""
    shop.objects("Customer").create(id=key, name=name, created_at=day(8))


def key_of_d(shop):
    """It has no history of its own, but one of its order."""
    return shop.objects("HistoricalOrder").get(pk=4).customer_id


def customers(shop):
    return dict(shop.objects("Customer").values_list("name", "pk"))


def test_a_restored_row_gets_its_old_key_back(filled):
    before, depot = filled.keys(), filled.depot
    old = {name: filled.key(name) for name in "bce"} | {"d": key_of_d(filled)}
    filled.write_move()
    depot.migrate()
    filled.delete("c", 11)  # its old key is in the history only
    for name in "bce":
        restore(filled, name, filled.key(name))
    restore(filled, "d", key_of_d(filled))
    depot.migrate("0001_step")
    assert {name: key for name, key in customers(filled).items() if name in old} == old
    after = filled.keys()
    assert {row: key for row, key in after.items() if row in before} == {
        row: key for row, key in before.items() if row in after
    }


def test_it_does_not_get_the_old_key_of_another_row(filled):
    second, fourth, last = filled.key("b"), key_of_d(filled), filled.key("e")
    filled.write_move()
    filled.depot.migrate()
    for name, old_id in (("x", second), ("y", fourth)):
        filled.objects("Customer").create(name=name, created_at=AT, old_id=old_id)
    restore(filled, "b", filled.key("b"))
    restore(filled, "d", key_of_d(filled))
    filled.depot.migrate("0001_step")
    found = customers(filled)
    assert (found["x"], found["y"]) == (second, fourth)
    assert {found["b"], found["d"]} == {last + 1, last + 2}
    assert (filled.key("b"), key_of_d(filled)) == (found["b"], found["d"])
