"""Constraints and indexes on creation times."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, models, transaction
from django.db.models import Q
from django.test.utils import isolate_apps

from django_sortable_ids.functions import CreatedAt
from tests.marks import own_tables
from tests.own_tables import Own, tables
from tests.schemes.support import ids_at
from tests.testapp.models import like

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def constrained(decoded_key):
    """A table with that key, which holds ids of 2026 and later, one of a customer at a time."""
    with isolate_apps("tests.testapp"):

        class Constrained(Own):
            id = like(decoded_key._meta.pk)
            customer = models.IntegerField(default=1)

            class Meta(Own.Meta):
                constraints = [
                    models.CheckConstraint(condition=Q(id__created_at__gte=START), name="recent"),
                    models.CheckConstraint(
                        condition=Q(id__created_at__lt=datetime(9999, 1, 1, tzinfo=UTC)),
                        name="sane",
                    ),
                    models.UniqueConstraint("customer", CreatedAt("id"), name="one_at_a_time"),
                ]
                indexes = [models.Index(CreatedAt("id").desc(), name="newest_first")]

        with tables(Constrained):
            yield Constrained


@own_tables
def test_constraints(constrained):
    scheme = constrained._meta.pk.scheme
    first, second, third, later = ids_at(scheme, [START] * 3 + [START + timedelta(seconds=2)])
    good = constrained(id=first)
    good.full_clean()
    good.save()
    old = constrained(id=scheme.generate(START - timedelta(seconds=2)))
    with pytest.raises(ValidationError, match="recent"):
        old.full_clean()
    assert_refused(old)
    same_time = constrained(id=second)
    if connection.features.supports_expression_indexes:
        assert_refused(same_time)
    constrained(id=third, customer=2).save()
    constrained(id=later).save()
    assert constrained.objects.count() == 3


def assert_refused(instance):
    with pytest.raises(IntegrityError), transaction.atomic():
        instance.save(force_insert=True)
