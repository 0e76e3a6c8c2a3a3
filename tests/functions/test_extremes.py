"""``Min`` and ``Max`` of ids: those of Python, on every server and however ids are stored."""

import pytest
from django.db.models import F, Max, Min, Q, Window
from django.db.models.functions import Lag

from tests.testapp.models import around

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
