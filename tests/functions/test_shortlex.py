"""The order of sequences that grow, and the index that serves it."""

import pytest
from django.db import connection, models
from django.db.models.functions import Length, RTrim
from django.test.utils import isolate_apps

from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.functions import shortlex
from tests.marks import own_tables
from tests.own_tables import Own, tables

IN_ORDER = ["8", "9", "00", "01", "99", "000", "100"]


@pytest.fixture
def grown():
    """A model with a sequence of one to three digits, an index on its order, and rows."""
    with isolate_apps("tests.testapp"):

        class Grown(Own):
            number = LexicalSequenceField(unique=True, charset="numeric")
            note = models.TextField(default="")

            class Meta(Own.Meta):
                indexes = (models.Index(*shortlex("number"), name="grown_shortlex"),)

    yield from with_rows(Grown)


@pytest.fixture
def measured():
    """The same where an index has no expressions: on a column of lengths."""
    with isolate_apps("tests.testapp"):

        class Measured(Own):
            number = LexicalSequenceField(unique=True, charset="numeric")
            length = models.GeneratedField(
                expression=Length(RTrim("number")),
                output_field=models.IntegerField(),
                db_persist=True,
            )
            note = models.TextField(default="")

            class Meta(Own.Meta):
                indexes = (models.Index(fields=["length", "number"], name="measured_shortlex"),)

    yield from with_rows(Measured)


def with_rows(model):
    with tables(model):
        model.objects.bulk_create(model(number=number) for number in sorted(IN_ORDER))
        yield model


def plan_of_the_first(rows):
    """How the database finds the first of many rows."""
    rows.model.objects.bulk_create(rows.model(number=f"{n:04}") for n in range(900))
    table = connection.ops.quote_name(rows.model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {'TABLE ' if connection.vendor == 'mysql' else ''}{table}")
    return rows[:1].explain()


@own_tables
def test_the_order_of_counting(grown):
    ordered = grown.objects.order_by(*shortlex("number"))
    assert list(ordered.values_list("number", flat=True)) == IN_ORDER
    descending = grown.objects.order_by(*shortlex("-number"))
    assert list(descending.values_list("number", flat=True)) == IN_ORDER[::-1]


@own_tables
@pytest.mark.parametrize("name", ["number", "-number"])
def test_its_index_is_used(grown, name):
    if not connection.features.supports_expression_indexes:
        pytest.skip("no index on expressions")
    assert "grown_shortlex" in plan_of_the_first(grown.objects.order_by(*shortlex(name)))


@own_tables
def test_a_column_of_lengths(measured):
    ordered = measured.objects.order_by("length", "number")
    assert list(ordered.values_list("number", flat=True)) == IN_ORDER
    assert "measured_shortlex" in plan_of_the_first(ordered)
