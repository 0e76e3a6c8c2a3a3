"""Keys like AutoField's: None until the insert, in all that Django does with a key."""

import json
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.db import connection, models
from django.test.utils import CaptureQueriesContext, isolate_apps

from django_sortable_ids.fields import (
    KSUIDField,
    SnowflakeAutoField,
    SortableAutoField,
    Time64AutoField,
    ULIDAutoField,
    UUIDv7AutoField,
    UUIDv7Field,
)
from tests.combinations import in_one_case
from tests.marks import own_tables
from tests.own_tables import tables
from tests.testapp.models import AUTO_KEYS, Named, around


class KSUIDAutoField(SortableAutoField, KSUIDField):
    """A user's own."""


CLASSES = [UUIDv7AutoField, ULIDAutoField, SnowflakeAutoField, Time64AutoField, KSUIDAutoField]

each_key = pytest.mark.parametrize("key", AUTO_KEYS)
pytestmark = pytest.mark.django_db


def kinds(queries):
    """The first word of each statement."""
    return [each["sql"].split()[0] for each in queries.captured_queries]


@each_key
def test_the_key_is_none_until_the_row_is_inserted_at_once(key):
    row = key(name="a")
    assert row.pk is None
    with CaptureQueriesContext(connection) as queries:
        row.save()
    assert kinds(queries) == ["INSERT"]
    assert type(row.pk) is key._meta.pk.scheme.value_type
    assert key.objects.get(pk=row.pk) == row
    with CaptureQueriesContext(connection) as queries:
        row.save()
    assert kinds(queries) == ["UPDATE"]


@each_key
def test_a_row_with_a_given_key_is_updated_or_inserted(key):
    old = key.objects.create(name="a").pk
    key(pk=old, name="b").save()
    assert list(key.objects.values_list("pk", "name")) == [(old, "b")]
    new = key._meta.pk.generate()
    key(pk=new, name="c").save()
    assert list(key.objects.order_by("pk").values_list("pk", "name")) == [(old, "b"), (new, "c")]


@each_key
@in_one_case("option", ["ignore_conflicts", "update_conflicts"])
def test_after_conflicts_no_row_has_a_key_that_is_in_no_table(key, option):
    options = {}
    if option == "update_conflicts":
        with_target = connection.features.supports_update_conflicts_with_target
        options = {"update_fields": ["name"], "unique_fields": ["pk"] if with_target else None}
    given = key.objects.create(name="old").pk
    rows = [key(pk=given, name="new"), key(name="a"), key(name="b")]
    key.objects.bulk_create(rows, **{option: True}, **options)
    assert [row.pk for row in rows] == [given, None, None]
    assert key.objects.get(pk=given).name == ("old" if option == "ignore_conflicts" else "new")
    assert list(key.objects.exclude(pk=given).order_by("pk").values_list("name", flat=True)) == [
        "a",
        "b",
    ]


@each_key
def test_a_fixture_without_keys(key, tmp_path):
    file = tmp_path / "rows.json"
    child = around(key, "Child")
    label = child._meta.label
    friend = key.objects.create(name="friend")
    fields = {"name": "a", "friends": [str(friend.pk)]}
    file.write_text(json.dumps([{"model": label, "fields": fields}]))
    call_command("loaddata", str(file), verbosity=0)
    loaded = child.objects.get()
    assert list(loaded.friends.all()) == [friend]
    assert loaded.pk > friend.pk


@in_one_case("field_class", CLASSES)
def test_only_for_primary_keys(field_class):
    with isolate_apps("tests.testapp"):

        class Other(Named):
            other = field_class(unique=True)

    assert AUTO_KEYS[0]._meta.pk.check() == []
    (error,) = Other._meta.get_field("other").check()
    assert error.id == "sortable_ids.E014"
    assert "expected primary_key=True" in error.msg


# Ids as the keys of models that name none: ``DEFAULT_AUTO_FIELD``.


class Base(models.Model):
    name = models.CharField(max_length=9)

    class Meta:
        abstract = True

    def __str__(self):
        return self.name


def models_without_keys():
    class Author(Base):
        friends = models.ManyToManyField("self")

        class Meta:
            app_label = "testapp"

    class Book(Base):
        author = models.ForeignKey(Author, models.CASCADE, related_name="books")

        class Meta:
            app_label = "testapp"

    class Novel(Book):
        pages = models.IntegerField(default=0)

        class Meta:
            app_label = "testapp"

    return SimpleNamespace(Author=Author, Book=Book, Novel=Novel)


@pytest.fixture(params=[UUIDv7AutoField, KSUIDAutoField], ids=lambda each: each.__name__)
def keyless(request, settings):
    """Models with relations whose keys are those of the setting, and their tables."""
    settings.DEFAULT_AUTO_FIELD = f"django_sortable_ids.fields.{request.param.__name__}"
    if request.param is KSUIDAutoField:
        settings.DEFAULT_AUTO_FIELD = f"{KSUIDAutoField.__module__}.KSUIDAutoField"
    with isolate_apps("tests.testapp"):
        made = models_without_keys()
        with tables(*vars(made).values()):
            yield made


@own_tables
def test_models_that_name_no_key(keyless):
    ann, bob = keyless.Author.objects.create(name="ann"), keyless.Author(name="bob")
    assert bob.pk is None
    bob.save()
    ann.friends.add(bob)
    assert list(bob.friends.all()) == [ann]
    assert len({row.pk for row in keyless.Author.friends.through.objects.all()}) == 2
    book = keyless.Book.objects.create(name="book", author=ann)
    novel = keyless.Novel.objects.create(name="novel", author=bob, pages=7)
    assert list(keyless.Book.objects.order_by("pk")) == [book, novel.book_ptr]
    assert keyless.Novel.objects.get(pk=novel.pk, author__name="bob").pages == 7
    assert [each.author for each in keyless.Book.objects.select_related("author")] == [ann, bob]
    assert set(keyless.Author.objects.prefetch_related("books").get(pk=ann.pk).books.all()) == {
        book
    }
    novel.delete()
    ann.delete()
    assert not keyless.Book.objects.exists()


@isolate_apps("tests.testapp")
def test_a_field_whose_key_exists_before_its_row_is_refused(settings):
    settings.DEFAULT_AUTO_FIELD = "django_sortable_ids.fields.UUIDv7Field"
    with pytest.raises(ValueError, match="must subclass AutoField"):
        models_without_keys()


def test_an_auto_field_of_django_is_refused():
    with pytest.raises(TypeError, match="derive from SortableAutoField instead"):

        class Own(UUIDv7Field, models.AutoField):
            pass
