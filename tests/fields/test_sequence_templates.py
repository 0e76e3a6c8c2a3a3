"""Sequences with text around the number: one counter for each year or month of the template."""

import datetime as dt
import re
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.db import IntegrityError, connection, models, transaction
from django.test.utils import CaptureQueriesContext, isolate_apps
from django.utils import timezone

from django_sortable_ids.collisions import RetryOnCollision
from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.fields import times as row_times
from django_sortable_ids.models import SequenceCounter
from django_sortable_ids.schemes import SequenceExhausted
from tests.marks import own_tables
from tests.own_tables import Own, own_model, with_tables

from .test_sequences import NUMERIC, YEARLY, numbers

pytestmark = own_tables
MONTHLY = {**NUMERIC, "template": "{year}-{month}-{number}"}


@pytest.fixture
def day(monkeypatch):
    """Sets the present day."""

    def set_day(*numbers):
        monkeypatch.setattr(row_times, "today", lambda: dt.date(*numbers))

    set_day(2026, 12, 31)
    return set_day


@pytest.fixture
def invoices():
    """Makes a model whose number takes its period from ``at``, and its table."""

    def define(at, **options):
        number = LexicalSequenceField(unique=True, created_from="at", **options)
        return own_model("Invoice", Own, RetryOnCollision, number=number, at=at)

    with with_tables(define) as make:
        yield make


def counters():
    return dict(SequenceCounter.objects.order_by("key").values_list("key", "taken"))


@pytest.mark.parametrize("block", [1, 3])
def test_literal_text(sequence, block):
    model = sequence(**NUMERIC, template="ORD-{number}", block=block)
    assert numbers(model, 4) == [f"ORD-0000{n}" for n in range(1, 5)]
    assert model.objects.get(number="ORD-00003").number == "ORD-00003"
    assert not model.objects.filter(number="00003").exists()
    assert [*counters()] == ["numbered.number"]


@pytest.mark.parametrize("block", [1, 3])
def test_each_year_counts_by_itself(sequence, day, block):
    model = sequence(**YEARLY, block=block)
    assert numbers(model, 2) == ["INV-2026-00001", "INV-2026-00002"]
    day(2027, 1, 1)
    assert numbers(model, 2) == ["INV-2027-00001", "INV-2027-00002"]
    day(2026, 12, 31)
    assert numbers(model, 2) == ["INV-2026-00003", "INV-2026-00004"]
    assert [*counters()] == ["numbered.number 2026", "numbered.number 2027"]
    assert list(model.objects.order_by("number").values_list("number", flat=True)) == [
        *(f"INV-2026-0000{n}" for n in range(1, 5)),
        *(f"INV-2027-0000{n}" for n in range(1, 3)),
    ]


def test_each_month_counts_by_itself(sequence, day):
    model = sequence(**MONTHLY)
    assert numbers(model, 2) == ["2026-12-00001", "2026-12-00002"]
    day(2026, 2, 3)
    assert numbers(model, 1) == ["2026-02-00001"]
    assert counters() == {"numbered.number 2026-02": 1, "numbered.number 2026-12": 2}


def test_a_year_that_is_used_up_leaves_room_in_the_next(sequence, day):
    model = sequence(**YEARLY | {"start": "99998"})
    assert numbers(model, 2) == ["INV-2026-99998", "INV-2026-99999"]
    with pytest.raises(SequenceExhausted, match="of 5 characters; widen it"):
        model.objects.create()
    day(2027, 1, 1)
    assert numbers(model, 1) == ["INV-2027-99998"]


def test_the_year_of_the_row(invoices, day):
    """``bulk_create`` counts each year in the order of its rows."""
    model = invoices(models.DateTimeField(null=True), **YEARLY)
    times = [dt.datetime(year, 6, 7, tzinfo=dt.UTC) for year in (2019, 2018, 2019)]
    rows = model.objects.bulk_create([*(model(at=at) for at in times), model()])
    assert [row.number for row in rows] == [
        "INV-2019-00001",
        "INV-2018-00001",
        "INV-2019-00002",
        "INV-2026-00001",
    ]
    assert model.objects.create(at=times[0]).number == "INV-2019-00003"


def test_the_counters_of_many_rows_are_locked_in_order_of_time(invoices):
    model = invoices(models.DateTimeField(), **YEARLY)
    times = [dt.datetime(year, 6, 7, tzinfo=dt.UTC) for year in (2019, 2018, 2021, 2020)]
    model.objects.bulk_create(model(at=at) for at in times)
    with CaptureQueriesContext(connection) as queries:
        model.objects.bulk_create(model(at=at) for at in times)
    locked = re.findall(r"UPDATE.* (20[0-9]{2})\b", "\n".join(each["sql"] for each in queries))
    assert locked == ["2018", "2019", "2020", "2021"]


def test_the_time_of_the_row_is_in_the_current_time_zone(invoices):
    model = invoices(models.DateTimeField(), **YEARLY)
    at = dt.datetime(2018, 12, 31, 23, 30, tzinfo=dt.UTC)
    with timezone.override(ZoneInfo("Europe/Berlin")):
        assert model.objects.create(at=at).number == "INV-2019-00001"
        assert model.objects.filter(at__year=2019).exists()
    with timezone.override(dt.UTC):
        assert model.objects.create(at=at).number == "INV-2018-00001"


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_a_date_is_itself_in_every_time_zone(invoices, zone):
    model = invoices(models.DateField(), **MONTHLY)
    with timezone.override(ZoneInfo(zone)):
        assert model.objects.create(at=dt.date(2018, 1, 1)).number == "2018-01-00001"
        assert model.objects.create(at="2018-12-31").number == "2018-12-00001"


@time_machine.travel("2026-12-31T23:30Z")
def test_today_is_in_the_current_time_zone(sequence):
    model = sequence(**YEARLY)
    for zone, year in (("UTC", 2026), ("Europe/Berlin", 2027)):
        with timezone.override(ZoneInfo(zone)):
            assert numbers(model, 1) == [f"INV-{year}-00001"]


TIMES = [dt.datetime(1, 1, 1, tzinfo=dt.UTC), dt.datetime(9999, 12, 31, 23, 59, 59, tzinfo=dt.UTC)]


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_the_first_and_the_last_time(invoices, zone):
    field = invoices(models.DateTimeField(), **YEARLY)._meta.get_field("number")
    rows = [field.model(at=at) for at in TIMES]
    with timezone.override(ZoneInfo(zone)):
        ids = field.generate_many_for(rows, "default")
    assert ids == ["INV-0001-00001", "INV-9999-00001"]


def test_a_number_that_was_set_by_hand_is_passed_over(invoices):
    model = invoices(models.DateField(), **YEARLY)
    at = dt.date(2018, 1, 1)
    model.objects.create(at=at)
    model.objects.create(at=at, number="INV-2018-00002")
    assert model.objects.create(at=at).number == "INV-2018-00003"
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.create(at=at, number="INV-2018-00002")


@isolate_apps("tests.testapp")
def test_a_year_is_needed_for_the_time_of_the_row():
    class Invoice(Own):
        at = models.DateField()
        number = LexicalSequenceField(
            unique=True, created_from="at", template="INV-{number}", width=5
        )

    (error,) = Invoice._meta.get_field("number").check()
    assert error.id == "sortable_ids.E016"
    assert "have no times" in error.msg
