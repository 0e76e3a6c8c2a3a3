"""Keys of every kind become ids; the times come from where the migration says."""

from datetime import UTC, datetime

from tests.marks import own_tables

from . import small

pytestmark = own_tables
OLD_UUID = "UUIDField(null=True, unique=True, editable=False)"


def old_of(depot):
    return dict(depot.model("Customer").objects.values_list("name", "pk"))


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


def test_ids_of_another_scheme_keep_their_bits(depot):
    small.create(depot, key="ULIDField(primary_key=True)")
    old = old_of(depot)
    options = 'convert_from="id", old=ULIDField(null=True, unique=True, editable=False)'
    small.write_move(depot, field="UUIDv7Field(primary_key=True)", options=options)
    depot.migrate()
    customer = depot.model("Customer")
    before, after = (customer._meta.get_field(name) for name in ("old_id", "id"))
    for each in customer.objects.all():
        assert (
            abs(
                before.scheme.created_at(each.old_id) - after.scheme.created_at(each.pk)
            ).total_seconds()
            < 1
        )
    depot.migrate("0001_step")
    assert old_of(depot) == old


def test_a_period_and_the_present(depot):
    small.create(depot)
    old = old_of(depot)
    period = 'created_from="pk", start="2020-02-01", end="2020-11-30"'
    small.write_move(depot, options=f"{period}, old={small.OLD}")
    depot.migrate()
    assert small.names(depot) == ["e", "d", "c", "b", "a"]
    customer = depot.model("Customer")
    field = customer._meta.get_field("id")
    assert {field.scheme.created_at(each.pk).year for each in customer.objects.all()} == {2020}
    depot.migrate("0001_step")
    assert old_of(depot) == old


def test_an_alter_field_keeps_the_numbers_of_64_bit_keys(depot):
    small.create(depot)
    old = old_of(depot)
    depot.write('AlterField("customer", "id", SnowflakeField(primary_key=True)),')
    depot.migrate()
    assert old_of(depot) == old
    customer = depot.model("Customer").objects.create(
        name="z", created_at=datetime(2024, 5, 1, tzinfo=UTC)
    )
    depot.model("Order").objects.create(name="z", customer_id=customer.pk)
    assert small.names(depot) == ["e", "d", "c", "b", "a", "z"]
