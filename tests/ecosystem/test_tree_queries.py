"""django-tree-queries: ancestors and descendants of nodes, by instances and by keys."""

import pytest
from django.db import NotSupportedError, connection

from .extended.models import Part, Region, Task, Topic

pytestmark = pytest.mark.django_db


def chain(model):
    """Three nodes, each the child of the one before, and one without relatives."""
    nodes = []
    for name in ("a", "b", "c"):
        parent = nodes[-1] if nodes else None
        nodes.append(model.objects.create(name=name, parent=parent))
    model.objects.create(name="other")
    return nodes


def names(nodes):
    return [each.name for each in nodes]


@pytest.mark.parametrize("model", [Part, Region, Task])
def test_relatives_are_found(model):
    first, second, third = chain(model)
    assert names(third.ancestors()) == ["a", "b"]
    assert names(third.ancestors(include_self=True)) == ["a", "b", "c"]
    assert names(first.descendants()) == ["b", "c"]
    for key in (second.pk, str(second.pk)):
        assert names(model.objects.descendants(key)) == ["c"]
    for node in model.objects.with_tree_fields().filter(name="c"):
        assert node.tree_path == [first.pk, second.pk, third.pk]
        assert names(model.objects.ancestors(node)) == ["a", "b"]


def test_a_number_is_the_key_of_a_uuid():
    first, _, _ = chain(Part)
    assert names(Part.objects.descendants(first.pk.int)) == ["b", "c"]


def test_keys_in_bytes_are_found_or_refused():
    first, _, third = chain(Topic)
    if connection.vendor == "postgresql":
        assert names(third.ancestors()) == ["a", "b"]
        assert names(first.descendants()) == ["b", "c"]
    else:
        with pytest.raises(NotSupportedError, match="stored as bytes"):
            list(first.descendants())
