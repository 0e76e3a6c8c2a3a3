"""What ``id__created_at`` can't do, and what it says then."""

import pytest
from django.core.exceptions import FieldError, ValidationError
from django.db import models
from django.db.models import CharField, IntegerField, UUIDField
from django.db.models.functions import Abs, Length, Lower
from django.db.models.lookups import Exact
from django.test.utils import isolate_apps, register_lookup

from django_sortable_ids.fields import ULIDField
from tests.own_tables import Own
from tests.testapp.models import Order, SequenceKey, around

from .support import each_field, utc

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("path", ["created_at", "created_at__gte", "created_at__date__lt"])
def test_sequences_carry_no_time(path):
    value = utc(2026, 1, 1)
    message = r"testapp\.{} is of the scheme lexical sequence: its ids carry no time"
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


@each_field
@pytest.mark.parametrize("path", ["date", "year", "month__gte", "hour__in"])
def test_a_lookup_of_times_is_written_after_created_at(name, path):
    advice = (
        rf"\.{name} has no lookup '\w+': write {name}__created_at__{path.partition('_')[0]} for"
    )
    with pytest.raises(FieldError, match=advice):
        Order.objects.filter(**{f"{name}__{path}": 1})


def test_djangos_checks_find_a_lookup_of_times_that_is_none():
    with isolate_apps("tests.testapp"):

        class Dated(Own):
            id = ULIDField(primary_key=True)

            class Meta(Own.Meta):
                ordering = ("id__year",)

        assert [each.id for each in Dated.check()] == ["models.E015"]


def test_foreign_keys_have_no_time_themselves(time_key):
    """Their target has: ``parent__id__created_at``."""
    child = around(time_key, "Child")
    with pytest.raises(FieldError):
        child.objects.filter(parent__created_at=utc(2026, 1, 1))
    assert not child.objects.filter(parent__id__created_at=utc(2026, 1, 1)).exists()


@pytest.mark.parametrize(
    ("base", "transform", "path"),
    [
        (CharField, Lower, "ulid__lower"),
        (CharField, Lower, "hexulid__lower"),
        (IntegerField, Abs, "snowflake__abs"),
        (UUIDField, Length, "uuid7__length"),
    ],
)
def test_transforms_of_other_fields_are_not_those_of_ids(base, transform, path):
    """What a project registers for its texts and numbers expects the column of these."""
    with register_lookup(base, transform), pytest.raises(FieldError):
        Order.objects.filter(**{path: "1"})


# Lookups that a project registers with a class of ids, or with one column


def assert_found(name):
    order = Order.objects.create()
    assert Order.objects.get(**{f"{name}__same": getattr(order, name)}) == order


def assert_unknown(name):
    with pytest.raises(FieldError):
        Order.objects.filter(**{f"{name}__same": getattr(Order.objects.create(), name)})


def test_one_of_a_class():
    assert_unknown("ulid")
    with register_lookup(ULIDField, Exact, lookup_name="same"):
        assert_found("ulid")
        assert ULIDField.get_lookups()["same"] is Exact
        assert_unknown("hexulid")
    assert_unknown("ulid")
    assert "same" not in ULIDField.get_lookups()


def test_one_of_every_field():
    assert_unknown("ulid")
    with register_lookup(models.Field, Exact, lookup_name="same"):
        assert_found("ulid")
        assert_found("snowflake")
    assert_unknown("ulid")


def test_one_of_a_column():
    with register_lookup(Order._meta.get_field("ulid"), Exact, lookup_name="same"):
        assert_found("ulid")
        assert_unknown("hexulid")
    assert_unknown("ulid")


def test_one_of_another_field():
    with register_lookup(models.CharField, Exact, lookup_name="same"):
        for known in (ULIDField, ULIDField()):
            assert "same" not in known.get_lookups()
            assert "same" not in known.get_class_lookups()
