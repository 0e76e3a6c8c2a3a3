"""Keys of every kind become ids, which sort as (creation time, old key); the times come from where
the migration says.
"""

from datetime import UTC, datetime

import pytest
from django.db import connection

from django_sortable_ids.errors import BackfillError
from django_sortable_ids.primary_keys import key_map
from django_sortable_ids.primary_keys import sorted_keys as at_once
from tests.combinations import each_with
from tests.marks import own_tables

from . import small

pytestmark = own_tables

NOW = datetime(2024, 6, 1, tzinfo=UTC)
TWO = "UUIDv7", "ULID"
ROWS = """
def more_rows(apps, schema_editor):
    Customer, Order = (apps.get_model("depot", name) for name in ("Customer", "Order"))
    at = datetime(2024, 3, 1, tzinfo=UTC)
    for number in range(60):
        # 1, 2, 3 ... rows of one time, and times of one second.
        at += timedelta(milliseconds=200 if number in (1, 3, 6, 10, 15, 21, 36) else 0)
        name = f"m{number * 37 % 60:02}"
        customer = Customer.objects.create(name=name, created_at=at)
        Order.objects.create(name=name, customer=customer)
"""
MOVE = """\
MigratePrimaryKey(
    keys=[
        MovedKey("depot.Customer", "id", {field}, created_from="created_at"),
        MovedKey("depot.Order", "id", {field}, created_from="customer__created_at"),
    ],
    references=[("depot_order", "customer_id", "depot.Customer")],
),
"""


@pytest.mark.parametrize(
    ("page", "field"),
    each_with([1, 3, 7, 1000], ["UUIDv7Field", "SnowflakeField", "KSUIDField"]),
)
def test_pages_end_between_ticks(depot, monkeypatch, field, page):
    monkeypatch.setattr(at_once, "_PAGE", page)
    small.create(depot, more="RunPython(more_rows),\n", before="", after=ROWS)
    expected = {
        name: list(model.values_list("name", flat=True))
        for name, model in (
            ("Customer", depot.model("Customer").objects.order_by("created_at", "pk")),
            ("Order", depot.model("Order").objects.order_by("customer__created_at", "pk")),
        )
    }
    depot.write(MOVE.format(field=f"{field}(primary_key=True)"), atomic=False)
    depot.migrate()
    for name, names in expected.items():
        assert (
            list(depot.model(name).objects.order_by("pk").values_list("name", flat=True)) == names
        )
    assert small.names(depot) == expected["Customer"]


def test_a_key_whose_column_has_another_name(depot):
    column = 'primary_key=True, db_column="customer_no"'
    small.create(depot, key=f"BigAutoField({column})")
    old = dict(depot.model("Customer").objects.values_list("name", "pk"))
    small.write_move(depot, field=f"UUIDv7Field({column})")
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    depot.migrate("0001_step")
    assert dict(depot.model("Customer").objects.values_list("name", "pk")) == old


def test_keys_that_the_database_generates(depot):
    if not connection.features.can_return_columns_from_insert:
        pytest.skip("no INSERT returns the key")
    imported = "from django_sortable_ids.functions import GenerateID"
    uuid7, ulid = (f"{name}Field(primary_key=True, db_default=GenerateID())" for name in TWO)
    small.create(depot, key=ulid, before=imported)
    old = "ULIDField(null=True, unique=True)"
    move = small.MOVE.format(
        field=uuid7,
        options=f'created_from="created_at", old={old}',
        references=[small.REFERENCE],
        generic=[],
    )
    depot.write(move, imported, atomic=False)
    for target in ("0002_step", "0001_step"):
        depot.migrate(target)
        customer = depot.model("Customer").objects.create(name=target[3], created_at=NOW)
        customer.refresh_from_db()
        assert depot.model("Order").objects.create(name=target[3], customer=customer).pk
        assert small.names(depot)[-1] == target[3]


@pytest.mark.parametrize("page", [1, 1000])
def test_rows_without_a_time(depot, monkeypatch, page):
    """They get keys of now, after all others."""
    monkeypatch.setattr(key_map, "BATCH", page)
    nullable = 'AlterField("Customer", "created_at", DateTimeField(null=True)),\n'
    small.create(depot, more=nullable)
    depot.model("Customer").objects.filter(name__in="ab").update(created_at=None)
    small.write_move(depot, options=f'created_from="created_at", on_null="now", old={small.OLD}')
    depot.migrate()
    assert small.names(depot) == ["c", "e", "d", "b", "a"]


def test_models_with_the_names_of_others_and_their_keys(depot):
    """Such as ``Api`` and ``ApiKeys``."""
    keys = 'CreateModel("CustomerKeys", [("id", BigAutoField(primary_key=True))]),\n'
    small.create(depot, more=keys)
    made = depot.model("CustomerKeys").objects.create()
    move = small.MOVE.format(
        field="UUIDv7Field(primary_key=True)",
        options=f'created_from="created_at", old={small.OLD}',
        references=[small.REFERENCE],
        generic=[],
    )
    other = '"depot.CustomerKeys", "id", UUIDv7Field(primary_key=True), created_at="now"'
    both = f"keys=[MovedKey({other}, old={small.OLD}), "
    depot.write(move.replace("keys=[", both), atomic=False)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    assert depot.model("CustomerKeys").objects.get().old_id == made.pk


# Old keys and sources of times

OLD_UUID = "UUIDField(null=True, unique=True, editable=False)"


def old_of(depot):
    return dict(depot.model("Customer").objects.values_list("name", "pk"))


MIRROR = """\
CreateModel("Shown", [
    ("id", BigAutoField(primary_key=True)),
    ("customer_id", BigIntegerField()),
], {"managed": False, "db_table": "depot_order"}),
"""


def test_a_second_model_of_a_table(depot):
    """The first one has the foreign key."""
    small.create(depot, more=MIRROR)
    small.write_move(depot)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER


def test_random_uuids(depot):
    small.create(
        depot, key="UUIDField(primary_key=True, default=uuid.uuid4)", before="import uuid\n"
    )
    old = old_of(depot)
    small.write_move(depot, options=f'created_from="created_at", old={OLD_UUID}')
    depot.migrate()
    assert sorted(small.names(depot)) == sorted(old)
    assert small.names(depot)[0] == "a"
    later = depot.model("Customer").objects.create(
        name="z", created_at=datetime(2024, 5, 1, tzinfo=UTC)
    )
    depot.migrate("0001_step")
    assert old_of(depot).items() > old.items()
    assert old_of(depot)["z"] != later.pk


def test_after_the_first_number_comes_the_second(depot):
    at = datetime(2024, 5, 1, tzinfo=UTC)
    depot.write(small.MODELS.format(key="BigAutoField(primary_key=True)"))
    depot.migrate()
    depot.model("Customer").objects.create(created_at=at)
    small.write_move(depot)
    depot.migrate()
    depot.migrate("0001_step")
    depot.model("Customer").objects.create(created_at=at)
    assert {*depot.model("Customer").objects.values_list("pk", flat=True)} == {1, 2}


def test_an_old_key_without_a_next_value_is_refused_on_the_way_back(depot):
    small.create(
        depot, key="UUIDField(primary_key=True, default=uuid.uuid4)", before="import uuid\n"
    )
    without = "UUIDField(primary_key=True, default=None)"
    depot.write(f'AlterField("Customer", "id", {without}),')
    small.write_move(depot, options=f'created_from="created_at", old={OLD_UUID}')
    depot.migrate()
    depot.model("Customer").objects.create(name="z", created_at=datetime(2024, 5, 1, tzinfo=UTC))
    with pytest.raises(BackfillError, match="UUIDField has no next value"):
        depot.migrate("0002_step")
    assert "z" in old_of(depot)
