"""Columns with keys that the models take for numbers: of a foreign key that only the database has,
and of a table that shares the keys of another one."""

import json

import pytest
from django.db import connection

from tests.marks import own_tables

from .own_database import TYPES

pytestmark = own_tables

MODELS = """
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=20)


class Visit(models.Model):
    name = models.CharField(max_length=20)
    customer_no = models.BigIntegerField(null=True)


class Details(models.Model):
    customer_id = models.BigIntegerField(primary_key=True)
    name = models.CharField(max_length=20)


class Room(models.Model):
    room_id = models.BigIntegerField(primary_key=True)
"""
ROWS = """
from depot.models import *

for name in "abc":
    pk = Customer.objects.create(name=name).pk
    Visit.objects.create(name=name, customer_no=pk)
    Details.objects.create(name=name, customer_id=pk)
    Room.objects.create(room_id=pk)
"""
FOUND = """
from depot.models import *

found = [
    [each.name, Visit.objects.get(customer_no=each.pk).name, Details.objects.get(pk=each.pk).name]
    for each in Customer.objects.order_by("name")
]
"""
SAME = [[name] * 3 for name in "abc"]
KEY = "customer_id = models.BigIntegerField(primary_key=True)"
OWN_KEY = """{name} = UUIDv7AutoField(primary_key=True)
    old_{name} = models.BigIntegerField(null=True, unique=True, editable=False)"""
ADOPTED = (
    "--adopt=depot_visit.customer_no=depot.Customer",
    "--adopt=depot_details.customer_id=depot.Customer",
)


@pytest.fixture
def project(create):
    project = create(MODELS, *TYPES, rows=ROWS)
    refers = "FOREIGN KEY (customer_no) REFERENCES depot_customer (id)"
    if connection.vendor == "sqlite":
        project.sql(
            "CREATE TABLE other (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, "
            f"name varchar(20) NOT NULL, customer_no bigint, {refers})",
            "INSERT INTO other SELECT id, name, customer_no FROM depot_visit",
            "DROP TABLE depot_visit",
            "ALTER TABLE other RENAME TO depot_visit",
        )
    else:
        project.sql(f"ALTER TABLE depot_visit ADD CONSTRAINT depot_known {refers}")
    project.add_keys("Customer")
    return project


def test_a_foreign_key_that_only_the_database_has(project):
    for edited in ("models.BigIntegerField", "models.UUIDField"):
        project.change_models("no = models.BigIntegerField", f"no = {edited}")
        assert project.move().stderr == (
            "BackfillError: No key was moved.\n"
            "depot_visit.customer_no has a foreign key to depot.Customer, and is a BigIntegerField "
            "in the migrations: name it by --adopt depot_visit.customer_no=depot.Customer, or "
            "make it a ForeignKey, by makemigrations and migrate, before the move\n"
        )
    project.change_models(KEY, "customer_id = models.UUIDField(primary_key=True)")
    project.write_move(*ADOPTED)
    project.manage("migrate", "&&", "makemigrations", "--check")
    assert project.found(FOUND) == SAME
    project.manage("migrate", "depot", "0001")
    project.models.write_text(MODELS)
    assert project.found(FOUND) == SAME


def test_a_moved_key_whose_values_are_those_of_another(project):
    """Which would get other values. A key that is named after its own model is no reference."""
    project.change_models("no = models.BigIntegerField", "no = models.UUIDField")
    for name in ("customer_id", "room_id"):
        plain = f"{name} = models.BigIntegerField(primary_key=True)"
        project.change_models(plain, OWN_KEY.format(name=name))
    found = json.loads(project.move(ADOPTED[0], "--json").stdout)["findings"]
    assert [(each["column"], each["text"]) for each in found] == [
        ("depot_details.customer_id", "3 of 3 values are keys of depot.Customer")
    ]
    done = project.move(*ADOPTED)
    assert done.stderr == (
        f"BackfillError: {ADOPTED[1].replace('=', ' ', 1)}: the key of depot.Details gets values "
        "of its own: take back its edits first\n"
    )
    project.sql("UPDATE depot_details SET customer_id = customer_id + 1000")
    assert json.loads(project.move(ADOPTED[0], "--json").stdout)["findings"] == []
