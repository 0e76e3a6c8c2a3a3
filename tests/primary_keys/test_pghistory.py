"""A project with django-pghistory, whose triggers write events."""

import pytest
from django.db import connection

from tests.marks import own_tables

from .own_database import TYPES

pytest.importorskip("pghistory.constants")
pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="its triggers are PostgreSQL's"),
]

MODELS = """
import pghistory
from django.db import models


@pghistory.track()
class Customer(models.Model):
    name = models.CharField(max_length=20)


@pghistory.track()
class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE)
"""
ROWS = """
from depot.models import Customer, Order

for name in {names}:
    customer = Customer.objects.create(name=name)
    Order.objects.create(customer=customer)
Customer.objects.filter(name={deleted}).update(name="gone")
Customer.objects.get(name="gone").delete()
"""
DUMP = """
from depot.models import *

found = {
    "customers": {each.pgh_id: str(each.id) for each in CustomerEvent.objects.all()},
    "names": {each.pgh_id: each.name for each in CustomerEvent.objects.all()},
    "objects": {each.pgh_id: str(each.pgh_obj_id) for each in CustomerEvent.objects.all()},
    "orders": {each.pgh_id: str(each.customer_id) for each in OrderEvent.objects.all()},
    "order ids": {each.pgh_id: str(each.id) for each in OrderEvent.objects.all()},
}
"""


def test_events_move_with_their_rows(create):
    rows = ROWS.format(names=list("abc"), deleted="'b'")
    project = create(MODELS, *TYPES, "pgtrigger", "pghistory", rows=rows)
    before = project.found(DUMP)
    project.add_keys("Customer", "Order")
    project.manage("pgtrigger", "uninstall")
    project.write_move()
    project.manage("migrate", "&&", "makemigrations")
    [triggers] = project.migrations.glob("0003*")
    assert "migrations.AlterField" not in triggers.read_text()
    assert "migrations.AddField" not in triggers.read_text()
    project.manage("migrate")
    after = project.found(DUMP)
    assert after["names"] == before["names"]
    for columns in (("customers", "objects", "orders"), ("order ids",)):
        pairs = {
            (before[name][event], after[name][event]) for name in columns for event in before[name]
        }
        assert len(pairs) == len({new for _, new in pairs}) == 3
    project.shell(ROWS.format(names=list("xy"), deleted="'x'"))
    project.manage(
        "migrate", "depot", "0002", "&&", "pgtrigger", "uninstall", "&&", "migrate", "depot", "0001"
    )
    project.models.write_text(MODELS)
    again = project.found(DUMP)
    assert before == {
        name: {event: again[name][event] for event in found} for name, found in before.items()
    }
    assert again["customers"]["5"] == again["objects"]["5"] == again["orders"]["4"] == "5"
