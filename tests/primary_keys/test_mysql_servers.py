"""MariaDB and MySQL with a setting that a server has from its start."""

from contextlib import closing
from importlib import import_module

import pytest

from tests.backfill.own_project import SETTINGS, Project
from tests.servers import NoServer, server

from .mysql import mysql_only

pytestmark = mysql_only

MODELS = """
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=9)

    class Meta:
        db_table = "Depot_Customer"


class Tag(models.Model):
    customers = models.ManyToManyField(Customer, db_table="Depot_TAGS")


class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE)

    class Meta:
        db_table = "Depot_ORDER"
"""
ROWS = """
from depot.models import *

for name in "abc":
    customer = Customer.objects.create(name=name)
    Order.objects.create(customer=customer)
    Tag.objects.create().customers.add(customer)
"""
DUMP = """
from depot.models import *

names = [each.customer.name for each in Order.objects.order_by("id")]
tags = [each.customers.get().name for each in Tag.objects.order_by("id")]
found = [names, tags]
"""


def execute(port, *statements):
    """What the last one returns, of the user ``root``."""
    made = import_module("MySQLdb").connect(
        host="127.0.0.1", port=port, user="root", autocommit=True
    )
    with closing(made), made.cursor() as cursor:
        for each in statements:
            cursor.execute(each)
        return list(cursor.fetchall())


@pytest.fixture
def port():
    try:
        with server("mysql", "--lower-case-table-names=1") as made:
            execute(made.port, "CREATE DATABASE depot CHARACTER SET utf8mb4")
            yield made.port
    except NoServer as error:
        pytest.skip(str(error))


def test_names_of_tables_whose_case_is_ignored(port, tmp_path):
    own = {"ENGINE": "django.db.backends.mysql", "NAME": "depot", "USER": "root"}
    own |= {"HOST": "127.0.0.1", "PORT": port}
    project = Project(tmp_path / "project")
    project.create(MODELS, f"{SETTINGS}DATABASES = {{'default': {own!r}}}\n", rows=ROWS)
    execute(
        port,
        "CREATE TABLE depot.Depot_Review (id int PRIMARY KEY, Customer bigint, "
        "CONSTRAINT reviewed FOREIGN KEY (Customer) REFERENCES depot.DEPOT_customer (ID))",
        "INSERT INTO depot.depot_review SELECT id, id FROM depot.depot_customer",
    )

    def definitions():
        names = [name for (name,) in execute(port, "USE depot", "SHOW TABLES") if "depot" in name]
        shown = (execute(port, "USE depot", f"SHOW CREATE TABLE `{name}`")[0] for name in names)
        return dict(shown)

    before = definitions()
    assert "depot_customer" in before
    project.add_keys("Customer")
    printed = project.write_move()
    assert "depot_review.Customer" in printed
    assert "Depot_ORDER.customer_id" in printed
    project.manage("migrate")
    assert project.found(DUMP) == [["a", "b", "c"], ["a", "b", "c"]]
    joined = "SELECT count(*) FROM depot.depot_review r JOIN depot.depot_customer c ON c.id = {}"
    assert execute(port, joined.format("r.Customer")) == [(3,)]
    found = definitions()
    assert set(found) == set(before)
    assert "CONSTRAINT `reviewed` FOREIGN KEY" in found["depot_review"]
    project.manage("migrate", "depot", "0001")
    assert definitions() == before
