"""MariaDB and MySQL with settings that a server has from its start."""

from contextlib import contextmanager
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


class Own:
    """A server, and the project in one of its databases, as the user ``less``."""

    def __init__(self, port):
        self.port = port
        self.root(
            "CREATE DATABASE depot CHARACTER SET utf8mb4",
            "CREATE USER less@'%' IDENTIFIED BY 'pw'",
            "CREATE USER less@localhost IDENTIFIED BY 'pw'",
            "GRANT ALL ON depot.* TO less@'%', less@localhost",
        )
        own = {
            "ENGINE": "django.db.backends.mysql",
            "NAME": "depot",
            "USER": "less",
            "PASSWORD": "pw",
            "HOST": "127.0.0.1",
            "PORT": port,
        }
        self.settings = f"{SETTINGS}DATABASES = {{'default': {own!r}}}\n"

    def root(self, *statements):
        made = import_module("MySQLdb").connect(
            host="127.0.0.1", port=self.port, user="root", autocommit=True
        )
        try:
            with made.cursor() as cursor:
                for each in statements:
                    cursor.execute(each)
                return list(cursor.fetchall())
        finally:
            made.close()

    def definitions(self):
        names = [name for (name,) in self.root("USE depot", "SHOW TABLES")]
        return {
            name: self.root("USE depot", f"SHOW CREATE TABLE `{name}`")[0][1]
            for name in names
            if "depot" in name
        }


@contextmanager
def started(*options):
    try:
        with server("mysql", *options) as made:
            yield Own(made.port)
    except NoServer as error:
        pytest.skip(str(error))


def created(own, folder):
    """The project, whose models have the new key and whose database the old one."""
    project = Project(folder / "project")
    project.create(MODELS, own.settings, rows=ROWS)
    return project


def test_a_binary_log_and_a_user_without_super(tmp_path):
    """Error 1419: such a user may create no trigger, and sees those that there are."""
    with started("--server-id=1", "--log-bin=changes") as own:
        project = created(own, tmp_path)
        project.add_keys("Customer")
        project.write_move()
        project.manage("migrate")
        assert project.found(DUMP) == [["a", "b", "c"], ["a", "b", "c"]]


def test_names_of_tables_whose_case_is_ignored(tmp_path):
    with started("--lower-case-table-names=1") as own:
        project = created(own, tmp_path)
        own.root(
            "CREATE TABLE depot.Depot_Review (id int PRIMARY KEY, Customer bigint, "
            "CONSTRAINT reviewed FOREIGN KEY (Customer) REFERENCES depot.DEPOT_customer (ID))",
            "INSERT INTO depot.depot_review SELECT id, id FROM depot.depot_customer",
        )
        before = own.definitions()
        assert "depot_customer" in before
        project.add_keys("Customer")
        printed = project.write_move()
        assert "depot_review.Customer" in printed
        assert "Depot_ORDER.customer_id" in printed
        project.manage("migrate")
        assert project.found(DUMP) == [["a", "b", "c"], ["a", "b", "c"]]
        joined = (
            "SELECT count(*) FROM depot.depot_review r JOIN depot.depot_customer c ON c.id = {}"
        )
        assert own.root(joined.format("r.Customer")) == [(3,)]
        found = own.definitions()
        assert set(found) == set(before)
        assert "CONSTRAINT `reviewed` FOREIGN KEY" in found["depot_review"]
        project.manage("migrate", "depot", "0001")
        assert own.definitions() == before
