"""Packages with base classes for models: taggit, polymorphic and treebeard. And reversion."""

import pytest
import reversion
from django.core.checks import run_checks
from django.db import NotSupportedError, connection, models
from django.test.utils import isolate_apps
from reversion.models import Version
from taggit.managers import TaggableManager
from taggit.models import TaggedItem

from django_sortable_ids.ids import created_at, public_id, resolve

from .extended.models import (
    Author,
    Book,
    Category,
    Circle,
    Counted,
    Folder,
    Found,
    Part,
    Region,
    Shape,
    Shelved,
    Square,
    Task,
    Thread,
    Topic,
)

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


class TestPolymorphic:
    def test_rows_come_as_their_classes(self):
        circle, square = Circle.objects.create(radius=2), Square.objects.create(side=3)
        assert list(Shape.objects.order_by("pk")) == [circle, square]
        assert Shape.objects.instance_of(Square).get().side == 3
        assert Shape.objects.filter(Circle___radius=2).get() == circle
        assert Shape.objects.get(pk=public_id(square)) == square
        assert resolve(public_id(circle)).fetch() == circle
        assert set(Shape.objects.non_polymorphic().values_list("pk", flat=True)) == {
            circle.pk,
            square.pk,
        }

    def test_time_and_deletion(self):
        circle = Circle.objects.create(book=Book.objects.create())
        assert list(Shape.objects.filter(id__created_at=created_at(circle))) == [circle]
        assert list(Circle.objects.filter(id__created_at=created_at(circle))) == [circle]
        Shape.objects.all().delete()
        assert not Circle.objects.exists()


@pytest.mark.parametrize("model", [Category, Folder, Thread])
class TestTreebeard:
    def test_a_tree_grows_moves_and_shrinks(self, model):
        nodes = model.objects
        root = nodes.add_root({"name": "root"})
        first = nodes.add_child(nodes.get(pk=root.pk), {"name": "first"})
        second = nodes.add_child(nodes.get(pk=root.pk), {"name": "second"})
        leaf = nodes.add_child(nodes.get(pk=second.pk), {"name": "leaf"})
        nodes.move(nodes.get(pk=leaf.pk), nodes.get(pk=first.pk), "first-child")
        root = nodes.get(pk=public_id(root))
        assert [each.name for each in nodes.get_children(root)] == ["first", "second"]
        below = [each.name for each in nodes.get_descendants(root)]
        assert sorted(below) == ["first", "leaf", "second"]
        above = [each.pk for each in nodes.get_ancestors(nodes.get(pk=leaf.pk))]
        assert above == [root.pk, first.pk]
        nodes.get(pk=first.pk).delete()
        assert {each.name for each in nodes.all()} == {"root", "second"}

    def test_a_tree_is_dumped_and_loaded(self, model):
        nodes = model.objects
        root = nodes.add_root({"name": "root"})
        nodes.add_child(nodes.get(pk=root.pk), {"name": "child"})
        dumped = nodes.dump_bulk()
        before = set(nodes.values_list("pk", "name"))
        nodes.all().delete()
        nodes.load_bulk(dumped, keep_ids=True)
        assert set(nodes.values_list("pk", "name")) == before


class TestReversion:
    @pytest.fixture(autouse=True)
    def _registered(self):
        for model in (Author, Book):
            reversion.register(model)
        yield
        for model in (Author, Book):
            reversion.unregister(model)

    @pytest.fixture
    def book(self):
        with reversion.create_revision():
            return Book.objects.create(title="first", author=Author.objects.create(name="Ada"))

    def test_versions_are_found_and_restored(self, book):
        with reversion.create_revision():
            book.title = "second"
            book.save()
        versions = Version.objects.get_for_object(book)
        assert [each.field_dict["title"] for each in versions] == ["second", "first"]
        assert versions[0].field_dict["public_id"] == book.public_id
        versions[1].revision.revert()
        book.refresh_from_db()
        assert book.title == "first"
        assert Book.objects.count() == 1

    def test_deleted_rows_come_back_with_their_ids(self, book):
        author, keys = book.author, (book.pk, book.public_id)
        author_key = author.pk
        assert not Version.objects.get_deleted(Author)
        author.delete()
        (version,) = Version.objects.get_deleted(Author)
        version.revision.revert()
        assert Author.objects.get().pk == author_key
        restored = Book.objects.get()
        assert (restored.pk, restored.public_id, restored.author_id) == (*keys, author_key)


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
