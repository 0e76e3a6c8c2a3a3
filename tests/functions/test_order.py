"""The order of ids, in ``Min`` and ``Max``, constraints and indexes, however they are stored."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, models, transaction
from django.db.models import F, Max, Min, Q, Window
from django.db.models.functions import Lag, Length, RTrim

from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.functions import CreatedAt, shortlex
from tests.marks import own_tables
from tests.own_tables import own_model, tables
from tests.schemes.support import ids_at
from tests.support import execute
from tests.testapp.models import around, like

pytestmark = pytest.mark.django_db


def test_of_a_table(stored_key):
    assert stored_key.objects.aggregate(Min("id"), Max("id")) == {"id__min": None, "id__max": None}
    rows = [stored_key.objects.create(name=name) for name in "abc"]
    ids = [row.pk for row in stored_key.objects.order_by("id")]
    assert {*ids} == {row.pk for row in rows}
    found = stored_key.objects.aggregate(
        first=Min("id"),
        last=Max("id"),
        named=Max("id", filter=Q(name="b")),
        none=Min("id", filter=Q(name="x"), default=rows[2].pk),
    )
    assert found == {"first": ids[0], "last": ids[-1], "named": rows[1].pk, "none": rows[2].pk}
    assert type(found["first"]) is type(ids[0])


def test_of_groups_and_in_conditions(stored_key):
    child = around(stored_key, "Child")
    parents = [stored_key.objects.create(name=name) for name in "aab"]
    for parent in parents:
        child.objects.create(parent=parent)
    first, last = (row.pk for row in stored_key.objects.filter(name="a").order_by("id"))
    groups = stored_key.objects.values("name").annotate(first=Min("id"), last=Max("id"))
    assert groups.get(name="a") == {"name": "a", "first": first, "last": last}
    assert groups.filter(first=F("last")).get()["name"] == "b"
    assert groups.order_by("first")[0]["name"] == ("a" if first < parents[2].pk else "b")
    assert child.objects.aggregate(last=Max("parent__id"))["last"] == max(
        row.pk for row in stored_key.objects.all()
    )
    assert child.objects.filter(parent__name="a").aggregate(first=Min("parent"))["first"] == first


def test_of_windows(stored_key):
    rows = [stored_key.objects.create(name=name) for name in "aab"]
    windows = stored_key.objects.annotate(
        first=Window(Min("id"), partition_by="name"),
        last=Window(Max("id"), order_by="id"),
        before=Window(Lag("id"), order_by="id"),
    )
    found = {each.pk: (each.first, each.last, each.before) for each in windows}
    in_order = [row.pk for row in stored_key.objects.order_by("id")]
    of_a = [row.pk for row in stored_key.objects.filter(name="a").order_by("id")]
    assert {each[0] for each in found.values()} == {of_a[0], rows[2].pk}
    assert [found[each][1] for each in in_order] == in_order
    assert [found[each][2] for each in in_order] == [None, *in_order[:-1]]


# Constraints and indexes on creation times


START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def constrained(decoded_key):
    """A table with that key, which holds ids of 2026 and later, one of a customer at a time."""
    last = datetime(9999, 1, 1, tzinfo=UTC)
    model = own_model(
        "Constrained",
        id=like(decoded_key._meta.pk),
        customer=models.IntegerField(default=1),
        meta={
            "constraints": [
                models.CheckConstraint(condition=Q(id__created_at__gte=START), name="recent"),
                models.CheckConstraint(condition=Q(id__created_at__lt=last), name="sane"),
                models.UniqueConstraint("customer", CreatedAt("id"), name="one_at_a_time"),
            ],
            "indexes": [models.Index(CreatedAt("id").desc(), name="newest_first")],
        },
    )
    with tables(model):
        yield model


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


# The order of sequences that grow, and the index that serves it


IN_ORDER = ["8", "9", "00", "01", "99", "000", "100"]


@pytest.fixture
def grown():
    """A model with a sequence of one to three digits, rows, an index on its order, and another one
    for engines whose indexes have no expressions: on a column of lengths.
    """
    model = own_model(
        "Grown",
        number=LexicalSequenceField(unique=True, charset="numeric"),
        length=models.GeneratedField(
            expression=Length(RTrim("number")), output_field=models.IntegerField(), db_persist=True
        ),
        note=models.TextField(default=""),
        meta={
            "indexes": (
                models.Index(*shortlex("number"), name="grown_shortlex"),
                models.Index(fields=["length", "number"], name="measured_shortlex"),
            )
        },
    )
    with tables(model):
        model.objects.bulk_create(model(number=number) for number in sorted(IN_ORDER))
        yield model


def plan_of_the_first(rows):
    """How the database finds the first of many rows."""
    rows.model.objects.bulk_create(rows.model(number=f"{n:04}") for n in range(900))
    table = connection.ops.quote_name(rows.model._meta.db_table)
    execute(f"ANALYZE {'TABLE ' if connection.vendor == 'mysql' else ''}{table}")
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
def test_a_column_of_lengths(grown):
    ordered = grown.objects.order_by("length", "number")
    assert list(ordered.values_list("number", flat=True)) == IN_ORDER
    assert "measured_shortlex" in plan_of_the_first(ordered)
