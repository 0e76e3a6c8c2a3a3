"""Tables of PostgreSQL in another schema than ``public``, by their name or by the search path."""

import pytest
from django.core.management.base import CommandError
from django.db import connection

from tests.marks import own_tables
from tests.support import execute

from . import small

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="schemas of PostgreSQL"),
]

MODELS = """\
CreateModel("Customer", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("created_at", DateTimeField()),
], options={{"db_table": {customer!r}}}),
CreateModel("Order", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("customer", ForeignKey("depot.Customer", CASCADE)),
], options={{"db_table": {order!r}}}),
CreateModel("HistoricalCustomer", [
    ("id", BigIntegerField(db_index=True)),
    ("name", CharField(max_length=9)),
    ("history_id", AutoField(primary_key=True)),
    ("history_date", DateTimeField()),
], options={{"db_table": {history!r}}}),
RunPython(add_rows, RunPython.noop),
RunPython(add_history, RunPython.noop),
"""
HISTORY = """
def add_history(apps, schema_editor):
    Customer = apps.get_model("depot", "Customer")
    deleted = Customer(pk=99, name="q", created_at=datetime(2024, 1, 3))
    for one in [*Customer.objects.all(), deleted]:
        apps.get_model("depot", "HistoricalCustomer").objects.create(
            id=one.pk, name=one.name, history_date=one.created_at.replace(tzinfo=UTC)
        )
"""
MOVE = """\
MigratePrimaryKey(
    keys=[MovedKey(
        "depot.Customer", "id", UUIDv7Field(primary_key=True), created_from="created_at",
        old=BigIntegerField(null=True, unique=True),
    )],
    references=[
        ({order!r}, "customer_id", "depot.Customer"),
        ({history!r}, "id", "depot.Customer"),
    ],
    copies=[KeyCopy(
        "depot.HistoricalCustomer", "id", "depot.Customer", UUIDv7Field(db_index=True),
        old=BigIntegerField(null=True, db_index=True),
    )],
    histories=[("depot.HistoricalCustomer", "history_date")],
),
"""
CATALOGUE = """
SELECT c.oid::regclass::text, attname::text, format_type(atttypid, atttypmod), attidentity::text,
    pg_get_serial_sequence(c.oid::regclass::text, attname)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute ON attrelid = c.oid
WHERE nspname IN ('Depot sales', 'public') AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    AND (nspname = 'Depot sales' OR relname LIKE '%depot%')
UNION ALL
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', ''
FROM pg_constraint WHERE connamespace = '"Depot sales"'::regnamespace
UNION ALL
SELECT tablename, indexname, indexdef, '', '' FROM pg_indexes WHERE schemaname = 'Depot sales'
ORDER BY 1, 2, 3
"""


@pytest.fixture
def sales(depot):
    execute('CREATE SCHEMA "Depot sales"')
    yield depot
    execute('DROP SCHEMA "Depot sales" CASCADE')


def move_and_return(depot):
    before, rows = execute(CATALOGUE), history(depot)
    depot.migrate("0002_step")
    assert small.names(depot) == small.IN_ORDER
    assert len({key for _, key in history(depot)}) == 6
    later = depot.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
    depot.model("Order").objects.create(name="z", customer_id=later.pk)
    depot.migrate("0001_step")
    assert small.names(depot) == [*small.IN_ORDER_OF_KEYS, "z"]
    assert history(depot) == rows
    assert execute(CATALOGUE) == before


def history(depot):
    return sorted(depot.model("HistoricalCustomer").objects.values_list("name", "id"))


def write(depot, **names):
    depot.write(MODELS.format(**names), small.ROWS + HISTORY)
    depot.write(MOVE.format(**names), atomic=False)
    depot.migrate("0001_step")


@pytest.mark.parametrize("order", ['"Depot sales"."order"', "depot_order"])
def test_a_schema_in_the_name(sales, order):
    names = {each: f'"Depot sales"."{each}"' for each in ("customer", "history")}
    write(sales, order=order, **names)
    move_and_return(sales)


@pytest.fixture
def in_path(sales):
    execute('SET search_path = "Depot sales", public')
    yield sales
    execute("RESET search_path")


def test_a_schema_in_the_search_path(in_path):
    names = {each: f"depot_{each}" for each in ("customer", "order", "history")}
    write(in_path, **names)
    assert execute("SELECT to_regclass('public.depot_customer') IS NULL") == [(True,)]
    move_and_return(in_path)


def test_a_table_that_no_model_has(sales):
    names = {each: f'"Depot sales"."{each}"' for each in ("customer", "order", "history")}
    write(sales, **names)
    execute(
        'CREATE TABLE "Depot sales".review (c bigint REFERENCES "Depot sales".customer (id))',
        'INSERT INTO "Depot sales".review SELECT id FROM "Depot sales".customer',
    )
    with pytest.raises(CommandError) as error:
        sales.migrate()
    table = '"Depot sales"."review"'
    assert f"{table}.c refers to depot.Customer" in str(error.value)
    listed = MOVE.replace("references=[", f"references=[({table!r}, 'c', 'depot.Customer'),")
    sales.names.pop()
    sales.write(listed.format(**names), atomic=False)
    move_and_return(sales)
