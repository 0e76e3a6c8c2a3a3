"""Names with a %, which Django writes into its SQL as they are."""

import pytest
from django.db import connection

from django_sortable_ids.db import tables
from django_sortable_ids.errors import BackfillError
from tests.marks import own_tables

pytestmark = own_tables

MODELS = """
from django.db import models
from django_sortable_ids.fields import *


class Customer(models.Model):
    name = models.CharField(max_length=20)
    joined = models.DateTimeField(auto_now_add=True)


class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE{column})
    public_id = ULIDField(null=True)

    class Meta:
        db_table = "{table}"
"""
ROWS = """
from django.db import connection
from depot.models import *

def execute(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql, None)

quote = connection.ops.quote_name
table, column = quote("{table}"), quote("{column}")
for name in "abc":
    customer = Customer.objects.create(name=name)
    execute(f"INSERT INTO {{table}} ({{column}}) VALUES ({{customer.pk}})")
"""
NAMES = """
execute(f"CREATE UNIQUE INDEX {quote('one%s_name')} ON depot_customer (name)")
execute(f"CREATE INDEX {quote('by%d')} ON depot_customer (joined)")
execute(f"CREATE INDEX {quote('of%')} ON depot_order (customer_id, public_id)")
if connection.vendor != "sqlite":
    check = "CHECK (name <> '5%s')"
    execute(f"ALTER TABLE depot_customer ADD CONSTRAINT {quote('check%cent')} {check}")
    key = "FOREIGN KEY (customer_id) REFERENCES depot_customer (id)"
    execute(f"ALTER TABLE depot_order ADD CONSTRAINT {quote('key%s')} {key}")
"""
LIST = "from depot.models import *; print([each.customer.name for each in Order.objects.all()])"
SHOWN = """
from django.db import connection

with connection.cursor() as cursor:
    tables = ("depot_customer", "depot_order")
    found = [connection.introspection.get_constraints(cursor, each) for each in tables]
print(sorted(name for each in found for name in each if "%" in name))
"""


@pytest.fixture
def project(create):
    def made(table="depot_order", column="customer_id", more=""):
        given = f', db_column="{column}"' if "%" in column else ""
        models = MODELS.replace("{table}", table).replace("{column}", given)
        return create(models, rows=ROWS.format(table=table, column=column) + more)

    return made


def test_names_of_constraints_and_indexes(project):
    project = project(more=NAMES)
    before = project.shell(SHOWN)
    assert "%" in before
    column = ["backfill_ids", "depot.Order.public_id"]
    project.manage(*column, "--created-from=customer__joined", "&&", *column, "--verify")
    project.manage(*column, "--write-migration", "&&", "migrate")
    project.change_models("ULIDField(null=True)", "ULIDField(unique=True)")
    project.add_keys("Customer", "Order")
    project.write_move()
    project.manage("migrate", "&&", "makemigrations", "--check")
    assert project.shell(LIST) == "['a', 'b', 'c']"
    assert project.shell(SHOWN) == before
    project.manage("migrate", "depot", project.names[-2])
    assert project.shell(SHOWN) == before


@pytest.mark.parametrize(
    ("names", "name"),
    [({"table": "depot_or%der"}, "depot_or%der"), ({"column": "customer%s"}, "customer%s")],
)
def test_names_of_tables_and_columns_are_refused(project, names, name):
    project = project(**names)
    project.add_keys("Customer", "Order")
    done = project.move("--write-migration")
    assert (done.returncode, project.names) == (1, ["0001_initial"])
    assert f"{name}: Django writes names into its SQL as they are" in done.stderr


CRATE = """\
CreateModel("Crate", [
    ("id", BigAutoField(primary_key=True)),
    ("at", DateTimeField(null=True)),
    ("one", ULIDField(null=True)),
    ("other", UUIDv7Field(null=True)),
], options={"db_table": "depot_pro%cent"}),
"""


@pytest.mark.parametrize(
    "operation",
    [
        'SwapSortableID("crate", "one", "other")',
        'AddSortableID("crate", "public_id", ULIDField(unique=True), created_from="at")',
    ],
)
def test_an_operation_changes_no_column(depot, operation):
    depot.write(CRATE)
    depot.migrate()
    table, quote = "depot_pro%cent", connection.ops.quote_name
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {quote(table)} ({quote('at')}) VALUES (NULL)", None)
    before = tables.columns(connection, table)
    depot.write(f"{operation},", atomic=False)
    with pytest.raises(BackfillError, match=f"{table}: Django writes names into its SQL"):
        depot.migrate()
    assert tables.columns(connection, table) == before
