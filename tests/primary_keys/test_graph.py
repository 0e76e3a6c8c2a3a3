"""Keys are moved with every column that refers to them, and back."""

from django.apps import apps
from django.db import connection
from django.db.migrations.state import ProjectState

from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.operations import MigratePrimaryKey, MovedKey
from tests.marks import own_tables

pytestmark = own_tables

MODELS = """\
CreateModel("Customer", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9, unique=True)),
    ("created_at", DateTimeField(db_index=True)),
    ("invited_by", ForeignKey("depot.Customer", CASCADE, null=True)),
]),
CreateModel("Vip", [
    ("customer_ptr", OneToOneField("depot.Customer", CASCADE, parent_link=True, primary_key=True)),
    ("level", IntegerField()),
], bases=("depot.customer",)),
CreateModel("Profile", [
    ("customer", OneToOneField("depot.Customer", CASCADE, primary_key=True)),
    ("text", CharField(max_length=9)),
]),
CreateModel("Note", [
    ("id", BigAutoField(primary_key=True)),
    ("profile", ForeignKey("depot.Profile", CASCADE)),
    ("vip", ForeignKey("depot.Vip", SET_NULL, null=True)),
]),
CreateModel("Tag", [
    ("id", AutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("customers", ManyToManyField("depot.Customer")),
]),
CreateModel("Order", [
    ("id", AutoField(primary_key=True)),
    ("number", IntegerField()),
    ("customer", ForeignKey("depot.Customer", CASCADE)),
    ("shown_to", ForeignKey("depot.Customer", CASCADE, db_constraint=False, related_name="+")),
], options={
    "unique_together": {("customer", "number")},
    "indexes": [Index(fields=["-customer", "number"], name="depot_order_newest")],
    "constraints": [
        UniqueConstraint(fields=["customer"], condition=Q(number=0), name="depot_order_first"),
    ],
}),
"""
ROWS = """
from datetime import UTC, datetime, timedelta

def add_rows(apps, schema_editor):
    model = lambda name: apps.get_model("depot", name)
    customers = []
    for n, name in enumerate("edcbagf"):
        at = datetime(2024, 1, 9 - n // 2, tzinfo=UTC)
        inviter = customers[n // 2] if n % 3 else None
        customers.append(
            model("Customer").objects.create(name=name, created_at=at, invited_by=inviter)
        )
    for number, customer in enumerate(customers[1:]):
        order = dict(customer=customer, number=number % 2, shown_to=customers[0])
        model("Order").objects.create(**order)
    for customer in customers[:3]:
        profile = model("Profile").objects.create(customer=customer, text=customer.name)
        model("Note").objects.create(profile=profile)
    vip = model("Vip")(customer_ptr=customers[4], level=3)
    vip.save_base(raw=True)
    model("Note").objects.create(profile=profile, vip=vip)
    tag = model("Tag").objects.create(name="red")
    tag.customers.add(*customers[:4])
"""
MOVE = """\
MigratePrimaryKey(
    keys=[
        MovedKey(
            "depot.Customer",
            "id",
            {field},
            old=BigIntegerField(null=True, unique=True, editable=False),
            created_from="created_at",
        ),
        MovedKey(
            "depot.Order",
            "id",
            {field},
            old=IntegerField(null=True, unique=True, editable=False),
            created_from="customer__created_at",
        ),
    ],
    references=[
        ("depot_customer", "invited_by_id", "depot.Customer"),
        ("depot_note", "profile_id", "depot.Customer"),
        ("depot_note", "vip_id", "depot.Customer"),
        ("depot_order", "customer_id", "depot.Customer"),
        ("depot_order", "shown_to_id", "depot.Customer"),
        ("depot_profile", "customer_id", "depot.Customer"),
        ("depot_tag_customers", "customer_id", "depot.Customer"),
        ("depot_vip", "customer_ptr_id", "depot.Customer"),
    ],
),
"""


def content(depot):
    """All rows, with the names of customers for their keys."""
    name = {each.pk: each.name for each in depot.model("Customer").objects.all()}
    return {
        "customers": {
            (each.name, each.created_at, name.get(each.invited_by_id))
            for each in depot.model("Customer").objects.all()
        },
        "orders": {
            (each.number, name[each.customer_id], name[each.shown_to_id])
            for each in depot.model("Order").objects.all()
        },
        "profiles": {(name[each.pk], each.text) for each in depot.model("Profile").objects.all()},
        "notes": sorted(
            (name[each.profile_id], name.get(each.vip_id, ""))
            for each in depot.model("Note").objects.all()
        ),
        "vips": {(name[each.pk], each.level) for each in depot.model("Vip").objects.all()},
        "tags": {
            (each.name, tuple(sorted(each.customers.values_list("name", flat=True))))
            for each in depot.model("Tag").objects.all()
        },
    }


def test_a_whole_graph_moves_there_and_back(depot):
    depot.write(f"{MODELS}RunPython(add_rows, RunPython.noop),", ROWS)
    depot.migrate()
    before = content(depot)
    old = dict(depot.model("Customer").objects.values_list("name", "pk"))
    depot.write(MOVE.format(field="ULIDField(primary_key=True)"), atomic=False)
    depot.migrate()
    connection.check_constraints()
    assert content(depot) == before
    customers = depot.model("Customer").objects.order_by("pk")
    assert [each.name for each in customers] == ["f", "a", "g", "c", "b", "e", "d"]
    assert {each.name: each.old_id for each in customers} == old
    later = depot.model("Customer").objects.create(name="z", created_at=customers[0].created_at)
    assert later.old_id is None
    depot.model("Order").objects.create(customer_id=later.pk, number=9, shown_to_id=later.pk)
    known = content(depot)
    depot.migrate("0001_step")
    connection.check_constraints()
    assert content(depot) == known
    assert dict(depot.model("Customer").objects.values_list("name", "pk")) == {
        **old,
        "z": max(old.values()) + 1,
    }


def test_models_are_rendered_once_for_all_keys():
    """Django renders the related ones again after each changed field, which took most of the time
    of a move of 67 keys."""
    state = ProjectState.from_apps(apps)
    rendered = state.apps
    key = MovedKey("django_sortable_ids.MoveNote", "id", UUIDv7Field(primary_key=True))
    MigratePrimaryKey([key]).state_forwards("django_sortable_ids", state)
    assert state.apps is not rendered
    assert state.apps.get_model(key.model)._meta.pk.scheme.name == "uuid7"
