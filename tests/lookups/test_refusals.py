"""What ``id__created_at`` can't do, and what it says then."""

import datetime

import pytest
from django.core.exceptions import FieldError, ValidationError
from django.db import NotSupportedError
from django.db.models import F, Min, OuterRef, Subquery
from django.db.models.functions import ExtractHour, Now, TruncDay

from tests.testapp.models import Order, SequenceKey, around

from .support import each_field, utc

pytestmark = pytest.mark.django_db

ADVICE = (
    r"^{name}__created_at compares with constants: exact, in, gt, gte, lt, lte, range, date and "
    r"year\. To order by it, order by {name}; to show it, take "
    r"django_sortable_ids\.instances\.created_at\(\)$"
)


def unsupported(name):
    return pytest.raises(NotSupportedError, match=ADVICE.format(name=name))


@each_field
@pytest.mark.parametrize("path", ["", "__gt", "__lte", "__date", "__date__gt", "__year"])
def test_expressions(name, path):
    for expression in (
        F("created_at"),
        F("created_at") + datetime.timedelta(days=1),
        Now(),
        Subquery(Order.objects.values("created_at")[:1]),
        OuterRef("created_at"),
    ):
        with unsupported(name):
            Order.objects.filter(**{f"{name}__created_at{path}": expression}).exists()


@each_field
def test_expressions_in_ranges_and_lists(name):
    now = utc(2026, 1, 1)
    for lookup, value in [
        ("range", (F("created_at"), now)),
        ("range", [now, Now()]),
        ("in", [now, F("created_at")]),
        ("in", (F("created_at"),)),
        ("in", Order.objects.values("created_at")),
        ("date__range", (now.date(), F("created_at"))),
        ("year__in", [F("id")]),
    ]:
        with unsupported(name):
            Order.objects.filter(**{f"{name}__created_at__{lookup}": value}).exists()


@each_field
@pytest.mark.parametrize(
    "path",
    [
        "month",
        "day",
        "week_day",
        "iso_year",
        "quarter",
        "hour",
        "time",
        "time__hour",
        "date__month",
        "date__year",
        "contains",
        "startswith",
        "regex",
    ],
)
def test_other_transforms_and_lookups(name, path):
    value = datetime.time(1) if path == "time" else 1
    with unsupported(name):
        Order.objects.filter(**{f"{name}__created_at__{path}": value}).exists()


@each_field
def test_values_and_order(name):
    for queryset in (
        Order.objects.order_by(f"{name}__created_at"),
        Order.objects.order_by(F(f"{name}__created_at").desc()),
        Order.objects.values_list(f"{name}__created_at"),
        Order.objects.annotate(at=F(f"{name}__created_at")),
        Order.objects.filter(created_at=F(f"{name}__created_at")),
        Order.objects.filter(created_at__gt=F(f"{name}__created_at")),
        Order.objects.annotate(day=TruncDay(f"{name}__created_at")),
        Order.objects.annotate(hour=ExtractHour(f"{name}__created_at")),
        Order.objects.values("name").annotate(first=Min(f"{name}__created_at")),
    ):
        with unsupported(name):
            list(queryset)


@pytest.mark.parametrize("path", ["created_at", "created_at__gte", "created_at__date__lt"])
def test_sequences_carry_no_time(path):
    value = utc(2026, 1, 1)
    message = r"testapp\.{} is a lexical sequence: its ids carry no time"
    with pytest.raises(FieldError, match=message.format("SequenceKey.id")):
        SequenceKey.objects.filter(**{f"id__{path}": value})
    with pytest.raises(FieldError, match=message.format("Order.number")):
        Order.objects.filter(**{f"number__{path}": value})
    with pytest.raises(FieldError, match="carry no time"):
        SequenceKey.objects.filter(**{f"children__id__{path}": value})


@each_field
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", "nonsense"),
        ("__gte", "2026-13-01"),
        ("__date", "yesterday"),
        ("__date__in", ["2026-01-01", "x"]),
        ("__range", ("2026-01-01T00:00:00Z", "x")),
    ],
)
def test_what_is_no_time_is_refused_as_a_column_would(name, path, value):
    with pytest.raises(ValidationError):
        Order.objects.filter(**{f"created_at{path}": value}).exists()
    with pytest.raises(ValidationError):
        Order.objects.filter(**{f"{name}__created_at{path}": value}).exists()


@each_field
def test_what_is_no_year_is_refused_as_a_column_would(name):
    for value in ("x", 10_000, 0):
        for path in ("created_at__year", f"{name}__created_at__year"):
            with pytest.raises(ValueError, match=r"."):
                Order.objects.filter(**{path: value}).exists()


def test_foreign_keys_have_no_time_themselves(time_key):
    """Their target has: ``parent__id__created_at``."""
    child = around(time_key, "Child")
    with pytest.raises(FieldError):
        child.objects.filter(parent__created_at=utc(2026, 1, 1))
    assert not child.objects.filter(parent__id__created_at=utc(2026, 1, 1)).exists()
