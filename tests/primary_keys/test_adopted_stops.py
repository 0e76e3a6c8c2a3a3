"""A move with adopted columns that is stopped at any statement: ``migrate`` again ends it."""

from tests.marks import own_tables

from . import small
from .stops import migrate_until_done

pytestmark = own_tables

MODELS = """\
CreateModel("Visit", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("number", BigIntegerField(null=True)),
    ("text", CharField(max_length=36)),
]),
RunPython(add_visits, RunPython.noop),
"""
ROWS = """
def add_visits(apps, schema_editor):
    Visit = apps.get_model("depot", "Visit")
    # The last two of these were never customers.
    for n, name in enumerate("edcbaxy"):
        Visit.objects.create(name=name, number=1000 + n, text=f"{1000 + n}")
"""
MOVE = """\
MigratePrimaryKey(
    keys=[MovedKey(
        "depot.Customer",
        "id",
        UUIDv7Field(primary_key=True),
        created_from="created_at",
        old=BigIntegerField(null=True, unique=True),
    )],
    references=[("depot_order", "customer_id", "depot.Customer")],
    copies=[KeyCopy("depot.Visit", "number", "depot.Customer", UUIDField(null=True))],
    adopted=[("depot_visit", "number", "depot.Customer")],
    texts=[("depot_visit", "text", "depot.Customer")],
),
"""


def test_each_statement_can_be_the_last(depot):
    small.create(depot, more=MODELS, after=ROWS)
    first = min(depot.model("Customer").objects.values_list("pk", flat=True))
    for visit in depot.model("Visit").objects.all():
        visit.number += first - 1000
        visit.text = str(visit.number)
        visit.save()
    before = dict(depot.model("Visit").objects.values_list("name", "number"))
    depot.write(MOVE, atomic=False)
    assert migrate_until_done(depot) > 10
    visits = list(depot.model("Visit").objects.order_by("name"))
    assert [visit.text for visit in visits] == [str(visit.number) for visit in visits]
    assert len({visit.number for visit in visits}) == len(visits)
    customers = dict(depot.model("Customer").objects.values_list("name", "pk"))
    assert {visit.name: visit.number for visit in visits if visit.name in customers} == customers
    added = depot.model("Visit").objects.create(
        name="z", number="01a20b86-1c83-71f8-bc59-cbbe0f2238e3", text="no key"
    )
    assert migrate_until_done(depot, "0001_step") > 5
    numbers = dict(depot.model("Visit").objects.values_list("name", "number"))
    assert numbers == before | {"z": max(before.values()) + 1}
    texts = dict(depot.model("Visit").objects.values_list("name", "text"))
    assert texts == {name: str(number) for name, number in numbers.items()} | {"z": added.text}
