"""Creation times past what a signed column holds."""

from datetime import UTC, datetime

import pytest
from django.db import connection

from django_sortable_ids.functions import CreatedAt
from tests.testapp.models import TSIDKey

pytestmark = pytest.mark.django_db

LAST = datetime(2089, 9, 6, 15, 47, 35, 551_000, UTC)
LATER = datetime(2100, 1, 1, tzinfo=UTC)


@pytest.fixture
def rows():
    return [TSIDKey.objects.create(id=number) for number in (0, 1, 2**63 - 1)]


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
