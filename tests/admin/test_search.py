"""The search box: a pasted id finds its row in any accepted spelling, and nothing else does."""

import uuid
from datetime import UTC, datetime
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.admin import SortableIDAdmin
from django_sortable_ids.ids import public_id
from tests.combinations import in_one_case
from tests.store.models import PRODUCTS, Basket, Order, Review, ULIDProduct, UUIDv7Product, Voucher

from .support import changelist, each_kind, list_url, made_at, names, page_of

pytestmark = pytest.mark.django_db


def spellings(instance, column="id"):
    """Every way to write the id that is accepted."""
    value = getattr(instance, column)
    found = [str(value), public_id(instance, column)]
    if isinstance(value, uuid.UUID):
        found += [str(value).upper(), value.hex, value.hex.upper(), f"{{{value}}}", value.urn]
    elif column == "ulid" or type(instance) in (ULIDProduct, Voucher):
        prefix, _, text = found[1].rpartition("_")
        found += [value.lower(), f"{prefix}_{text.lower()}"]
    return found


def search(model, text, user=None):
    """The names of the rows that are listed for the text."""
    return names(changelist(model, "?" + urlencode({"q": text}), user))


def found_by(search_fields, model, text):
    """The names of the rows that an admin with these search fields lists for the text."""
    site = admin.AdminSite()
    site.register(model, type("OwnAdmin", (SortableIDAdmin,), {"search_fields": search_fields}))
    return names(changelist(model, f"?q={text}", site=site))


@each_kind
def test_every_spelling_of_an_id_with_blanks_and_quotes_around_it(scheme):
    """Of a key, and next to an integer key."""
    for model, column in ((PRODUCTS[scheme], "id"), (Order, scheme)):
        first, _ = (model.objects.create(name=name) for name in ("first", "second"))
        for text in spellings(first, column):
            for pasted in (text, f" {text}", f"\n{text}\r\n", f"\u00a0{text}\u2003", f'"{text}"'):
                assert search(model, pasted) == ["first"], pasted


def test_a_text_that_could_be_two_ids_finds_both():
    """As SQL Server shows them, ids of 1997 to 2010 could be canonical ids of another time."""
    model = PRODUCTS["comb13"]
    key = made_at(model, datetime(2005, 6, 1, tzinfo=UTC))
    text = public_id(model(id=key))
    other = uuid.UUID(text)
    assert model._meta.get_field("id").scheme.holds(other.int)
    model.objects.create(id=key, name="shown so")
    assert search(model, text) == ["shown so"]
    model.objects.create(id=other, name="spelled so")
    assert sorted(search(model, text)) == ["shown so", "spelled so"]
    assert search(model, str(key)) == ["shown so"]


@each_kind
def test_what_is_no_whole_id_finds_nothing(scheme):
    first, _ = (PRODUCTS[scheme].objects.create() for _ in range(2))
    unknown = PRODUCTS[scheme].objects.create()
    gone = public_id(unknown)
    unknown.delete()
    for text in (str(first.pk), public_id(first)):
        for wrong in (
            text[:-1],
            text[1:],
            text[: len(text) // 2],
            f"{text}x",
            f"wrong_{text}",
            f"{text},",
            gone,
        ):
            assert search(PRODUCTS[scheme], wrong) == [], wrong


@each_kind
def test_other_columns_are_searched_as_always(scheme):
    model = PRODUCTS[scheme]
    rows = [model.objects.create(name=name) for name in ("red shoe", "red hat", "blue hat")]
    assert sorted(search(model, "red")) == ["red hat", "red shoe"]
    assert search(model, "HAT red") == ["red hat"]
    assert search(model, '"red s"') == ["red shoe"]
    assert search(model, f"{public_id(rows[2])} hat") == ["blue hat"]
    assert search(model, f"{public_id(rows[2])} shoe") == []
    assert search(model, "green") == []
    assert len(search(model, "")) == 3


@in_one_case(
    "name",
    [
        *("id", "^id", "=id", "@id", "pk", "=pk", "id__pasted"),
        *("id__exact", "id__iexact", "id__icontains", "id__startswith", "pk__exact"),
    ],
)
def test_an_id_may_be_named_in_any_way(name):
    first, _ = (UUIDv7Product.objects.create(name=name) for name in ("first", "second"))
    for text in (*spellings(first), f" {first.pk} "):
        assert found_by([name], UUIDv7Product, text) == ["first"]
    for text in ("x", str(first.pk)[:8], "first"):
        assert found_by([name], UUIDv7Product, text) == []
    assert found_by(["name", name], UUIDv7Product, "fir") == ["first"]


@in_one_case(
    "name",
    [
        *("ulid__id", "^ulid__id", "=ulid__id", "@ulid__id", "ulid__id__exact", "ulid__pk"),
        *("ulid__pk__exact", "ulid__id__icontains", "all_ulid__id", "all_ulid__pk", "ulid__exact"),
    ],
)
def test_an_id_may_be_that_of_a_relation(name):
    product, other = ULIDProduct.objects.create(), ULIDProduct.objects.create()
    basket = Basket.objects.create(name="basket", ulid=product)
    basket.all_ulid.set([product, other])
    Basket.objects.create(name="another", ulid=other)
    for text in spellings(product):
        assert found_by([name], Basket, text) == ["basket"]
    assert found_by([name], Basket, product.pk[:10]) == []
    assert found_by([name], Basket, public_id(basket)) == ["basket"]


def test_ids_need_not_be_named_where_they_are_unique(browser):
    site = admin.AdminSite()
    for model, searched in (
        (UUIDv7Product, ["id__pasted"]),
        (Order, [f"{scheme}__pasted" for scheme in PRODUCTS]),
        (Voucher, ["id__pasted", "code__pasted"]),
        (Review, []),
    ):
        assert SortableIDAdmin(model, site).get_search_fields(None) == searched
        has_box = list(page_of(browser, list_url(model)).root.find_all("input", id="searchbar"))
        assert len(has_box) == 1


def test_an_id_that_is_not_unique_is_searched_where_it_is_named():
    review = Review.objects.create(name="first")
    Review.objects.create(name="second")
    for text in spellings(review, "import_id"):
        assert found_by(["import_id"], Review, text) == ["first"]


@each_kind
def test_rows_that_a_user_may_not_see_are_not_found(scheme):
    mine, theirs = (Order.objects.create(name=name, tenant=name) for name in ("mine", "theirs"))
    user = User.objects.create(username="mine", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_order"))
    for text in spellings(mine, scheme):
        assert search(Order, text, user) == ["mine"]
    for text in spellings(theirs, scheme):
        assert search(Order, text, user) == []
        assert search(Order, f"{text} {public_id(mine, scheme)}", user) == []
    browser = Client()
    browser.force_login(user)
    answer = browser.get(list_url(Order, q=public_id(theirs, scheme)))
    assert names(answer.context["cl"]) == []
    assert b"theirs" not in answer.content


def statements(model, text):
    """The SELECTs for a list that is searched, and what it lists."""
    with CaptureQueriesContext(connection) as captured:
        found = search(model, text)
    return [each["sql"] for each in captured], found


@in_one_case("scheme", ["uuid7", "comb13", "ulid", "kuuid"])
def test_a_text_that_can_only_be_an_id_is_looked_up_by_the_ids_alone(scheme):
    for model, column in ((PRODUCTS[scheme], "id"), (Order, scheme)):
        row, _ = (model.objects.create(name=name) for name in ("first", "second"))
        for text in spellings(row, column):
            for given in (text, f" {text} ", f'"{text}"'):
                sql, found = statements(model, given)
                assert found == ["first"]
                assert not any("LIKE" in each.upper() for each in sql), given


@in_one_case("scheme", ["snowflake", "sequence"])
def test_a_number_or_a_short_word_may_be_text_as_well(scheme):
    model = PRODUCTS[scheme]
    row = model.objects.create(name="first")
    for text in {str(row.pk), public_id(row)}:
        model.objects.create(name=f"see {text}")
        assert sorted(search(model, text)) == ["first", f"see {text}"]
        model.objects.exclude(pk=row.pk).delete()


def test_a_text_with_an_id_that_no_row_has_is_searched_as_always():
    gone = ULIDProduct.objects.create()
    texts = (public_id(gone), gone.pk)
    gone.delete()
    for text in texts:
        row = ULIDProduct.objects.create(name=f"see {text}")
        assert search(ULIDProduct, text) == [row.name]
        row.delete()
