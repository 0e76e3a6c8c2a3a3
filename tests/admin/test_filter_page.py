"""The filter on its page: valid HTML, titles, counts, and the choice that is selected."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.combinations import in_one_case
from tests.store.admin import TIMED
from tests.store.models import PRODUCTS, Basket, Order, Review

from .page import Page
from .support import (
    changelist,
    each_timed_kind,
    list_url,
    names,
    order_at,
    page_of,
    title_of,
)

pytestmark = [pytest.mark.usefixtures("noon"), pytest.mark.django_db]

TITLES = ["Any date", "Today", "Past 7 days", "This month", "This year"]


def filters_of(page):
    """The filters of the page by their titles."""
    details = [part for part in page.root.find_all("details") if list(part.find_all("fieldset"))]
    found = {part["data-filter-title"]: part for part in details}
    assert len(found) == len(details)
    return found


def selected(details):
    """What the selected items say, the form by its tag."""
    return [
        "form" if list(item.find_all("fieldset")) else item.text
        for item in details.find_all("li", class_="selected")
    ]


@in_one_case("model", [PRODUCTS["ulid"], PRODUCTS["sequence"], Basket, Order])
def test_the_page_is_nested_as_it_should_be(browser, model):
    for query in ("?_facets=True", "?q=x&_popup=1"):
        check_nesting(page_of(browser, list_url(model) + query))


def check_nesting(page):
    for details in filters_of(page).values():
        for field in details.find_all("input"):
            assert field["type"] in ("hidden", "date")
        (form_id,) = {field["form"] for field in details.find_all("input", type="date")}
        assert page.root.find("form", id=form_id)["method"] == "get"
    for form in page.root.find_all("form"):
        assert not list(form.find_all("form"))


def test_every_day_has_a_label(browser):
    for details in filters_of(page_of(browser, list_url(Order))).values():
        days = {field["id"]: field["name"] for field in details.find_all("input", type="date")}
        labels = {label.text: days.pop(label["for"]) for label in details.find_all("label")}
        assert set(labels) == {"From", "To"}
        assert not days
        assert labels["From"].endswith("__created_at__date__gte")
        assert labels["To"].endswith("__created_at__date__lte")
        (button,) = details.find_all("button", type="submit")
        assert button.text == "Filter"


def test_each_filter_of_a_page_has_a_title_of_its_own(browser):
    assert list(filters_of(page_of(browser, list_url(Order)))) == [title_of(s) for s in TIMED]
    assert list(filters_of(page_of(browser, list_url(Basket)))) == [
        "creation time",
        *(f"creation time of {scheme.replace('_', ' ')}" for scheme in TIMED[::2]),
        *(f"creation time of {PRODUCTS[s]._meta.verbose_name}" for s in TIMED[1::2]),
        "creation time of all ulid",
    ]
    assert list(filters_of(page_of(browser, list_url(Review)))) == [
        "creation time",
        "creation time of profile",
        "creation time of bundle",
        "creation time of ulid",
    ]


def test_two_filters_of_a_page_work_together(browser):
    now = datetime.now(UTC)
    order_at(now, "now")
    order_at(None)
    order_at(now - timedelta(days=800), "old")
    page = filters_of(page_of(browser, list_url(Order)))
    this_year = next(
        a["href"] for a in page["creation time"].find_all("a") if a.text == "This year"
    )
    page = filters_of(page_of(browser, list_url(Order) + this_year))
    assert selected(page["creation time"]) == ["This year"]
    assert selected(page["creation time of ulid"]) == ["Any date"]
    links = {a.text: a["href"] for a in page["creation time of ulid"].find_all("a")}
    for title, rows in (("Past 7 days", ["now"]), ("No date", []), ("Any date", ["now"])):
        answer = browser.get(list_url(Order) + links[title])
        assert names(answer.context["cl"]) == rows
        after = filters_of(Page(answer.content.decode()))
        assert selected(after["creation time"]) == ["This year"]
        assert selected(after["creation time of ulid"]) == [title]


def test_the_links_are_the_choices_and_select_themselves(browser):
    for model, title, extra in (
        (PRODUCTS["ulid"], "creation time", []),
        (Order, title_of("ulid"), ["No date", "Has date"]),
    ):
        details = filters_of(page_of(browser, list_url(model)))[title]
        assert selected(details) == ["Any date"]
        links = {link.text: link["href"] for link in details.find_all("a")}
        assert list(links) == TITLES + extra
        for choice, href in links.items():
            again = filters_of(page_of(browser, list_url(model) + href))[title]
            assert selected(again) == [choice]


@each_timed_kind
def test_counts_are_those_of_the_rows(browser, scheme):
    now = datetime.now(UTC)
    for seconds, days in enumerate((0, 0, 3, 40, 400)):
        order_at(now - timedelta(days=days, seconds=seconds))
    order_at(None)
    details = filters_of(page_of(browser, list_url(Order, _facets="True")))[title_of(scheme)]
    links = {link.text: link["href"] for link in details.find_all("a")}
    # In 2026: this year, a month of it, and 2025.
    assert len(links) == 7
    for text, href in links.items():
        rows = names(changelist(Order, href))
        assert text.endswith(f" ({len(rows)})"), text
