"""The form of the filter: from one day to another, both included, and what else is asked for."""

from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.store.models import Order

from .page import Element, Page
from .support import (
    changelist,
    each_timed_kind,
    list_url,
    midnight,
    names,
    order_at,
    page_of,
    title_of,
)

pytestmark = [pytest.mark.usefixtures("noon"), pytest.mark.django_db]

DAYS = [date(2026, 3, 7) + timedelta(days=days) for days in range(4)]
"""Four days, the second of them of 23 hours in New York."""


def form_of(page, title):
    """The form of the filter with that title, and the fields that belong to it."""
    days = page.root.find("details", data_filter_title=title).find("fieldset")
    (form_id,) = {field["form"] for tag in ("input", "button") for field in days.find_all(tag)}
    form = page.root.find("form", id=form_id)
    whole = Element("form", list(form.attributes.items()))
    whole.inside = [*form.inside, days]
    return whole


def send(browser, route, form, **days):
    """The answer to the form when its days are filled in, as a browser would send it."""
    fields = [field.attributes for field in form.find_all("input")]
    given = {}
    for field in fields:
        assert field["type"] in ("hidden", "date")
        given.setdefault(field["name"], []).append(field.get("value", ""))
    first, last = (field["name"] for field in fields if field["type"] == "date")
    given[first], given[last] = days.get("first", ""), days.get("last", "")
    assert form.attributes.get("action", "") == ""
    return browser.get(urlsplit(route).path, given)


def errors_of(page, title):
    """What the form says is wrong with its two days. The input of a wrong day points to it."""
    form = form_of(page, title)
    found = []
    for day in form.find_all("input", type="date"):
        lists = list(form.find_all("ul", class_="errorlist"))
        mine = [each for each in lists if each["id"] == day.get("aria-describedby")]
        assert ("aria-invalid" in day.attributes) == bool(mine)
        found.append(" ".join(each.text for each in mine))
    assert sum(map(bool, found)) == len(list(form.find_all("ul", class_="errorlist")))
    return found


def listed(answer):
    assert answer.status_code == 200, answer
    return names(answer.context["cl"])


def both_ends(days):
    """The names of the orders of these days, in order."""
    return [f"{day} {end}" for day in days for end in ("first", "last")]


@pytest.fixture
def orders(at_time):
    """The first and the last second of each of the days, named by day and hour."""
    at_time("America/New_York", "2026-07-06T12:00")
    for day in DAYS:
        order_at(midnight(day, "America/New_York"), f"{day} first")
        order_at(
            midnight(day + timedelta(days=1), "America/New_York") - timedelta(seconds=1),
            f"{day} last",
        )
    order_at(None)


@pytest.mark.usefixtures("orders")
def test_both_days_are_included(browser):
    form = form_of(page_of(browser, list_url(Order)), title_of("ulid"))
    for first, last in ((DAYS[1], DAYS[2]), (DAYS[1], DAYS[1])):
        answer = send(browser, list_url(Order), form, first=first, last=last)
        days = [day for day in DAYS if first <= day <= last]
        assert sorted(listed(answer)) == [
            f"{day} {end}" for day in days for end in ("first", "last")
        ]


@each_timed_kind
@pytest.mark.usefixtures("orders")
def test_a_day_that_is_missing_leaves_its_end_open(scheme):
    column = f"{scheme}__created_at__date"
    for query, days in (
        (f"?{column}__gte=2026-03-09", DAYS[2:]),
        (f"?{column}__gte=2026-03-08&{column}__lte=2026-03-09", DAYS[1:3]),
        (f"?{column}__lte=2026-03-08", DAYS[:2]),
        (f"?{column}__gte=2026-03-09&{column}__lte=", DAYS[2:]),
        (f"?{column}__gte=&{column}__lte=2026-03-08", DAYS[:2]),
    ):
        assert sorted(names(changelist(Order, query))) == both_ends(days)


@pytest.mark.usefixtures("orders")
def test_days_the_wrong_way_round_are_nothing_and_the_field_says_so(browser):
    form = form_of(page_of(browser, list_url(Order)), "creation time")
    answer = send(browser, list_url(Order), form, first=DAYS[2], last=DAYS[1])
    assert listed(answer) == []
    first, last = errors_of(Page(answer.content.decode()), "creation time")
    assert (first, last) == ("", "This day is before the first one.")


GARBAGE = ["x", "\x00", "💥", "<script>", "2026-02-30", "10000-01-01", "2026-01-01 24:61"]


@pytest.mark.parametrize("end", ["gte", "lt"])
def test_garbage_in_a_link_leads_back_to_the_list(browser, end):
    order_at(None)
    for garbage in GARBAGE:
        answer = browser.get(list_url(Order, **{f"uuid7__created_at__{end}": garbage}))
        assert (answer.status_code, answer.url) == (302, f"{list_url(Order)}?e=1"), garbage


@pytest.mark.parametrize("end", ["gte", "lte"])
def test_what_is_no_day_is_nothing_and_the_field_says_so(browser, end):
    order_at(None)
    for garbage in (*GARBAGE, "2026-01-01 00:00", "2026-01-01T00:00Z", "2013-02-30"):
        name = f"uuid7__created_at__date__{end}"
        answer = browser.get(list_url(Order, **{name: garbage, "ulid__created_at__isnull": "True"}))
        page = Page(answer.content.decode())
        assert listed(answer) == []
        errors = errors_of(page, "creation time")
        assert errors[end == "lte"] == "Enter a valid date."
        assert errors[end == "gte"] == ""
        assert errors_of(page, "creation time of ulid") == ["", ""]


@pytest.mark.usefixtures("orders")
def test_everything_else_that_is_asked_for_is_kept(browser):
    order = Order.objects.get(name="2026-03-08 last")
    kept = {
        **{"q": order.ulid, "o": "-1", "_facets": "True"},
        **{"ulid__created_at__date__gte": "2026-03-08", "comb13__created_at__isnull": "False"},
    }
    route = list_url(Order, p="1", e="1", **kept)
    form = form_of(page_of(browser, route), "creation time")
    answer = send(browser, route, form, first=DAYS[0], last=DAYS[2])
    assert parse_qs(answer.request["QUERY_STRING"]) == {
        **{name: [value] for name, value in kept.items()},
        "uuid7__created_at__date__gte": ["2026-03-07"],
        "uuid7__created_at__date__lte": ["2026-03-09"],
    }
    assert listed(answer) == ["2026-03-08 last"]


@pytest.mark.usefixtures("orders")
def test_the_form_shows_what_was_chosen_and_a_choice_replaces_it(browser):
    route = list_url(Order, uuid7__created_at__date__gte="2026-03-08")
    page = page_of(browser, route)
    details = page.root.find("details", data_filter_title="creation time")
    first, last = details.find_all("input", type="date")
    assert (first["value"], "value" in last.attributes) == ("2026-03-08", False)
    (selected,) = details.find_all("li", class_="selected")
    assert list(selected.find_all("fieldset"))
    other = page.root.find("details", data_filter_title="creation time of ulid")
    assert not any("value" in day.attributes for day in other.find_all("input", type="date"))
    for link in details.find_all("a"):
        assert "date__gte" not in link["href"]
    for link in other.find_all("a"):
        assert "uuid7__created_at__date__gte=2026-03-08" in link["href"]


def test_parameters_can_carry_no_markup(browser):
    order_at(None, "<b>bold</b>")
    for text in ("<script>alert(1)</script>", '"><script>alert(1)</script>', "' onfocus='alert(1)"):
        route = list_url(Order, q=text, o=text, _popup=text)
        content = browser.get(route).content.decode()
        assert "<script>alert" not in content
        assert "' onfocus" not in content
        assert '"><' + "script" not in content
        form = form_of(page_of(browser, route), "creation time")
        sent = send(browser, route, form, first="2026-01-01")
        assert parse_qs(sent.request["QUERY_STRING"])["q"] == [text]


@pytest.mark.usefixtures("orders")
def test_the_days_are_those_of_the_time_zone(at_time):
    query = "?uuid7__created_at__date__gte=2026-03-08&uuid7__created_at__date__lte=2026-03-08"
    here = names(changelist(Order, query))
    assert sorted(here) == ["2026-03-08 first", "2026-03-08 last"]
    for use_tz in (True, False):
        at_time("Asia/Tokyo", "2026-07-06T12:00", use_tz=use_tz)
        there = names(changelist(Order, query))
        assert sorted(there) == ["2026-03-07 last", "2026-03-08 first"]
