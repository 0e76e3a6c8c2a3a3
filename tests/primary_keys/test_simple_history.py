"""A project with django-simple-history: its keys move with their history, and back."""

import pytest

from tests.marks import own_tables

from .own_database import TYPES

pytest.importorskip("simple_history")
pytestmark = own_tables

MODELS = """
from django.db import models
from simple_history.models import HistoricalRecords


class Customer(models.Model):
    name = models.CharField(max_length=20, unique=True)
    joined = models.DateTimeField(auto_now_add=True)
    invited_by = models.ForeignKey("self", models.SET_NULL, null=True)
    history = HistoricalRecords()


class Vip(Customer):
    level = models.IntegerField(default=1)
    history = HistoricalRecords()


class Order(models.Model):
    code = models.CharField(max_length=20)
    customer = models.ForeignKey(Customer, models.CASCADE)
    gifts = models.ManyToManyField(Customer, related_name="gifts")
    history = HistoricalRecords(m2m_fields=[gifts], related_name="log")


class Visit(models.Model):
    code = models.CharField(max_length=20)
    customer = models.ForeignKey(Customer, models.CASCADE)
    history = HistoricalRecords(excluded_fields=[])
"""
ADD = """
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from depot.models import *

user, _ = User.objects.get_or_create(username="eve")
names = {names}
for number, name in enumerate(names):
    kind = Vip if number % 2 else Customer
    customer = kind.objects.create(name=name, invited_by=Customer.objects.first())
    order = Order.objects.create(code=name, customer=customer)
    order.gifts.add(customer, Customer.objects.first())
    Visit.objects.create(code=name, customer=customer)
    of = ContentType.objects.get_for_model(kind)
    LogEntry.objects.create(user=user, content_type=of, object_id=customer.pk, action_flag=1)
for name in {deleted}:
    (Vip.objects.filter(name=name).first() or Customer.objects.get(name=name)).delete()
"""
DUMP = """
from django.apps import apps

IDENTITY = ["history_id", "m2m_history_id", "name", "code", "id"]
found = {}
for model in apps.get_models(include_auto_created=True):
    if model._meta.app_label in ("depot", "admin"):
        names = [each.attname for each in model._meta.concrete_fields]
        if "m2m_history_id" in names:
            names.remove("history_id")
        identity = next(each for each in IDENTITY if each in names)
        for row in model.objects.values(*names):
            found[f"{model.__name__} {row[identity]}"] = {k: str(v) for k, v in row.items()}
"""
CUSTOMERS = {
    "Customer": ["id", "invited_by_id"],
    "HistoricalCustomer": ["id", "invited_by_id"],
    "Vip": ["id", "customer_ptr_id", "invited_by_id"],
    "HistoricalVip": ["id", "customer_ptr_id", "invited_by_id"],
    "Order": ["customer_id"],
    "HistoricalOrder": ["customer_id"],
    "Order_gifts": ["customer_id"],
    "HistoricalOrder_gifts": ["customer_id"],
    "Visit": ["customer_id"],
    "HistoricalVisit": ["customer_id"],
    "LogEntry": ["object_id"],
}
ORDERS = {
    "Order": ["id"],
    "HistoricalOrder": ["id", "history_relation_id"],
    "Order_gifts": ["order_id"],
    "HistoricalOrder_gifts": ["order_id"],
}
VISITS = {"Visit": ["id"], "HistoricalVisit": ["id"]}
"""The columns with keys of customers, orders and visits."""


def of_key(columns, row):
    model, _, _ = row.partition(" ")
    return columns.get(model, [])


def refers(before, after, columns):
    """The pairs of old and new key in all columns."""
    return {
        (before[row][name], after[row][name])
        for row in before
        for name in of_key(columns, row)
        if before[row][name] != "None"
    }


def rest(found):
    """All other columns."""
    return {
        row: {
            name: value
            for name, value in values.items()
            if name != "old_id"
            and not any(name in of_key(each, row) for each in (CUSTOMERS, ORDERS, VISITS))
        }
        for row, values in found.items()
    }


def assert_moved(before, after):
    assert rest(before) == rest(after)
    for columns in (CUSTOMERS, ORDERS, VISITS):
        pairs = refers(before, after, columns)
        assert len(pairs) > 4
        assert len({old for old, _ in pairs}) == len({new for _, new in pairs}) == len(pairs)
        assert not {old for old, _ in pairs} & {new for _, new in pairs}


@pytest.fixture
def project(create):
    apps = [*TYPES, "django.contrib.admin", "django.contrib.messages", "simple_history"]
    return create(MODELS, *apps, rows=ADD.format(names=list("abcdef"), deleted=list("bef")))


def edit(project):
    project.add_keys("Customer", "Order", "Visit")
    project.change_models("excluded_fields=[]", "excluded_fields=['old_id']")


def test_a_project_moves_with_its_history_and_back(project):
    before = project.found(DUMP)
    models = "\ndepot.models.Customer,\ndepot.models.Order,\ndepot.models.Visit:\n"
    assert models in project.move().stdout
    edit(project)
    assert "  keys of 3 deleted rows in the history\n" in project.write_move()
    project.manage("migrate", "&&", "makemigrations", "--check", "&&", "check")
    after = project.found(DUMP)
    assert_moved(before, after)
    assert [after[f"HistoricalCustomer {n}"]["old_id"] for n in (1, 2)] == [
        before[f"HistoricalCustomer {n}"]["id"] for n in (1, 2)
    ]
    project.shell(ADD.format(names=list("xyz"), deleted=list("cy")))
    project.manage("migrate", "depot", "0001")
    project.models.write_text(MODELS)
    again = project.found(DUMP)
    # A visit that was deleted after the move, and whose history has no copy of its old key.
    assert before.pop("HistoricalVisit 3")["id"] == "3"
    assert int(again["HistoricalVisit 3"]["id"]) > 6
    assert {row: values for row, values in again.items() if row in before} == {
        row: values for row, values in before.items() if row in again
    }
    assert_history_is_of(again, "xyz")
    project.manage("migrate", "depot", "zero")
    edit(project)
    project.manage("migrate", "&&", "makemigrations", "--check")


def assert_history_is_of(found, names):
    """The keys of rows that were inserted after the move are the same in all tables, and new."""
    known = {}
    for row, values in found.items():
        if row.startswith(("HistoricalCustomer", "HistoricalVip")):
            known.setdefault(values["name"], set()).add(values["id"])
    assert all(len(keys) == 1 for keys in known.values())
    [*keys] = (int(known[name].pop()) for name in names)
    assert min(keys) > 6
    orders = [values for row, values in found.items() if row.startswith("HistoricalOrder ")]
    for name, key in zip(names, keys, strict=True):
        assert {each["customer_id"] for each in orders if each["code"] == name} == {str(key)}
