"""A key of counted numbers that becomes one of snowflakes, and what points to it."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.ids import created_at
from tests.marks import own_tables
from tests.support import columns, execute

pytestmark = own_tables

COUNTERS = ("BigAutoField", "SmallAutoField")
EPOCH = datetime(2010, 11, 4, 1, 42, 54, 657_000, tzinfo=UTC)
SNOWFLAKE = 'AlterField("order", "id", SnowflakeField(primary_key=True)),'
ROWS = """\
def add_rows(apps, schema_editor):
    Order, Line = apps.get_model("depot", "Order"), apps.get_model("depot", "Line")
    Tag = apps.get_model("depot", "Tag")
    tag = Tag.objects.create(name="t")
    for name in "abcde":
        order = Order.objects.create(name=name)
        order.tags.add(tag)
        Line.objects.create(name=name, order=order)
"""


def tables(counter="BigAutoField"):
    return f"""\
CreateModel("Tag", [("id", {counter}(primary_key=True)), ("name", CharField(max_length=9))]),
CreateModel("Order", [
    ("id", {counter}(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("tags", ManyToManyField("depot.Tag", related_name="orders")),
]),
CreateModel("Line", [
    ("id", {counter}(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("order", ForeignKey("depot.Order", CASCADE)),
]),
"""


@pytest.fixture(params=COUNTERS)
def counted(depot, request):
    """Five orders with a line and a tag each."""
    depot.write(f"{tables(request.param)}RunPython(add_rows),", ROWS)
    depot.migrate()
    return depot


def keys(depot):
    return depot.column("depot_order", "id"), depot.column("depot_line", "order_id")


def test_the_numbers_are_kept_and_new_ids_come_after_them(counted):
    before = keys(counted)
    counted.write(SNOWFLAKE)
    counted.migrate()
    assert keys(counted) == before
    order, line, tag = (counted.model(name) for name in ("Order", "Line", "Tag"))
    for name in "abcde":
        assert line.objects.get(order__name=name, order__tags__name="t").order.name == name
    assert order.objects.get(pk=before[0][0]).tags.get().orders.count() == 5
    old = list(order.objects.order_by("pk"))
    new = [order.objects.create(name="n") for _ in range(3)]
    assert list(order.objects.order_by("pk")) == old + new
    assert new[-1].pk > 2**60
    new[0].tags.add(tag.objects.get().pk)
    assert line.objects.create(name="n", order_id=new[0].pk).order == new[0]
    with pytest.raises(IntegrityError), transaction.atomic():
        line.objects.create(name="x", order_id=2**61)


def test_the_numbers_are_ids_of_the_first_millisecond_of_the_epoch(counted):
    counted.write(SNOWFLAKE)
    counted.migrate()
    order = counted.model("Order")
    assert {created_at(row) for row in order.objects.all()} == {EPOCH}
    assert order.objects.filter(id__created_at__year=2010).count() == 5
    last, first = (order(pk=number) for number in (2**22 - 1, 2**22))
    assert created_at(last) == EPOCH
    assert created_at(first) == EPOCH + timedelta(milliseconds=1)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="its rows without a key have the next")
def test_the_database_counts_no_longer(counted):
    counted.write(SNOWFLAKE)
    counted.migrate()
    if connection.vendor == "postgresql":
        assert execute("SELECT pg_get_serial_sequence('depot_order', 'id')") == [(None,)]
    else:
        assert columns("depot_order")["id"].extra == ""
    with pytest.raises(DatabaseError), transaction.atomic():
        execute("INSERT INTO depot_order (name) VALUES ('x')")


def test_a_sequence_of_an_old_serial_column_goes_too(depot):
    """Django made these on PostgreSQL before 4.1."""
    if connection.vendor != "postgresql":
        pytest.skip("PostgreSQL only")
    depot.write(tables())
    depot.migrate()
    execute(
        "ALTER TABLE depot_order ALTER id DROP IDENTITY",
        "CREATE SEQUENCE depot_order_id_seq OWNED BY depot_order.id",
        "ALTER TABLE depot_order ALTER id SET DEFAULT nextval('depot_order_id_seq')",
        "INSERT INTO depot_order (name) VALUES ('a'), ('b')",
    )
    depot.write(SNOWFLAKE)
    depot.migrate()
    assert depot.column("depot_order", "id") == [1, 2]
    assert depot.model("Order").objects.create(name="c").pk > 2**60
    assert execute("SELECT pg_get_serial_sequence('depot_order', 'id')") == [(None,)]


def test_no_table_is_written_anew_for_a_key_of_64_bits(depot):
    """PostgreSQL drops the counter, MariaDB and MySQL the AUTO_INCREMENT."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite copies the table, as it does for every AlterField")
    depot.write(f"{tables()}RunPython(add_rows),", ROWS)
    depot.migrate()
    depot.write(SNOWFLAKE)
    with CaptureQueriesContext(connection) as queries:
        depot.migrate()
    altered = [query["sql"] for query in queries if "ALTER TABLE" in query["sql"]]
    own = [
        sql
        for sql in altered
        if sql.startswith(('ALTER TABLE "depot_order" ', "ALTER TABLE `depot_order` "))
    ]
    if connection.vendor == "postgresql":
        assert own == [
            'ALTER TABLE "depot_order" ALTER COLUMN "id" DROP IDENTITY IF EXISTS',
            'ALTER TABLE "depot_order" ALTER COLUMN "id" TYPE bigint',
        ]
    else:
        assert own == ["ALTER TABLE `depot_order` MODIFY `id` bigint NOT NULL"]


def test_a_scheme_that_has_no_such_numbers_is_refused(counted):
    before = keys(counted)
    number = before[0][0]
    counted.write('AlterField("order", "id", Time64Field(primary_key=True)),')
    assert counted.refusal() == (
        "Nothing was migrated.\ndepot.0002_step, depot.order.id: the table has rows, and an "
        f"AlterField changes no value: {number} is not a valid 64-bit decimal time id: it is out "
        "of the scheme's range. Expected a whole number of 19 digits, such as 1767225600000071425. "
        "5 values were checked, from both ends and the middle of the table. Delete the changes of "
        "the key and of a field for the old one, and let `manage.py backfill_ids depot "
        "--primary-key --write-migration` write a migration that moves the key. Or declare what "
        "the values are, if they may stay (UUIDs of other versions by accept_other_versions=True)."
    )
    assert keys(counted) == before
