"""Joins that the check takes for right find their rows, on every engine."""

import pytest
from django.contrib.contenttypes.models import ContentType

from tests.marks import own_tables

from .test_definitions import JOINS, tagged

pytestmark = own_tables


@pytest.mark.parametrize("name", [name for name, case in JOINS.items() if case[-1]])
def test_rows_are_found(table, name):
    order, tag = map(table, tagged(*JOINS[name][:3]))
    first, second = order.objects.create(), order.objects.create()
    kind = ContentType(pk=1)
    for _ in range(2):
        tag.objects.create(content_type_id=kind.pk, object_id=first.pk)
    order._meta.get_field("tags").get_content_type = lambda: kind
    found = order.objects.filter(tags__isnull=False).distinct()
    assert list(found) == [first]
    assert order.objects.exclude(tags__isnull=False).get() == second
