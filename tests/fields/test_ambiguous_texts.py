"""Texts that are one id in digits and another one in the public encoding: both are looked up."""

import pytest
from django.core.exceptions import ValidationError

from django_sortable_ids.fields import TSIDField
from django_sortable_ids.schemes import get
from tests.testapp.models import TSIDKey, TSIDKeyChild

TEXT = "1234567890123"
SHOWN = get("tsid").parse(TEXT, "base32")
"""The id that is shown so."""
NUMBER = int(TEXT)
"""An id of the first hour of 2020."""

pytestmark = pytest.mark.django_db


def test_the_row_that_exists_is_found():
    for value in (SHOWN, NUMBER):
        row = TSIDKey.objects.create(id=value)
        TSIDKeyChild.objects.create(parent=row)
        assert TSIDKey.objects.get(pk=TEXT) == row
        assert TSIDKey.objects.filter(pk__in=[TEXT, "x"]).get() == row
        assert TSIDKeyChild.objects.get(parent=TEXT).parent == row
        assert not TSIDKey.objects.exclude(pk=TEXT).exists()
        assert TSIDKey._meta.pk.to_python(TEXT) == value
        row.delete()


def test_both_rows_are_found():
    rows = {TSIDKey.objects.create(id=value) for value in (SHOWN, NUMBER)}
    assert {*TSIDKey.objects.filter(pk=TEXT)} == rows
    assert TSIDKey._meta.pk.to_python(TEXT) == NUMBER


def test_the_public_text_is_never_ambiguous():
    TSIDKey.objects.create(id=NUMBER)
    field = TSIDKey._meta.pk
    assert field.parse_public(TEXT) == field.public_text.parse(TEXT) == SHOWN
    with pytest.raises(ValidationError):
        field.parse_public(str(get("tsid").example))


def test_decimal_digits_are_a_number():
    field = TSIDField(encoding="decimal")
    assert field.to_python(TEXT) == field.parse_public(TEXT) == NUMBER
    assert not field.public_text.is_ambiguous


def test_a_prefix_tells_them_apart():
    field = TSIDField(prefix="item")
    assert field.to_python(TEXT) == NUMBER
    assert field.to_python(f"item_{TEXT}") == SHOWN
    assert TSIDField(prefix="item", previous_prefixes=[""]).public_text.is_ambiguous
