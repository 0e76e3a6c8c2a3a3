"""Ids past 2 ** 63 - 1: numbers of the scheme that a signed column can't hold."""

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction

from tests.testapp.models import TSIDKey, around

pytestmark = pytest.mark.django_db

LARGEST = 2**63 - 1
TOO_LARGE = [2**63, 2**64 - 1]


@pytest.fixture
def rows():
    return [TSIDKey.objects.create(id=number) for number in (0, 1, LARGEST)]


def test_the_largest_number_of_the_column_is_kept(rows):
    assert list(TSIDKey.objects.order_by("id")) == rows


@pytest.mark.parametrize("number", TOO_LARGE)
def test_writes_are_refused(rows, number):
    message = f"{number} is more than a bigint column can hold, {LARGEST}"
    child = around(TSIDKey, "Child")
    for write in (
        lambda: TSIDKey.objects.create(id=number),
        lambda: TSIDKey.objects.bulk_create([TSIDKey(id=number)]),
        lambda: TSIDKey.objects.update(id=number),
        lambda: child.objects.create(parent_id=number),
        lambda: child.objects.create(parent=TSIDKey(id=str(number))),
    ):
        with transaction.atomic(), pytest.raises(ValidationError) as refused:
            write()
        assert refused.value.messages == [message]
    assert TSIDKey.objects.count() == 3


@pytest.mark.parametrize("number", TOO_LARGE)
def test_comparisons_find_what_lies_below(rows, number):
    found = TSIDKey.objects.order_by("id")
    for given in (number, str(number)):
        assert list(found.filter(id__lt=given)) == list(found.filter(id__lte=given)) == rows
        assert list(found.filter(id__range=(1, given))) == rows[1:]
        assert list(found.filter(id__in=[given, 1])) == rows[1:2]
        assert list(found.exclude(id=given)) == rows
        for lookup in ("exact", "gt", "gte"):
            assert not found.filter(**{f"id__{lookup}": given}).exists()
            assert not found.filter(**{f"children__id__{lookup}": given}).exists()


def test_a_negative_number_is_read_as_the_unsigned_one():
    """As a program writes it whose integers are signed."""
    table = connection.ops.quote_name(TSIDKey._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} (id, name) VALUES (-14919295912198417, 'a')")
    assert TSIDKey.objects.get().pk == 18431824777797353199
