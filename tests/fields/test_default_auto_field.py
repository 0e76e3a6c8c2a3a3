"""Ids as the keys of models that name none: ``DEFAULT_AUTO_FIELD``."""

from types import SimpleNamespace

import pytest
from django.db import models
from django.test.utils import isolate_apps

from django_sortable_ids.fields import UUIDv7Field
from tests.marks import own_tables
from tests.own_tables import tables

from .test_auto_fields import CLASSES, KSUIDAutoField


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


@pytest.fixture(params=CLASSES, ids=lambda each: each.__name__)
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
