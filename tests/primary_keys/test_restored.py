"""Rows that were deleted, and inserted again under their new keys: the way back knows their old
keys."""

from tests.marks import own_tables

from .test_history import AT, day, filled, shop  # noqa: F401

pytestmark = own_tables


def restore(shop, name, key):  # noqa: F811
    """As somebody does who knows nothing of its old key."""
    shop.objects("Customer").create(id=key, name=name, created_at=day(8))


def key_of_d(shop):  # noqa: F811
    """It has no history of its own, but one of its order."""
    return shop.objects("HistoricalOrder").get(pk=4).customer_id


def customers(shop):  # noqa: F811
    return dict(shop.objects("Customer").values_list("name", "pk"))


def test_a_restored_row_gets_its_old_key_back(filled):  # noqa: F811
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


def test_it_does_not_get_the_old_key_of_another_row(filled):  # noqa: F811
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
