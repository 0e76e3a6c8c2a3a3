"""The plan of a move ends with columns that seem to contain keys."""

import json

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.db import connection
from django.db.migrations.state import ProjectState
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.operations import MigratePrimaryKey, MovedKey
from django_sortable_ids.primary_keys.changes.texts import generic_references
from django_sortable_ids.primary_keys.checklist import adopted_otherwise, checklist
from tests.backfill.own_project import SETTINGS, Project

MODELS = """
from django.contrib.contenttypes.models import ContentType
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=20)


class Order(models.Model):
    buyer = models.ForeignKey(Customer, models.CASCADE)
    customer_id = models.IntegerField(null=True)
    country_id = models.IntegerField(default=1)
    recommended_customer_ids = models.CharField(max_length=50, default="1,2")
    extra = models.JSONField(default=dict)
    draft = models.TextField(default="{}")
    copy = models.TextField(default="{}")
    body = models.TextField(default="[]")
    words = models.TextField(default="no JSON: customer_id")
    pk_of_other = models.IntegerField(default=1)
    watched = models.JSONField(default=list)
    pinned = models.TextField(default="[]")
    ratings = models.JSONField(default=list)
    colours = models.JSONField(default=list)
    customerid = models.IntegerField(default=1)
    is_customer = models.BooleanField(default=True)
    nested = models.JSONField(default=dict)


class Country(models.Model):
    code = models.CharField(max_length=2, primary_key=True)


class Rating(models.Model):
    customer_id = models.IntegerField(null=True)
    order = models.ForeignKey(Order, models.CASCADE)


class Profile(models.Model):
    customer_id = models.IntegerField(primary_key=True)


class Note(models.Model):
    object_id = models.CharField(max_length=40)
    kind = models.ForeignKey(ContentType, models.CASCADE)


class Log(models.Model):
    about_object_id = models.CharField(max_length=40)
    about_content_type = models.ForeignKey(ContentType, models.CASCADE)
"""
ROWS = """
import json

from django.core import serializers
from depot.models import Customer, Order, Profile, Rating

for number in range(1, 4):
    customer = Customer.objects.create(name=f"customer {number}")
    extra = {"items": [{"customer_id": number}], "customer": {"id": number}, "order_id": 5}
    order = Order.objects.create(
        buyer=customer,
        customer_id=number,
        extra=extra,
        draft=json.dumps({"pk": 5, "buyer": number, "country_id": 1}),
        copy=serializers.serialize("json", [customer]),
        watched=[number, 1],
        pinned=json.dumps([str(number)]),
        ratings=[0, number],
        colours=["red", "blue"],
        nested={
            "deep": [{"customer": number, "number": number}, {"customers": [{"id": number}]}],
            "favouriteCustomer": number,
            "xs": [number],
            "scores": [number, -1],
            "customer_name": f"customer {number}",
            "buyers": 77,
        },
        body=json.dumps([{"type": "customer", "value": number}, {"type": "text", "value": "x"}]),
    )
    Rating.objects.create(customer_id=1000 + number, order=order)
    Profile.objects.create(customer_id=number)
"""
EDITED = MODELS.replace(
    "class Customer(models.Model):\n",
    "class Customer(models.Model):\n"
    "    id = UUIDv7AutoField(primary_key=True)\n"
    "    old_id = models.BigIntegerField(null=True, unique=True, editable=False)\n",
)


def test_columns_that_contain_keys(tmp_path):
    project = Project(tmp_path / "project")
    project.create(
        MODELS, SETTINGS + 'INSTALLED_APPS += ["django.contrib.contenttypes"]', rows=ROWS
    )
    imported = "from django_sortable_ids.fields import UUIDv7AutoField\n"
    (project.folder / "depot" / "models.py").write_text(f"{imported}{EDITED}")
    done = project.backfill("depot.Customer", "--primary-key", "--json")
    found = json.loads(done.stdout)["findings"]
    lists = "lists, in which 3 of {} members are keys of depot.Customer"
    assert {each["column"]: (each["kind"], each["text"]) for each in found} == {
        "depot_order.customer_id": ("column", "3 of 3 values are keys of depot.Customer"),
        "depot_order.draft": ("document", "buyer"),
        "depot_order.copy": ("document", "pk"),
        "depot_order.body": ("document", "customer"),
        "depot_order.extra": ("document", "customer.id, customer_id"),
        "depot_order.customerid": ("column", "1 of 1 values are keys of depot.Customer"),
        "depot_order.nested": ("document", "customer, customers.id, favouriteCustomer, xs"),
        "depot_order.recommended_customer_ids": ("several", "such as 1,2"),
        "depot_order.watched": ("several", lists.format(3)),
        "depot_order.pinned": ("several", lists.format(3)),
        "depot_profile.customer_id": ("column", "3 of 3 values are keys of depot.Customer"),
        "depot_note.object_id": ("generic", "with the content type kind_id"),
    }
    plan = project.backfill("depot.Customer", "--primary-key").stdout.splitlines()
    assert "depot_log.about_object_id: texts of keys, by content type" in plan
    start = plan.index("Decide about 12 columns without a foreign key:")
    assert plan[start + 1].startswith("  name it by --adopt, ")
    assert plan[-2].endswith(': see "Before you move a primary key" in the documentation')
    assert plan[-1].startswith("Next: decide, then ")
    write = ("depot.Customer", "--primary-key", "--write-migration", "--leave=depot_[op]r*")
    done = project.backfill(*write)
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith(": --leave depot_note.object_id")
    assert not list((project.folder / "depot" / "migrations").glob("0002*"))
    for more in ([], ["--leave=depot_note.object_id"]):
        done = project.backfill(*write, *more, "--leave=depot_note.objectid")
        assert done.stderr == (
            "BackfillError: --leave depot_note.objectid: the database has no such column; nearest: "
            "depot_note.object_id. Correct the name, or omit it\n"
        )
    done = project.backfill(*write, "--leave=depot_note.object_id")
    assert done.returncode == 0, done.stderr
    assert list((project.folder / "depot" / "migrations").glob("0002*"))


MOVED = ("auth.User", "auth.Group")


def change_of(*labels):
    """What changes if the keys of these models move."""
    keys = [MovedKey(each, "id", UUIDv7Field(primary_key=True)) for each in labels]
    move = MigratePrimaryKey(keys, generic=generic_references(connection))
    before = ProjectState.from_apps(apps)
    after = before.clone()
    move.state_forwards("", after)
    return move.engine(connection.schema_editor(), keys, before, after).change


@pytest.mark.django_db(transaction=True)
def test_a_name_that_tells_the_model():
    """Small numbers are keys of several models: more of them are keys of another one."""
    groups = [Group.objects.create(name=name).pk for name in "abc"]
    for pk in groups:
        User.objects.create(pk=pk, username=str(pk))
    Group.objects.filter(pk=groups[-1]).delete()
    names = ["group_id", "groupid", "group_pk", "old_group_id", "former_group", "gone_group_id"]
    quoted = [connection.ops.quote_name(each) for each in [*names, "members"]]
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE legacy ({' integer, '.join(quoted)} text)")
        for pk in groups:
            values = [*[pk] * 5, groups[-1], json.dumps(groups)]
            cursor.execute(f"INSERT INTO legacy VALUES ({', '.join(['%s'] * 7)})", values)
        try:
            change = change_of(*MOVED)
            found = checklist(connection, change)
        finally:
            cursor.execute("DROP TABLE legacy")
    assert {each.column: each.text for each in found} == {
        **{f"legacy.{name}": "2 of 3 values are keys of auth.Group" for name in names[:-1]},
        "legacy.gone_group_id": "0 of 1 values are keys of auth.Group",
        "legacy.members": "lists, in which 3 of 3 members are keys of auth.User",
    }
    adopted = [("legacy", name, label) for name in ("group_id", "members") for label in MOVED]
    assert list(adopted_otherwise(change, [*adopted, ("legacy", "group_id", "kind_id")])) == [
        "legacy.group_id is adopted with keys of auth.User, but its name says auth.Group: compare "
        "its values with both tables before you write the migration"
    ]


@pytest.mark.django_db(transaction=True)
def test_the_key_of_a_table_is_read_once_for_all_its_columns():
    change, counts = change_of("auth.Group"), []
    for columns in ("a text", "a text, b text, c text, d text, e text"):
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE legacy ({columns})")
        try:
            with CaptureQueriesContext(connection) as queries:
                checklist(connection, change)
        finally:
            with connection.cursor() as cursor:
                cursor.execute("DROP TABLE legacy")
        counts.append(len(queries))
    assert counts[1] - counts[0] == 4 * len(["BEGIN", "SELECT", "COMMIT"])


@pytest.mark.django_db(transaction=True)
def test_tables_that_no_model_has():
    group = Group.objects.create(name="a")
    array = "text" if connection.vendor == "mysql" else "integer[]"
    members = "{%s}" if connection.vendor == "postgresql" else "[%s]"
    group_column = connection.ops.quote_name("group")
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TABLE legacy (group_id integer, unused_group_id integer, note text, "
            f"{group_column} varchar(9), members {array})"
        )
        cursor.execute(
            "INSERT INTO legacy VALUES (%s, NULL, '{no JSON', %s, %s)",
            [group.pk, group.pk, members % group.pk],
        )
        cursor.execute(
            f"CREATE TABLE legacy_log (id integer PRIMARY KEY, group_id integer, "
            f"{group_column} integer, note_group integer)"
        )
        cursor.execute("CREATE TABLE sortable_ids_deleted__group (group_id integer)")
        cursor.execute("CREATE TABLE sortable_ids_group (group_id integer)")
        # The first rows have keys of deleted ones.
        log = [(n, 70_000 + n, 70_000 + n, 70_000 + n) for n in range(1200)]
        log[-1] = (1200, group.pk, group.pk, 80_000)
        cursor.executemany("INSERT INTO legacy_log VALUES (%s, %s, %s, %s)", log)
        try:
            found = checklist(connection, change_of("auth.Group"))
        finally:
            cursor.execute("DROP TABLE legacy")
            cursor.execute("DROP TABLE legacy_log")
            cursor.execute("DROP TABLE sortable_ids_deleted__group")
            cursor.execute("DROP TABLE sortable_ids_group")
    one = "1 of 1 values are keys of auth.Group"
    assert {each.column: each.text for each in found} == {
        "legacy.group_id": one,
        "legacy.group": one,
        "legacy.unused_group_id": "no values",
        "sortable_ids_group.group_id": "no values",
        "legacy_log.group_id": "1 of 1,200 values are keys of auth.Group",
        "legacy_log.group": "1 of 1,200 values are keys of auth.Group",
        "legacy.members": "lists, in which 1 of 1 members are keys of auth.Group",
    }
