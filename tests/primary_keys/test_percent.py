"""Names with a %. Django writes them into its SQL as they are, so it can't query a table with such
a name, except on SQLite."""

from tests.marks import own_tables

pytestmark = own_tables

MODELS = """
from django.db import models
from django_sortable_ids.fields import *


class Customer(models.Model):
    name = models.CharField(max_length=20)
    joined = models.DateTimeField(auto_now_add=True)


class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE)
    public_id = ULIDField(null=True)
"""
ROWS = """
from django.db import connection
from depot.models import *

def execute(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql, None)

for name in "abc":
    Order.objects.create(customer=Customer.objects.create(name=name))
Order.objects.update(public_id=None)
quote = connection.ops.quote_name
table, column = quote("notes%d"), quote("of%s")
kind = Customer._meta.pk.rel_db_type(connection)
key = f"FOREIGN KEY ({column}) REFERENCES depot_customer (id)"
execute(f"CREATE TABLE {table} ({column} {kind}, {key})")
execute(f"INSERT INTO {table} SELECT id FROM depot_customer")
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
NOTES = """
from django.db import connection
from depot.models import Customer

sql = "SELECT c.* FROM depot_customer c JOIN {0}notes%d{0} n ON c.id = n.{0}of%s{0} ORDER BY name"
quote = connection.ops.quote_name("")[0]
print([each.name for each in Customer.objects.raw(sql.format(quote).replace("%", "%%"))])
"""
SHOWN = """
from django.db import connection

with connection.cursor() as cursor:
    tables = ("depot_customer", "depot_order")
    found = [connection.introspection.get_constraints(cursor, each) for each in tables]
print(sorted(name for each in found for name in each if "%" in name))
"""


def test_names_in_the_database(create):
    """Of constraints and indexes, and of a table and a column that no model has."""
    project = create(MODELS, rows=ROWS)
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
    assert project.shell(NOTES) == "['a', 'b', 'c']"
    assert project.shell(SHOWN) == before
    project.manage("migrate", "depot", project.names[-2])
    assert project.shell(SHOWN) == before
