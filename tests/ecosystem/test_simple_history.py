"""django-simple-history: history rows hold the ids of their originals, and are no second owner."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from django_sortable_ids.ids import public_id

from .extended.models import Author, Book

pytestmark = pytest.mark.django_db


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


def test_history_rows_can_be_searched_by_every_spelling(book):
    assert Book.history.filter(id=public_id(book)).count() == 1
    assert Book.history.filter(public_id=public_id(book, "public_id")).count() == 1
    assert Book.history.filter(id__created_at__gte=timezone.now() - timedelta(hours=1)).exists()
    assert not Book.history.filter(id="nonsense").exists()


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
