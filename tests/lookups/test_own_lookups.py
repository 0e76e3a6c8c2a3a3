"""Lookups that a project registers with a class of ids, or with one column."""

import pytest
from django.core.exceptions import FieldError
from django.db import models
from django.db.models.lookups import Exact
from django.test.utils import register_lookup

from django_sortable_ids.fields import ULIDField
from tests.testapp.models import Order

pytestmark = pytest.mark.django_db


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
