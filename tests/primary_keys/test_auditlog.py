"""A project with django-auditlog, whose entries contain keys as texts and no foreign key."""

import json

import pytest

from tests.backfill.own_project import Project
from tests.marks import own_tables

from .own_database import settings_of_project

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
import json
from auditlog.models import LogEntry
from depot.models import Customer, Order

entries = {}
for model in (Customer, Order):
    for one in model.objects.all():
        found = LogEntry.objects.get_for_object(one)
        entries[f"{model.__name__} {one.pk}"] = [each.pk for each in found.order_by("pk")]
print(json.dumps({
    "entries": entries,
    "texts": {each.pk: each.object_pk for each in LogEntry.objects.all()},
}))
"""
KEY = """\
    id = UUIDv7AutoField(primary_key=True)
    old_id = models.BigIntegerField(null=True, unique=True, editable=False)
"""


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path / "project")
    apps = [f"django.contrib.{each}" for each in ("auth", "contenttypes")]
    with settings_of_project(*apps, "auditlog") as settings:
        made.create(MODELS, settings, rows=ROWS.format(names=list("abc"), deleted="'B'"))
        yield made


def dump(project):
    return json.loads(project.manage("shell", "-c", DUMP).splitlines()[-1])


def test_entries_of_moved_rows_are_found(project):
    before = dump(project)
    for name in ("Customer", "Order"):
        start = f"class {name}(models.Model):\n"
        project.change_models(start, start + KEY)
    imported = "from django_sortable_ids.fields import UUIDv7AutoField\n"
    project.change_models("from django.db", f"{imported}from django.db")
    adopted = "--adopt=auditlog_logentry.object_pk=auditlog_logentry.content_type_id"
    left = "--leave=auditlog_logentry.object_id"
    done = project.backfill("depot", "--primary-key", adopted, left, "--write-migration")
    assert done.returncode == 0, done.stderr
    assert "auditlog_logentry.object_pk: adopted, with 2 keys of deleted rows" in done.stdout
    project.manage("migrate", "&&", "makemigrations", "--check")
    after = dump(project)
    assert sorted(after["entries"].values()) == sorted(before["entries"].values())
    assert len(before["texts"]) == 11
    pairs = {(before["texts"][entry], after["texts"][entry]) for entry in before["texts"]}
    assert {len(new) for _, new in pairs} == {36}
    # Customers and orders had the same numbers.
    assert len(pairs) == 2 * len({old for old, _ in pairs}) == 6
    project.manage("migrate", "depot", "0001")
    (project.folder / "depot" / "models.py").write_text(MODELS)
    assert dump(project) == before
