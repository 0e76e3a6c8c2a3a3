"""The search box: a pasted id finds its row in any accepted spelling, and nothing else does."""

import uuid
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlencode

import pytest
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from django_sortable_ids.admin import SortableIDAdmin
from django_sortable_ids.ids import public_id
from django_sortable_ids.pagination import SortableIDPaginator
from tests.combinations import in_one_case
from tests.store.models import PRODUCTS, Basket, Order, Review, ULIDProduct, UUIDv7Product, Voucher

from .support import changelist, each_kind, list_url, logged_in, made_at, names, page_of, staff

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
    """Of a key, and next to an integer key. What can only be an id is looked up as one alone."""
    may_be_text = scheme in ("snowflake", "sequence")
    for model, column in ((PRODUCTS[scheme], "id"), (Order, scheme)):
        first, _ = (model.objects.create(name=name) for name in ("first", "second"))
        for text in spellings(first, column):
            for pasted in (text, f" {text}", f"\n{text}\r\n", f"\u00a0{text}\u2003", f'"{text}"'):
                assert search(model, pasted) == ["first"], pasted
            sql, _ = statements(model, text)
            assert may_be_text or not any("LIKE" in each.upper() for each in sql), text


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
        assert found_by([name, "ulid"], Basket, text) == ["basket"]
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
    user = staff("view_order", name="mine")
    for text in spellings(mine, scheme):
        assert search(Order, text, user) == ["mine"]
    for text in spellings(theirs, scheme):
        assert search(Order, text, user) == []
        assert search(Order, f"{text} {public_id(mine, scheme)}", user) == []
    answer = logged_in(user).get(list_url(Order, q=public_id(theirs, scheme)))
    assert names(answer.context["cl"]) == []
    assert b"theirs" not in answer.content


def test_a_choice_is_searched_as_a_list_is_and_may_contain_nul(browser):
    """Django's form of the list refuses NUL; a choice has no form."""
    ULIDProduct.objects.create(name="first")
    basket = {"app_label": "store", "model_name": "basket", "field_name": "ulid"}
    for text, count in (("irs", 1), ("\0", 0), ("irs\0", 0)):
        answer = browser.get(reverse("admin:autocomplete"), {**basket, "term": text})
        assert len(answer.json()["results"]) == count, text


def statements(model, text):
    """The SELECTs for a list that is searched, and what it lists."""
    with CaptureQueriesContext(connection) as captured:
        found = search(model, text)
    return [each["sql"] for each in captured], found


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


# The list of a large table: what it says of its size, and links that carry an id


class Pages(SortableIDPaginator):
    exact_up_to = 12


@pytest.fixture
def small_pages(admin_with):
    admin_with(ULIDProduct, list_per_page=3, list_max_show_all=10, paginator=Pages)
    admin_with(Order, list_per_page=3, list_max_show_all=10, paginator=Pages)
    admin_with(Basket, list_per_page=3, list_max_show_all=10, paginator=Pages)


def products(count):
    return [ULIDProduct.objects.create(name=f"{number:02}") for number in range(count)]


def links(page):
    """The links between pages, by their text."""
    found = list(page.root.find_all("nav", class_="sortable-ids-pages"))
    return {a.text: a["href"] for nav in found for a in nav.find_all("a")}


def listed(page):
    return [cell.text for cell in page.root.find_all("td", class_="field-name")]


def walk(browser, model, query="", link="Next"):
    """The pages from the first one, or from the last one, by their links."""
    pages = [page_of(browser, list_url(model) + query)]
    while link in links(pages[-1]):
        pages.append(page_of(browser, list_url(model) + links(pages[-1])[link]))
        assert len(pages) < 30
    return pages


def paginator_text(page):
    (text,) = [
        each.text for tag in ("p", "nav") for each in page.root.find_all(tag, class_="paginator")
    ]
    return text


@pytest.mark.usefixtures("small_pages")
def test_every_row_once_forwards_and_backwards(browser):
    products(16)
    for query, ordered in (("", False), ("?o=-1", True)):
        expected = [f"{number:02}" for number in range(16)]
        expected.sort(reverse=ordered)
        pages = walk(browser, ULIDProduct, query)
        assert [name for page in pages for name in listed(page)] == expected
        assert all(len(listed(page)) == 3 for page in pages[:-1])
        assert not {"First", "Previous"} & set(links(pages[0]))
        assert not {"Next", "Last"} & set(links(pages[-1]))
        last = links(pages[0])["Last"]
        back = walk(browser, ULIDProduct, last, "Previous")
        assert [name for page in back[::-1] for name in listed(page)] == expected
        assert (
            listed(page_of(browser, list_url(ULIDProduct) + links(back[0])["First"]))
            == (expected[:3])
        )


@each_kind
def test_a_link_carries_the_public_text(browser, admin_with, scheme):
    model = PRODUCTS[scheme]
    admin_with(model, list_per_page=2)
    rows = [model.objects.create(name=str(number)) for number in range(5)]
    in_order = list(model.objects.order_by("id"))
    first, second, third = walk(browser, model)
    nav = second.root.find("nav", class_="sortable-ids-pages")
    assert [a.get("rel") for a in nav.find_all("a")] == [None, "prev", "next", None]
    assert parse_qs(links(first)["Next"][1:]) == {"_after": [public_id(in_order[1])], "p": ["2"]}
    assert parse_qs(links(third)["Previous"][1:])["_before"] == [public_id(in_order[4])]
    assert listed(second) == [row.name for row in in_order[2:4]]
    assert len(rows) == 5


@pytest.mark.usefixtures("small_pages")
def test_links_stay_within_search_filters_and_popups(browser):
    products(30)
    ULIDProduct.objects.filter(name__endswith="5").update(name="no")
    query = "?q=1&_popup=1&id__created_at__isnull=False"
    pages = walk(browser, ULIDProduct, query)
    expected = [row.name for row in ULIDProduct.objects.filter(name__contains="1").order_by("id")]
    assert [name for page in pages for name in listed(page)] == expected
    assert len(expected) == 11
    for page in pages[1:]:
        for a in page.root.find_all("a"):
            if a["href"].startswith("?") and a.text not in ("Next", "Previous", "Last"):
                assert "_after" not in a["href"], a.text
        form = page.root.find("form", id="changelist-search")
        sent = {field["name"] for field in form.find_all("input") if "name" in field.attributes}
        assert not {"_after", "_before", "p"} & sent


@pytest.mark.usefixtures("small_pages")
def test_another_order_has_djangos_pages(browser):
    products(11)
    for query in ("?o=2", "?o=2&_after=x", "?o=-2&_before="):
        page = page_of(browser, list_url(ULIDProduct) + query)
        assert (len(listed(page)), links(page)) == (3, {})
    for number in range(5):
        Order.objects.create(name=str(number))
    assert links(page_of(browser, list_url(Order))) == {}


@pytest.mark.usefixtures("small_pages")
def test_wrong_positions_lead_back_to_the_list(browser):
    rows = products(7)
    other = Basket.objects.create()
    texts = ("x", "\0", "<script>alert(1)</script>", public_id(other))
    for text in texts:
        for name in ("_after", "_before"):
            answer = browser.get(list_url(ULIDProduct, **{name: text}))
            assert (answer.status_code, answer.url) == (302, f"{list_url(ULIDProduct)}?e=1"), text
    for number in ("0", "-5", "x", "9" * 30, ""):
        page = page_of(browser, list_url(ULIDProduct, _after=public_id(rows[0]), p=number))
        assert listed(page) == ["01", "02", "03"]
    both = list_url(ULIDProduct, _after=public_id(rows[0]), _before=public_id(rows[4]))
    assert listed(page_of(browser, both)) == ["01", "02", "03"]


@pytest.mark.usefixtures("small_pages")
def test_nobody_pages_to_rows_that_are_not_theirs(browser):
    mine = [Order.objects.create(name=f"mine {i}", tenant="mine") for i in range(7)]
    theirs = [Order.objects.create(name=f"theirs {i}", tenant="theirs") for i in range(30)]
    client = logged_in(staff("view_order", name="mine"))
    for query in ("?o=2", f"?o=2&_after={theirs[-1].uuid7}", f"?o=-2&_after={theirs[3].uuid7}"):
        answer = client.get(list_url(Order) + query)
        assert "theirs" not in answer.content.decode()
        assert answer.context["cl"].full_result_count == answer.context["cl"].result_count == 7
    assert len(mine) == 7


@pytest.mark.usefixtures("small_pages")
def test_the_page_says_that_a_count_is_not_exact(browser):
    products(25)
    page = page_of(browser, list_url(ULIDProduct))
    said = paginator_text(page)
    assert "more than 12 ulid products" in said or "about " in said
    assert "Show all" not in said
    search = page_of(browser, list_url(ULIDProduct, q="0")).root.find(
        "form", id="changelist-search"
    )
    assert "12 results (" in search.text
    assert "more than 12 total" in search.text or "about " in search.text
    action = page_of(browser, list_url(ULIDProduct)).root.find("div", class_="actions").text
    assert "more than 12" in action or "about " in action
    last = page_of(browser, list_url(ULIDProduct, p="9"))
    assert listed(last) == ["24"]
    assert "25 ulid products" in paginator_text(last)


@pytest.mark.usefixtures("small_pages")
def test_no_statement_counts_every_row(browser, admin_with):
    products(25)
    for shown in (True, False):
        admin_with(ULIDProduct, show_full_result_count=shown)
        for query, counts in (("", 1), ("?o=-1", 1), ("?q=1", 2 if shown else 1)):
            with CaptureQueriesContext(connection) as captured:
                browser.get(list_url(ULIDProduct) + query)
            counted = [each["sql"] for each in captured if "COUNT(" in each["sql"]]
            assert len(counted) == counts, query
            assert all("LIMIT 13" in sql for sql in counted)
