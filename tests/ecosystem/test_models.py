"""Packages with base classes for models: taggit and tree-queries."""

import pytest
from django.core.checks import run_checks
from django.db import NotSupportedError, connection, models
from django.test.utils import isolate_apps
from taggit.managers import TaggableManager
from taggit.models import TaggedItem

from .extended.models import Counted, Found, Part, Region, Shelved, Task, Topic

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("model", [Shelved, Found, Counted])
class TestTaggit:
    def test_tags_are_set_and_read(self, model):
        first, second = model.objects.create(), model.objects.create()
        first.tags.add("red", "blue")
        second.tags.set(["blue"])
        assert set(first.tags.names()) == {"red", "blue"}
        assert set(second.tags.names()) == {"blue"}
        first.tags.remove("red")
        assert set(first.tags.names()) == {"blue"}
        assert [each.pk for each in first.tags.similar_objects()] == [second.pk]

    def test_rows_are_found_by_their_tags(self, model):
        first, second = model.objects.create(), model.objects.create()
        first.tags.add("red")
        second.tags.add("blue")
        assert list(model.objects.filter(tags__name="red")) == [first]
        assert list(model.objects.filter(tags__name__in=["red", "blue"]).order_by("pk")) == [
            first,
            second,
        ]
        with_tags = {each: each.tags.all() for each in model.objects.prefetch_related("tags")}
        assert [tag.name for tag in with_tags[second]] == ["blue"]

    def test_tags_go_with_their_row(self, model):
        row = model.objects.create()
        row.tags.add("red")
        row.delete()
        assert not model.tags.through.objects.exists()


@isolate_apps("tests.ecosystem.extended")
def test_a_check_refuses_a_through_model_that_does_not_fit():
    from django_sortable_ids.checks.definitions import check_generic_relations
    from django_sortable_ids.fields import SnowflakeField, ULIDField

    class Numbered(models.Model):  # noqa: DJ008
        id = SnowflakeField(primary_key=True)
        tags = TaggableManager(through=TaggedItem)

        class Meta:
            app_label = "extended"

    class Lettered(models.Model):  # noqa: DJ008
        id = ULIDField(primary_key=True)
        tags = TaggableManager(through=TaggedItem)

        class Meta:
            app_label = "extended"

    # SQLite's integers have up to 64 bits.
    for model in (Lettered,) if connection.vendor == "sqlite" else (Lettered, Numbered):
        (error,) = check_generic_relations(model)
        assert error.id == "sortable_ids.E002"


def test_no_check_complains():
    assert run_checks() == []


# django-tree-queries


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
