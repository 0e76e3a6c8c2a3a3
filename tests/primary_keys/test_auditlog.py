"""A project with django-auditlog, whose entries contain keys as texts and no foreign key."""

import pytest

from tests.marks import own_tables

from .own_database import TYPES

pytest.importorskip("auditlog.context")
pytestmark = own_tables

MODELS = """
from auditlog.registry import auditlog
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=20)


class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE)


auditlog.register(Customer)
auditlog.register(Order)
"""
ROWS = """
from depot.models import Customer, Order

for name in {names}:
    customer = Customer.objects.create(name=name)
    customer.name = name.upper()
    customer.save()
    Order.objects.create(customer=customer)
Customer.objects.get(name={deleted}).delete()
"""
DUMP = """
from auditlog.models import LogEntry
from depot.models import Customer, Order

entries = {}
for model in (Customer, Order):
    for one in model.objects.all():
        found = LogEntry.objects.get_for_object(one)
        entries[f"{model.__name__} {one.pk}"] = [each.pk for each in found.order_by("pk")]
found = {
    "entries": entries,
    "texts": {each.pk: each.object_pk for each in LogEntry.objects.all()},
}
"""


def test_entries_of_moved_rows_are_found(create):
    rows = ROWS.format(names=list("abc"), deleted="'B'")
    project = create(MODELS, *TYPES, "auditlog", rows=rows)
    before = project.found(DUMP)
    project.add_keys("Customer", "Order")
    adopted = "--adopt=auditlog_logentry.object_pk=auditlog_logentry.content_type_id"
    left = "--leave=auditlog_logentry.object_id"
    printed = project.write_move(adopted, left)
    assert "auditlog_logentry.object_pk: adopted, with 2 keys of deleted rows" in printed
    project.manage("migrate", "&&", "makemigrations", "--check")
    after = project.found(DUMP)
    assert sorted(after["entries"].values()) == sorted(before["entries"].values())
    assert len(before["texts"]) == 11
    pairs = {(before["texts"][entry], after["texts"][entry]) for entry in before["texts"]}
    assert {len(new) for _, new in pairs} == {36}
    # Customers and orders had the same numbers.
    assert len(pairs) == 2 * len({old for old, _ in pairs}) == 6
    project.manage("migrate", "depot", "0001")
    project.models.write_text(MODELS)
    assert project.found(DUMP) == before
