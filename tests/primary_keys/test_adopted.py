"""``--adopt``: columns with keys that have no foreign key."""

import json

import pytest
from django.db import connection

from tests.marks import own_tables

from .own_database import TYPES

pytestmark = own_tables

MODELS = """
from django.db import models
from django.contrib.contenttypes.models import ContentType


class Customer(models.Model):
    name = models.CharField(max_length=20)


class Visit(models.Model):
    name = models.CharField(max_length=20)
    customer_no = models.BigIntegerField(null=True, db_index=True)
    customer_text = models.CharField(max_length=40, null=True)
    short_text = models.CharField(max_length=9, null=True)


class Entry(models.Model):
    name = models.CharField(max_length=20)
    kind = models.ForeignKey(ContentType, models.CASCADE)
    object_pk = models.CharField(max_length=255)
"""
ROWS = """
from django.contrib.contenttypes.models import ContentType
from depot.models import *

kind = ContentType.objects.get_for_model(Customer)
other = ContentType.objects.get_for_model(ContentType)
for name in {names}:
    one = Customer.objects.create(name=name)
    text = "unknown" if name == "c" else str(one.pk)
    Visit.objects.create(name=name, customer_no=one.pk, customer_text=text)
    Entry.objects.create(name=name, kind=kind, object_pk=one.pk)
    Entry.objects.create(name=f"other {{name}}", kind=other, object_pk=1)
Visit.objects.create(name="nobody")
Customer.objects.filter(name__in={deleted}).delete()
"""
DUMP = """
from depot.models import *

found = {
    "Customer": {each.name: str(each.pk) for each in Customer.objects.all()},
    "number": {each.name: str(each.customer_no) for each in Visit.objects.all()},
    "text": {each.name: str(each.customer_text) for each in Visit.objects.all()},
    "entry": {each.name: str(each.object_pk) for each in Entry.objects.all()},
}
"""
ADOPTED = (
    "--adopt=depot_visit.customer_no=depot.Customer",
    "--adopt=depot_visit.customer_text=depot.Customer",
    "--adopt=depot_entry.object_pk=depot_entry.kind_id",
)


@pytest.fixture
def project(create):
    return create(MODELS, *TYPES, rows=ROWS.format(names=list("abcd"), deleted=list("bd")))


def edit(project, number="models.UUIDField"):
    project.add_keys("Customer")
    project.change_models("no = models.BigIntegerField", f"no = {number}")


def test_verifying_a_key_before_its_move_is_applied(project):
    edit(project)
    done = project.backfill("depot.Customer.id", "--verify")
    assert done.returncode == 1
    assert done.stderr == (
        "BackfillError: depot.Customer.id is another field in the migrations that are applied, "
        "BigAutoField: run this with the code of these migrations, or run makemigrations and "
        "migrate first; a key moves by --primary-key. Nothing was written.\n"
    )


def test_they_move_and_come_back(project):
    before = project.found(DUMP)
    edit(project)
    document = json.loads(project.move(*ADOPTED, "--json").stdout)
    assert list(document["adopted"].values()) == [2, 2, 2]
    assert document["next"].endswith(f" --primary-key {' '.join(ADOPTED)} --write-migration")
    printed = project.write_move(*ADOPTED).splitlines()
    assert [line for line in printed if "adopted" in line] == [
        "depot_visit.customer_no: adopted, with 2 keys of deleted rows",
        "depot_visit.customer_text: adopted, with 2 keys of deleted rows",
        "depot_entry.object_pk: adopted, with 2 keys of deleted rows",
    ]
    project.manage("migrate", "&&", "makemigrations", "--check")
    after = project.found(DUMP)
    for name in "abcd":
        keys = {after[each][name] for each in ("number", "text", "entry")} - {"unknown"}
        assert len(keys) == 1
        assert {len(key) for key in keys} == {36}
        assert after["Customer"].get(name, *keys) in keys
        assert after["entry"][f"other {name}"] == "1"
    assert after["text"]["c"] == "unknown"
    assert after["number"]["nobody"] == "None"
    project.shell(ROWS.format(names=list("xy"), deleted=list("x")))
    project.manage("migrate", "depot", "0001")
    project.models.write_text(MODELS)
    again = project.found(DUMP)
    new = {name: {again[each][name] for each in ("number", "text", "entry")} for name in list("xy")}
    assert new == {"x": {"6"}, "y": {"5"}}
    assert again["Customer"].pop("y") == "5"
    assert before == {
        table: {name: again[table][name] for name in found} for table, found in before.items()
    }


def test_a_table_without_a_model(project):
    project.sql(
        "CREATE TABLE depot_raw (name varchar(9), owner bigint)",
        "INSERT INTO depot_raw SELECT name, customer_no FROM depot_visit "
        "WHERE customer_no IS NOT NULL",
    )
    edit(project, "models.BigIntegerField")
    printed = project.write_move("--adopt=depot_raw.owner=depot.Customer", "--leave=depot_*")
    assert "depot_raw.owner: adopted, with 2 keys of deleted rows" in printed
    assert "  depot_raw.owner\n" in printed
    project.manage("migrate")
    assert raw(project, "JOIN depot_customer c ON c.id = r.owner") == [["a", "a"], ["c", "c"]]
    joined = "JOIN sortable_ids_deleted__depot_customer c ON c.new_key = r.owner"
    assert raw(project, joined, "c.old_key") == [["b", 2], ["d", 4]]
    project.manage("migrate", "depot", "0001")
    assert raw(project, "", "r.owner") == [["a", 1], ["b", 2], ["c", 3], ["d", 4]]


def raw(project, join, column="c.name"):
    code = f"""
from django.db import connection

with connection.cursor() as cursor:
    cursor.execute("SELECT r.name, {column} FROM depot_raw r {join} ORDER BY 1")
    found = cursor.fetchall()
"""
    return project.found(code)


REFUSED = {
    "nonsense": "expected TABLE.COLUMN=app.Model, or TABLE.COLUMN=TABLE.COLUMN_OF_CONTENT_TYPES",
    "depot_visits.x=depot.Customer": (
        "there is no depot_visits.x; there is no table depot_visits; nearest: depot_visit"
    ),
    "DEPOT_VISIT.customer_no=depot.Customer": (
        "there is no DEPOT_VISIT.customer_no; there is no table DEPOT_VISIT; nearest: depot_visit"
    ),
    "depot_visit.x=depot.Customer": (
        "there is no depot_visit.x; depot_visit has id, name, customer_no, customer_text, "
    ),
    "depot_entry.object_pk=depot_entry.type": "there is no depot_entry.type; depot_entry has id,",
    "depot_visit.customer_no=depot.Visit": (
        "depot.Visit is no model whose key moves; these are depot.Customer"
    ),
    "depot_visit.customer_no=depot.Customer": (
        "depot.Visit.customer_no is of type BigIntegerField, which doesn't fit keys of "
        "depot.Customer: make it a field whose column is "
    ),
    "depot_visit.name=depot.Customer": "depot.Visit.name is of type CharField in",
}


def test_what_is_refused(project):
    edit(project, "models.BigIntegerField")
    project.change_models(
        "name = models.CharField(max_length=20)\n    customer_no",
        "name = models.UUIDField()\n    customer_no",
    )
    for given, message in REFUSED.items():
        done = project.move(f"--adopt={given}")
        assert done.stderr.startswith(f"BackfillError: --adopt {given}: {message}")
    assert done.stderr.endswith(
        " the migrations, and the key of type BigAutoField: leave CharField in the model\n"
    )


def test_a_field_that_gives_ids_to_rows_without_a_key_is_refused(project):
    edit(project, "UUIDv7Field")
    project.change_models("fields import ", "fields import UUIDv7Field, ")
    done = project.move(ADOPTED[0])
    assert "customer_no is of type UUIDv7Field, which doesn't fit keys of " in done.stderr


def test_a_column_of_a_view_follows_its_table(project):
    model = """

class Visitor(models.Model):
    name = models.CharField(max_length=20, primary_key=True)
    customer_id = models.BigIntegerField()

    class Meta:
        managed = False
"""
    edit(project)
    project.models.write_text(project.models.read_text() + model)
    project.sql(
        "CREATE VIEW depot_visitor AS SELECT name, customer_no AS customer_id FROM depot_visit"
    )
    done = project.move("--adopt=depot_visitor.customer_id=depot.Customer")
    assert "depot_visitor is a view, which shows the new keys by itself: omit it" in done.stderr
    done = project.move("--allow=depot_visitor" if connection.vendor != "postgresql" else "--json")
    assert "depot_visitor.customer_id" not in done.stdout


def test_texts_without_room(project):
    edit(project)
    project.sql("UPDATE depot_visit SET short_text = '1' WHERE name = 'a'")
    done = project.move("--adopt=depot_visit.short_text=depot.Customer")
    assert "1 row of depot_visit.short_text with keys of depot.Customer, for whose" in done.stderr
