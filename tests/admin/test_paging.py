"""The list of a large table: what it says of its size, and links that carry an id."""

from urllib.parse import parse_qs

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.ids import public_id
from django_sortable_ids.pagination import SortableIDPaginator
from tests.store.models import PRODUCTS, Basket, Order, ULIDProduct

from .page import Page
from .support import each_kind, list_url, names, page_of

pytestmark = pytest.mark.django_db


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
    assert parse_qs(links(first)["Next"][1:]) == {"_after": [public_id(in_order[1])], "p": ["2"]}
    assert parse_qs(links(third)["Previous"][1:])["_before"] == [public_id(in_order[4])]
    assert listed(second) == [row.name for row in in_order[2:4]]
    assert len(rows) == 5


@pytest.mark.usefixtures("small_pages")
def test_rows_that_come_and_go_between_two_clicks(browser):
    made = products(20)
    first = page_of(browser, list_url(ULIDProduct) + "?o=-1")
    assert listed(first) == ["19", "18", "17"]
    products(2)
    made[18].delete()
    second = page_of(browser, list_url(ULIDProduct) + links(first)["Next"])
    assert listed(second) == ["16", "15", "14"]
    for row in made[16:]:
        if row.pk:
            row.delete()
    back = page_of(browser, list_url(ULIDProduct) + links(second)["Previous"])
    assert listed(back) == ["01", "00"]
    ULIDProduct.objects.filter(id__lt=made[14].id).delete()
    products(8)
    after = page_of(browser, list_url(ULIDProduct) + links(second)["Next"])
    assert listed(after) == []
    assert set(links(after)) == {"First", "Previous"}
    assert len(listed(page_of(browser, list_url(ULIDProduct) + links(after)["Previous"]))) == 3


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
    texts = ("x", "\0", "é", "9" * 5000, "<script>alert(1)</script>", public_id(other), "None")
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
    user = User.objects.create(username="mine", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_order"))
    client = Client()
    client.force_login(user)
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


def test_small_tables_look_as_always(browser, admin_with):
    products(25)
    admin_with(ULIDProduct, list_per_page=10)
    page = page_of(browser, list_url(ULIDProduct))
    assert "25 ulid products" in paginator_text(page)
    assert "Show all" in paginator_text(page)
    assert len(listed(page_of(browser, list_url(ULIDProduct) + "?all="))) == 25
    assert listed(page_of(browser, list_url(ULIDProduct, p="4"))) == ["20", "21", "22", "23", "24"]


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


def test_the_page_is_nested_as_it_should_be(browser, admin_with):
    admin_with(ULIDProduct, list_per_page=3)
    products(10)
    content = browser.get(list_url(ULIDProduct, p="2")).content.decode()
    nav = Page(content).root.find("nav", class_="sortable-ids-pages")
    assert [a.get("rel") for a in nav.find_all("a")] == [None, "prev", "next", None]
    assert "style=" not in content.split('class="sortable-ids-pages"')[1].split("</nav>")[0]
    assert names(browser.get(list_url(ULIDProduct)).context["cl"]) == ["00", "01", "02"]
