"""What a plan advises is done to the letter, and works."""

import json
import re

import pytest

from tests.backfill.own_project import KEY
from tests.marks import own_tables

from .own_database import TYPES

pytestmark = own_tables

MODELS = """
from django.contrib.contenttypes.fields import GenericForeignKey
from django.contrib.contenttypes.models import ContentType
from django.db import models
from django_sortable_ids.fields import UUIDv7AutoField


class Customer(models.Model):
    name = models.CharField(max_length=20)


class Tag(models.Model):
    content_type = models.ForeignKey(ContentType, models.CASCADE)
    object_id = models.PositiveIntegerField()
    target = GenericForeignKey()
    parent_type = models.ForeignKey(ContentType, models.CASCADE, null=True, related_name="+")
    parent = GenericForeignKey("parent_type")


class Label(Tag):
    pass  # The column of its generic key is in the table of its parent.


class Visit(models.Model):
    customer_id = models.PositiveBigIntegerField()
    customer_ids = models.JSONField(default=list)
"""
ROWS = """
from depot.models import *

for name in "abc":
    customer = Customer.objects.create(name=name)
    Tag.objects.create(target=customer)
    Visit.objects.create(customer_id=customer.pk, customer_ids=[customer.pk])
"""
LOOK = """
from depot.models import *

found = [
    [tag.target.name for tag in Tag.objects.all()],
    [Customer.objects.get(pk=visit.customer_id).name for visit in Visit.objects.all()],
    [Customer.objects.get({}__in=visit.customer_ids).name for visit in Visit.objects.all()],
]
"""
NAMES = [list("abc")] * 3
LEFT = "--leave=depot_visit.*"
ADOPTED = "--adopt=depot_visit.customer_id=depot.Customer"


@pytest.fixture
def project(create):
    return create(MODELS, *TYPES, rows=ROWS)


def edit(project):
    start = "class Customer(models.Model):\n"
    project.change_models(start, start + KEY)


def names(project, key="pk"):
    return project.found(LOOK.format(key))


def move(project, *arguments):
    return project.backfill("depot.Customer", "--primary-key", *arguments)


def follow(project, advice, field):
    """Do what the message says of a field, and edit the keys again."""
    kind = re.search(
        r"take back the edits of the keys if there are any, make it (\w+\(?.*?\)?), ", advice
    )
    project.change_models(KEY, "")
    definition = kind[1] if ")" in kind[1] else f"{kind[1]}()"
    project.change_models(field, f"models.{definition}")
    project.manage("makemigrations", "depot", "&&", "migrate")
    edit(project)


def test_columns_without_room(project):
    assert names(project) == NAMES
    edit(project)
    done = move(project, LEFT)
    assert done.returncode == 1
    assert "3 rows of depot_tag.object_id with keys of depot.Customer" in (done.stderr)
    follow(project, done.stderr, "models.PositiveIntegerField()")
    project.change_models("customer_id = models.PositiveBigInteger", "customer_id = models.UUID")
    done = move(project, LEFT, ADOPTED)
    assert done.returncode == 1
    assert "whose CHECK is about numbers: take back the edits of the keys" in done.stderr
    follow(project, done.stderr, "models.UUIDField()")
    project.change_models("customer_id = models.BigInteger", "customer_id = models.UUID")
    done = move(project, LEFT, ADOPTED, "--write-migration")
    assert done.returncode == 0, done.stderr
    assert "writes 3 tables with 9 rows" in done.stdout  # one of them by its generic references
    project.manage("migrate", "&&", "makemigrations", "--check")
    assert names(project, "old_id") == NAMES


def test_several_keys_in_a_value(project):
    """They stay as they are: their rows are found by the old key."""
    edit(project)
    project.shell("from depot.models import *; Tag.objects.all().delete()")
    finding = json.loads(move(project, "--json").stdout)["findings"][1]
    assert (finding["kind"], finding["column"]) == ("several", "depot_visit.customer_ids")
    assert "--adopt" not in finding["advice"]
    done = move(project, "--adopt=depot_visit.customer_ids=depot.Customer")
    assert done.stderr.splitlines()[-1].endswith(
        "=depot.Customer: no move changes several keys in a value: --leave it"
    )
    done = move(project, LEFT, "--write-migration")
    assert done.returncode == 0, done.stderr
    project.manage("migrate")
    code = (
        "from depot.models import *; print([Customer.objects.get(old_id__in=v.customer_ids).name "
    )
    code += "for v in Visit.objects.all()])"
    assert project.shell(code) == "['a', 'b', 'c']"


def edited_as_printed(project, *arguments):
    """Apply the edits that the plan prints."""
    document = json.loads(move(project, *arguments, "--json").stdout)
    [edit] = document["edits"]
    assert edit["classes"] == ["depot.models.Customer"]
    start = "class Customer(models.Model):\n"
    project.change_models(start, start + "".join(f"    {each}\n" for each in edit["text"]))
    project.models.write_text("\n".join([*edit["needs"], project.models.read_text()]))


RELATED = "\n    tags = GenericRelation('depot.Tag')"


@pytest.mark.parametrize("to", [None, "ULIDAutoField"])
def test_the_plan_judges_before_an_edit(project, to):
    """And the edits that it prints then pass the checks."""
    arguments = [f"--to={to}"] * bool(to)
    done = move(project, *arguments)
    assert done.returncode == 1
    assert "of depot_tag.object_id with keys of depot.Customer" in done.stderr
    length = 26 if to else 36
    field = f"models.CharField(max_length={length})"
    assert f"take back the edits of the keys if there are any, make it {field[7:]}" in done.stderr
    project.change_models("models.PositiveIntegerField()", field)
    imported = "import GenericForeignKey\n"
    project.change_models(imported, imported.replace("\n", ", GenericRelation\n"))
    name = "name = models.CharField(max_length=20)"
    project.change_models(name, name + RELATED)
    project.manage("makemigrations", "depot", "&&", "migrate")
    edited_as_printed(project, *arguments)
    project.manage("check")
    done = move(project, *arguments, LEFT, "--write-migration")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("depot_tag.object_id: texts of keys") == 1
    project.manage("migrate", "&&", "check", "--database", "default")
    code = "from depot.models import *; print([c.tags.count() for c in Customer.objects.all()])"
    assert project.shell(code) == "[1, 1, 1]"


LEDGER = """

class Ledger(models.Model):
    buyer = models.ForeignKey(Customer, models.DO_NOTHING)

    class Meta:
        managed = False
        db_table = "depot_ledger"
"""


def test_an_unmanaged_table_whose_foreign_key_only_the_model_has(project):
    project.models.write_text(project.models.read_text() + LEDGER)
    project.manage("makemigrations", "depot", "&&", "migrate")
    project.sql(
        "CREATE TABLE depot_ledger (id integer PRIMARY KEY, buyer_id bigint)",
        "INSERT INTO depot_ledger SELECT id, id FROM depot_customer",
    )
    code = "from depot.models import *; print([each.buyer.name for each in Ledger.objects.all()])"
    assert project.shell(code) == "['a', 'b', 'c']"
    project.shell("from depot.models import *; Tag.objects.all().delete()")
    edit(project)
    done = move(project, LEFT, "--write-migration")
    assert "  depot_ledger.buyer_id\n" in done.stdout
    project.manage("migrate")
    assert project.shell(code) == "['a', 'b', 'c']"


@pytest.mark.parametrize("name", ["UUIDv7Autofield", "SortableAutoField", "SortableIDField"])
def test_a_class_of_keys_that_does_not_exist_or_has_no_scheme(project, name):
    done = move(project, f"--to={name}")
    assert done.returncode == 2
    refused, _, choices = done.stderr.rpartition("(choose from ")
    assert f"argument --to: invalid choice: '{name}'" in refused
    assert "UUIDv7AutoField" in choices
    assert "Sortable" not in choices
