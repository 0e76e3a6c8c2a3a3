"""Each choice of the filter: which rows it lists, at the ends of days, months and years."""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.admin import AdminSite
from django.core.exceptions import FieldError
from django.db.models import CASCADE, DateTimeField, ForeignKey
from django.test.utils import isolate_apps

from django_sortable_ids.admin import CreatedAtFilter, SortableIDAdmin
from django_sortable_ids.admin.change_list import SortableIDChangeList
from django_sortable_ids.fields import ULIDField
from tests.combinations import each_with, in_one_case
from tests.store.admin import TIMED
from tests.store.models import Basket, Order, Review, ULIDProduct
from tests.testapp.models import Named

from .page import Element, Page
from .support import (
    KINDS,
    around,
    changelist,
    choices,
    each_timed_kind,
    list_url,
    made_at,
    midnight,
    names,
    order_at,
    page_of,
    title_of,
)

pytestmark = [pytest.mark.usefixtures("noon"), pytest.mark.django_db]

CLOCKS = {
    "a day of 23 hours": ("America/New_York", "2026-03-08T12:00"),
    "a day of 25 hours": ("America/New_York", "2026-11-01T01:30"),
    "a day without midnight": ("Asia/Beirut", "2026-03-29T12:00"),
    "a day that ends twice": ("Asia/Beirut", "2026-10-24T23:30"),
    "the end of a year": ("Asia/Kathmandu", "2025-12-31T23:59:59.999999"),
    "the start of a year, far east": ("Pacific/Kiritimati", "2026-01-01T00:00"),
    "a leap day, far west": ("Pacific/Pago_Pago", "2028-02-29T12:00"),
    "UTC": ("UTC", "2026-07-06T00:00"),
}


def days_around(today):
    """The days that begin or end a choice, and their neighbours."""
    starts = [
        today,
        today + timedelta(days=1),
        today - timedelta(days=7),
        today.replace(day=1),
        (today.replace(day=28) + timedelta(days=4)).replace(day=1),
        date(today.year, 1, 1),
        date(today.year + 1, 1, 1),
    ]
    return {start + timedelta(days=shift) for start in starts for shift in (-1, 0, 1)}


def expected(moments, zone, today):
    """The moments that belong to each choice, by their local dates."""
    dates = {moment: moment.astimezone(zone).date() for moment in moments}
    week_ago = today - timedelta(days=7)
    rules = {
        "Any date": lambda day: True,
        "Today": lambda day: day == today,
        "Past 7 days": lambda day: week_ago <= day <= today,
        "This month": lambda day: (day.year, day.month) == (today.year, today.month),
        "This year": lambda day: day.year == today.year,
    }
    return {
        title: [moment.isoformat() for moment in moments if belongs(dates[moment])]
        for title, belongs in rules.items()
    }


@pytest.mark.parametrize(("clock", "use_tz"), each_with(list(CLOCKS), [True, False]))
def test_every_choice_lists_exactly_its_rows(at_time, clock, use_tz):
    zone, local = CLOCKS[clock]
    now = at_time(zone, local, use_tz=use_tz)
    moments = around(days_around(now.date()), zone)
    for moment in (*moments, None):
        order_at(moment)
    wanted = expected(moments, now.tzinfo, now.date())
    assert all(wanted.values())
    wanted |= {"No date": ["none"], "Has date": wanted["Any date"]}
    wanted["Any date"] = [*wanted["Any date"], "none"]
    page = changelist(Order)
    for scheme in KINDS[:-1]:
        links = choices(page, title_of(scheme))
        for title, rows in wanted.items():
            listed = names(changelist(Order, links[title]["query_string"]))
            assert Counter(listed) == Counter(rows), (scheme, title)


def test_a_many_to_many_relation_lists_each_row_once(at_time):
    at_time("America/New_York", "2026-07-06T12:00")
    start = midnight(date(2026, 7, 6), "America/New_York")
    ids = [made_at(ULIDProduct, start + timedelta(hours=hours)) for hours in (-1, 0, 1, 2)]
    products = [ULIDProduct.objects.create(id=key) for key in ids]
    for name, some in (("all", products), ("before", products[:1]), ("none", [])):
        Basket.objects.create(name=name).all_ulid.set(some)
    links = choices(changelist(Basket), "creation time of all ulid")
    assert names(changelist(Basket, links["Today"]["query_string"])) == ["all"]
    assert sorted(names(changelist(Basket, links["This month"]["query_string"]))) == [
        "all",
        "before",
    ]


@isolate_apps("tests.testapp")
def test_a_related_model_may_have_a_field_created_at(rf):
    class Bought(Named):
        id = ULIDField(primary_key=True)
        created_at = DateTimeField()

        class Meta:
            app_label = "testapp"

    class Sent(Named):
        bought = ForeignKey(Bought, CASCADE)

        class Meta:
            app_label = "testapp"

    class SentAdmin(SortableIDAdmin):
        created_at_hierarchy = "bought"
        list_filter = (("bought", CreatedAtFilter),)

    admin, request = SentAdmin(Sent, AdminSite()), rf.get("/")
    spec = CreatedAtFilter(Sent._meta.get_field("bought"), request, {}, Sent, admin, "bought")
    names = [*filter(None, spec.expected_parameters())]
    assert len(names) == 4
    assert [name for name in names if not admin.lookup_allowed(name, "2024-05-01", request)] == []
    # Its choices replace a period of the drill-down by the same ids.
    change_list = SortableIDChangeList.__new__(SortableIDChangeList)
    change_list.model, change_list.model_admin = Sent, admin
    assert change_list._period_name.startswith(spec.field_generic)


@in_one_case(
    ("path", "reason"),
    [("sequence", "of the scheme .*: its ids carry no time"), ("id", "no sortable id")],
)
def test_what_is_no_id_with_a_time_is_refused_by_name(path, reason):
    with pytest.raises(FieldError, match=f"^'{path}' of store.Order is {reason}"):
        CreatedAtFilter(None, None, {}, Order, None, path)


# The filter on its page: valid HTML, titles, counts, and the choice that is selected.


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


def test_each_filter_of_a_page_has_a_title_of_its_own(browser):
    assert list(filters_of(page_of(browser, list_url(Order)))) == [title_of(s) for s in TIMED]
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


# The form of the filter: from one day to another, both included, and what else is asked for


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
