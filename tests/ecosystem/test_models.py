"""Packages with base classes for models: taggit and tree-queries."""

import re
import tomllib
from pathlib import Path

import guardian.shortcuts
import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import NotSupportedError, connection, models
from django.test.utils import isolate_apps
from guardian import shortcuts
from guardian.core import ObjectPermissionChecker
from guardian.models import UserObjectPermission
from model_bakery import baker
from taggit.managers import TaggableManager
from taggit.models import TaggedItem

from django_sortable_ids import apps
from django_sortable_ids.ids import public_id

from .extended.models import Author, Book, Counted, Found, Part, Region, Shelved, Task, Topic
from .shop.models import KEYS, Invoice, Ticket

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


def test_keys_in_bytes_are_found_or_refused():
    first, _, third = chain(Topic)
    if connection.vendor == "postgresql":
        assert names(third.ancestors()) == ["a", "b"]
        assert names(first.descendants()) == ["b", "c"]
    else:
        with pytest.raises(NotSupportedError, match="stored as bytes"):
            list(first.descendants())


# django-guardian: permissions of single objects, for keys of every storage


@pytest.fixture(params=KEYS, ids=lambda model: model.__name__)
def objects(request):
    return [request.param.objects.create() for _ in range(3)]


@pytest.fixture
def user():
    return User.objects.create(username="ada")


def view(model):
    return f"shop.view_{model._meta.model_name}"


def test_objects_for_a_user(objects, user):
    model = type(objects[0])
    shortcuts.assign_perm(view(model), user, objects[1])
    assert list(shortcuts.get_objects_for_user(user, view(model))) == [objects[1]]
    assert list(shortcuts.get_objects_for_user(user, view(model), model)) == [objects[1]]
    of_two = model.objects.filter(pk__in=[objects[0].pk, objects[1].pk])
    assert list(shortcuts.get_objects_for_user(user, view(model), of_two)) == [objects[1]]
    without = model.objects.exclude(pk=objects[1].pk)
    assert list(shortcuts.get_objects_for_user(user, view(model), without)) == []
    assert user.has_perm(view(model), objects[1])
    assert not user.has_perm(view(model), objects[0])


def test_permissions_of_many_objects_at_once(objects, user):
    model = type(objects[0])
    shortcuts.assign_perm(view(model), user, model.objects.all())
    shortcuts.remove_perm(view(model), user, model.objects.filter(pk=objects[0].pk))
    checker = ObjectPermissionChecker(user)
    checker.prefetch_perms(model.objects.all())
    assert [bool(checker.get_perms(each)) for each in objects] == [False, True, True]
    assert list(shortcuts.get_users_with_perms(objects[1])) == [user]


def test_a_permission_for_something_else_hurts_nobody(objects, user):
    model = type(objects[0])
    for each in objects[:2]:
        shortcuts.assign_perm(view(model), user, each)
    if not model._meta.pk.get_internal_type().startswith("UUID"):
        UserObjectPermission.objects.filter(object_pk=str(objects[0].pk)).update(object_pk="gone")
        objects = objects[1:]
    assert objects[0] in shortcuts.get_objects_for_user(user, view(model))


# django-simple-history: history rows hold the ids of their originals, and are no second owner


@pytest.fixture
def book():
    author = Author.objects.create(name="Ada")
    return Book.objects.create(author=author, title="first")


def versions(instance):
    return list(instance.history.order_by("history_id"))


def test_the_history_has_the_ids_of_its_original(book):
    book.title = "second"
    book.save()
    book.readers.add(book.author)
    for past in versions(book):
        assert past.id == book.id
        assert past.public_id == book.public_id
        assert past.author_id == book.author_id
        assert past.author == book.author
    assert [past.title for past in versions(book)] == ["first", "second", "second"]
    (reader,) = versions(book)[-1].readers.all()
    assert reader.author == book.author


def test_saving_a_row_without_an_id_writes_none_into_its_history(book):
    Book.objects.update(public_id=None)
    Book.history.update(public_id=None)
    old = Book.objects.get()
    old.title = "saved"
    old.save()
    assert [past.public_id for past in versions(old)] == [None, None]


@pytest.mark.django_db(transaction=True)
def test_a_backfill_gives_history_rows_the_ids_of_their_originals(book):
    Book.objects.create(title="other")
    Book.objects.update(public_id=None)
    Book.history.update(public_id=None)
    call_command("backfill_ids", "extended.Book.public_id", "--created-from=created_at", "-v0")
    call_command("backfill_ids", "extended.HistoricalBook.public_id", "-v0")
    for each in Book.objects.all():
        assert each.public_id
        assert {past.public_id for past in versions(each)} == {each.public_id}


# model_bakery, which makes rows for tests


IDS = ["uuid", "text", "number"]


def is_id(instance, name):
    field = instance._meta.get_field(name)
    return field.scheme.to_int(getattr(instance, name)) > 0


@pytest.mark.parametrize("fill", [False, True])
def test_bakery_makes_ids_of_each_scheme(fill):
    first, second = baker.make(Ticket, 2, _fill_optional=fill)
    for name in IDS:
        assert is_id(first, name)
        assert getattr(first, name) < getattr(second, name)
    assert first.order.pk
    assert Ticket.objects.get(text=public_id(first, "text")) == first


def test_bakery_leaves_the_numbers_of_a_sequence_to_the_insert():
    first, second = baker.make(Invoice, 2)
    assert first.number < second.number


# What is registered, and what the documentation says of it


ROOT = Path(__file__).parents[2]


def test_an_unknown_release_is_a_warning_and_not_the_end(monkeypatch):
    before = guardian.shortcuts.filter_perms_queryset_by_objects
    monkeypatch.delattr(guardian.shortcuts, "_handle_pk_field")
    with pytest.warns(RuntimeWarning, match="this release of guardian"):
        apps._adapt_packages({"guardian.shortcuts": apps._PACKAGES["guardian.shortcuts"]})
    assert guardian.shortcuts.filter_perms_queryset_by_objects is before


def test_the_table_has_the_packages_that_are_tested():
    page = (ROOT / "docs/reference/other-packages.md").read_text()
    table = page.split("<!-- packages -->")[1].split("<!-- /packages -->")[0]
    documented = set(re.findall(r"^\| ([a-z0-9-]+) \| [0-9.]+ \|", table, re.MULTILINE))
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    tested = {re.match("[a-z0-9-]+", each)[0] for name in groups for each in groups[name]}
    assert documented == tested | {"pydantic"}
