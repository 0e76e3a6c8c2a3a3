"""Ids past 2 ** 63 - 1: numbers of the scheme that a signed column can't hold."""

from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction

from django_sortable_ids.functions import CreatedAt
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


# Their creation times

LAST = datetime(2089, 9, 6, 15, 47, 35, 551_000, UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)


def test_bounds_past_the_column_find_what_lies_below(rows):
    found = TSIDKey.objects.order_by("id")
    for lookup in ("lt", "lte"):
        assert list(found.filter(**{f"id__created_at__{lookup}": LATER})) == rows
    for lookup in ("exact", "gt", "gte"):
        assert not found.filter(**{f"id__created_at__{lookup}": LATER}).exists()
    assert list(found.filter(id__created_at__range=(LAST, LATER))) == rows[2:]
    assert list(found.filter(id__created_at=LAST)) == rows[2:]
    assert list(found.filter(id__created_at__year=2089)) == rows[2:]
    assert list(found.exclude(id__created_at__gt=LAST)) == rows


def test_an_id_that_another_program_wrote_as_a_negative_number_is_of_its_time(rows):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO testapp_tsidkey (id, name) VALUES (-1, 'late')")
    found = TSIDKey.objects.order_by("id")
    assert list(found.filter(id__created_at__lte=LATER)) == rows
    late = TSIDKey.objects.annotate(at=CreatedAt("id")).get(name="late")
    assert late.at == TSIDKey._meta.pk.scheme.created_at(2**64 - 1)
    assert late.pk == 2**64 - 1
