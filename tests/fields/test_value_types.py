"""A field is what its value is: other packages know it by its base class and internal type."""

import uuid

import pytest
from django.db import connection, models
from django.db.models.functions import Cast

from django_sortable_ids.fields import UUIDv7Field
from tests.combinations import in_one_case
from tests.field_classes import CLASSES
from tests.testapp.models import like

DJANGOS = {
    uuid.UUID: (models.UUIDField, "UUIDField"),
    int: (models.BigIntegerField, "BigIntegerField"),
    str: (models.CharField, "CharField"),
}


@in_one_case("field_class", CLASSES)
def test_the_class_and_the_internal_type_say_the_type_of_the_value(field_class):
    field = field_class()
    value_type = field.scheme.value_type
    expected, internal_type = DJANGOS[value_type]
    assert isinstance(field, expected)
    assert field.get_internal_type() == internal_type
    others = {django_class for django_class, _ in DJANGOS.values()} - {expected}
    assert not isinstance(field, tuple(others))


@pytest.mark.parametrize("storage", ["uuid", "binary", "char32", "char36", "varchar36"])
def test_the_internal_type_is_that_of_the_value_however_it_is_stored(storage):
    assert UUIDv7Field(storage=storage).get_internal_type() == "UUIDField"


@in_one_case("field_class", CLASSES)
def test_nothing_of_the_base_class_limits_the_value(field_class):
    field = field_class()
    assert field.validators == []
    assert field.max_length is None


@pytest.mark.django_db
def test_a_cast_to_the_type_of_the_column(stored_key):
    row = stored_key.objects.create(name="a")
    cast = Cast("id", output_field=like(stored_key._meta.pk, primary_key=False))
    assert stored_key.objects.annotate(same=cast).get(same=row.pk).same == row.pk


@pytest.mark.django_db
def test_a_value_that_is_already_converted_passes(stored_key):
    field = stored_key._meta.pk
    value = stored_key.objects.create(name="a").pk
    if not isinstance(value, field.stored(connection).driver_types):
        assert field.from_db_value(value, None, connection) == value
    assert field.from_db_value(None, None, connection) is None
