"""Rows with ids: in, out, and found again."""

import pytest
from django.db.models import Count

from tests.testapp.models import around

pytestmark = pytest.mark.django_db


@pytest.fixture
def rows(stored_key):
    """Three rows, in the order of their creation."""
    return [stored_key.objects.create(name=name) for name in "abc"]


def ids(rows):
    return [row.pk for row in rows]


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


# Everything that points to a row with such a key, and back


@pytest.fixture
def child_of(stored_key):
    return around(stored_key, "Child")


@pytest.fixture
def parents(stored_key):
    return [stored_key.objects.create(name=name) for name in "ab"]


@pytest.fixture
def children(child_of, parents):
    """Two of the first parent, one of the second, one of none; all are friends of the first."""
    rows = [
        child_of.objects.create(name=name, parent=parent)
        for name, parent in zip("stuv", [*parents[:1] * 2, parents[1], None], strict=True)
    ]
    for row in rows:
        row.friends.add(parents[0])
    rows[0].friends.add(parents[1])
    rows[0].itself = rows[1]
    rows[0].twin = parents[0]
    rows[0].save()
    return rows


def names(rows):
    return sorted(row.name for row in rows)


def test_prefetch_related(stored_key, child_of, parents, children, django_assert_num_queries):
    with django_assert_num_queries(5):
        found = child_of.objects.prefetch_related("parent", "friends", "twin", "itself")
        seen = {
            row.name: (row.parent, row.twin, row.itself, names(row.friends.all())) for row in found
        }
    assert seen == {
        "s": (parents[0], parents[0], children[1], ["a", "b"]),
        "t": (parents[0], None, None, ["a"]),
        "u": (parents[1], None, None, ["a"]),
        "v": (None, None, None, ["a"]),
    }


def test_updates_with_the_parent_table_and_with_joins(stored_key, child_of, parents, children):
    special = around(stored_key, "Special")
    rows = [special.objects.create(name=name) for name in "xy"]
    special.objects.filter(name="x").update(name="z", extra="new")
    assert [special.objects.get(pk=row.pk).name for row in rows] == ["z", "y"]
    assert special.objects.get(extra="new") == rows[0]
    assert child_of.objects.filter(parent__name="a").update(name="j") == 2
    assert names(child_of.objects.all()) == ["j", "j", "u", "v"]


def test_deletion_cascades(stored_key, child_of, parents, children):
    parents[0].delete()
    assert names(child_of.objects.all()) == ["u", "v"]
    assert child_of.friends.through.objects.count() == 0
    assert stored_key.objects.count() == 1


def test_a_foreign_key_to_another_unique_id(stored_key, django_assert_num_queries):
    public = around(stored_key, "Public")
    target = public.objects.create(name="target")
    row = public.objects.create(name="row", to=target)
    assert row.to_id == target.public
    found = public.objects.select_related("to").get(to=target)
    assert (found, found.to) == (row, target)
    assert public.objects.get(to=target.public) == row
    assert public.objects.get(to__in=[target.public]) == row
    assert public.objects.get(to__public=target.public) == row
    assert list(target.referring.all()) == [row]
    with django_assert_num_queries(2):
        assert [each.to for each in public.objects.filter(to=target).prefetch_related("to")] == [
            target
        ]
