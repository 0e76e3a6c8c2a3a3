"""Rows with ids: in, out, and found again."""

import pytest
from django.db.models import Case, Count, F, Value, When
from django.db.models.functions import Coalesce

from tests.testapp.models import around

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(stored_key):
    """Three rows, in the order of their creation."""
    return [stored_key.objects.create(name=name) for name in "abc"]


def is_reversed(model):
    return getattr(model._meta.pk.scheme, "descending", False)


def ids(rows):
    return [row.pk for row in rows]


def test_ids_sort_by_creation(stored_key, rows):
    newest_last = ids(rows)[::-1] if is_reversed(stored_key) else ids(rows)
    assert list(stored_key.objects.order_by("pk").values_list("pk", flat=True)) == newest_last
    assert (
        list(stored_key.objects.order_by("-pk").values_list("pk", flat=True)) == newest_last[::-1]
    )
    assert sorted(ids(rows)) == newest_last


def test_comparisons_with_an_id(stored_key, rows):
    expected = {"gt": "c", "gte": "bc", "lt": "a", "lte": "ab", "exact": "b"}
    mirrored = {"a": "c", "b": "b", "c": "a"}
    for lookup, matching in expected.items():
        if is_reversed(stored_key):
            matching = "".join(mirrored[name] for name in matching)
        found = stored_key.objects.filter(**{f"pk__{lookup}": rows[1].pk})
        assert set(found.values_list("name", flat=True)) == set(matching), lookup


def test_every_way_of_reading_gives_the_ids(stored_key, rows):
    table, objects = stored_key._meta.db_table, stored_key.objects
    first, second = (objects.filter(pk=row.pk) for row in rows[:2])
    expected = set(ids(rows))
    assert {type(value) for value in expected} == {stored_key._meta.pk.scheme.value_type}
    assert {row["pk"] for row in objects.values("pk")} == expected
    assert {row.id for row in objects.values_list("id", named=True)} == expected
    assert set(objects.values_list("id", flat=True).distinct()) == expected
    assert {row.pk for row in objects.raw(f"SELECT * FROM {table}")} == expected
    assert {row.pk for row in objects.only("name")} == expected
    assert set(objects.iterator(chunk_size=2)) == set(rows)
    assert objects.in_bulk(ids(rows[:2])) == {row.pk: row for row in rows[:2]}
    assert set(first.union(second).values_list("pk", flat=True)) == set(ids(rows[:2]))
    assert objects.latest("pk").pk == max(expected)
    assert set(objects.exclude(pk__in=ids(rows[:2]))) == {rows[2]}
    assert objects.aggregate(n=Count("pk", distinct=True)) == {"n": 3}


def test_every_way_of_writing_finds_its_row(stored_key, rows):
    objects = stored_key.objects
    for row in rows:
        row.name = row.name * 2
    assert objects.bulk_update(rows, ["name"]) == 3
    assert set(objects.values_list("pk", "name")) == {(row.pk, row.name) for row in rows}
    assert objects.get_or_create(pk=rows[0].pk) == (rows[0], False)
    assert objects.update_or_create(pk=rows[1].pk, defaults={"name": "b"}) == (rows[1], False)
    rows[0].delete()
    objects.filter(pk=rows[1].pk).delete()
    assert list(objects.all()) == [rows[2]]


def test_case_and_coalesce(stored_key):
    public = around(stored_key, "Public")
    row = public.objects.create()
    field = public._meta.get_field("public")
    found = public.objects.annotate(
        either=Coalesce("optional", "public"),
        chosen=Case(When(pk=row.pk, then=F("public")), default=Value(None, output_field=field)),
    ).get()
    assert (found.either, found.chosen) == (row.optional, row.public)
