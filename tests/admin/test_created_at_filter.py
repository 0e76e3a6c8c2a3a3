"""Each choice of the filter: which rows it lists, at the ends of days, months and years."""

import re
from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest
from django.contrib import admin
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.admin import CreatedAtFilter, SortableIDAdmin
from tests.combinations import each_with
from tests.store.admin import TIMED
from tests.store.models import (
    PRODUCTS,
    Basket,
    Bundle,
    Order,
    Profile,
    Refund,
    Review,
    ULIDProduct,
)

from .support import (
    KINDS,
    around,
    changelist,
    choices,
    each_timed_kind,
    made_at,
    midnight,
    names,
    order_at,
    title_of,
)

pytestmark = pytest.mark.django_db

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


def is_filter(spec, relation):
    """Whether the filter is that of an id of the related row."""
    return isinstance(spec, CreatedAtFilter) and spec.field_path.split("__")[0] == relation


@pytest.mark.parametrize(("clock", "use_tz"), each_with(list(CLOCKS), [True, False]))
def test_every_choice_lists_exactly_its_rows(at_time, clock, use_tz):
    zone, local = CLOCKS[clock]
    now = at_time(zone, local, use_tz=use_tz)
    moments = around(days_around(now.date()), zone)
    for moment in moments:
        order_at(moment)
    wanted = expected(moments, now.tzinfo, now.date())
    assert all(wanted.values())
    page = changelist(Order)
    for scheme in KINDS[:-1]:
        links = choices(page, title_of(scheme))
        for title, rows in wanted.items():
            listed = names(changelist(Order, links[title]["query_string"]))
            assert Counter(listed) == Counter(rows), (scheme, title)


@each_timed_kind
def test_every_choice_of_a_key(at_time, scheme):
    model = PRODUCTS[scheme]
    now = at_time("America/New_York", "2026-03-01T00:30")
    moments = around(days_around(now.date()), "America/New_York")
    for moment in moments:
        model.objects.create(id=made_at(model, moment), name=moment.isoformat())
    page = changelist(model)
    links = choices(page, "creation time")
    wanted = expected(moments, now.tzinfo, now.date())
    assert set(links) == set(wanted)
    for title, rows in wanted.items():
        assert Counter(names(changelist(model, links[title]["query_string"]))) == Counter(rows)
    assert "No date" not in links


@each_timed_kind
@pytest.mark.parametrize("of", [Basket, Refund])
def test_every_choice_of_a_relation(at_time, scheme, of):
    """A basket points to a key, by ``"uuid7"`` or ``"uuid6__id"``; a refund to another column."""
    now = at_time("Asia/Kathmandu", "2025-12-31T23:30")
    moments = around(days_around(now.date()), "Asia/Kathmandu")
    for moment in moments:
        if of is Basket:
            key = made_at(PRODUCTS[scheme], moment)
            target = PRODUCTS[scheme].objects.create(id=key)
        else:
            target = order_at(moment)
        of.objects.create(name=moment.isoformat(), **{scheme: target})
    of.objects.create(name="without")
    (title,) = [spec.title for spec in changelist(of).filter_specs if is_filter(spec, scheme)]
    links = choices(changelist(of), title)
    wanted = expected(moments, now.tzinfo, now.date())
    wanted["Any date"] = [*wanted["Any date"], "without"]
    if "No date" in links:
        wanted |= {"No date": ["without"], "Has date": wanted["Any date"][:-1]}
    assert set(links) == set(wanted)
    for choice, rows in wanted.items():
        listed = names(changelist(of, links[choice]["query_string"]))
        assert Counter(listed) == Counter(rows), choice


@each_timed_kind
def test_rows_without_an_id(scheme):
    order_at(None)
    order_at(datetime(2026, 1, 1, tzinfo=UTC), "dated")
    links = choices(changelist(Order), title_of(scheme))
    assert names(changelist(Order, links["No date"]["query_string"])) == ["none"]
    assert names(changelist(Order, links["Has date"]["query_string"])) == ["dated"]
    for title in ("Today", "Past 7 days"):
        assert names(changelist(Order, links[title]["query_string"])) == []


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


def test_keys_that_are_relations_and_columns_behind_relations(at_time):
    at_time("America/New_York", "2026-07-06T12:00")
    start = midnight(date(2026, 7, 6), "America/New_York")
    for name, at in (("today", start), ("yesterday", start - timedelta(seconds=1))):
        product = ULIDProduct.objects.create(id=made_at(ULIDProduct, at))
        Review.objects.create(
            name=name,
            import_id=made_at(Review, at, "import_id"),
            profile=Profile.objects.create(product=product),
            bundle=Bundle.objects.create(id=made_at(ULIDProduct, at)),
            basket=Basket.objects.create(ulid=product),
        )
    Review.objects.create(name="without")
    page = changelist(Review)
    for title in (
        "creation time",
        "creation time of profile",
        "creation time of bundle",
        "creation time of ulid",
    ):
        links = choices(page, title)
        assert names(changelist(Review, links["Today"]["query_string"])) == ["today"], title


def test_a_reverse_relation(at_time):
    at_time("America/New_York", "2026-07-06T12:00")
    start = midnight(date(2026, 7, 6), "America/New_York")
    for name, at in (("today", start), ("yesterday", start - timedelta(seconds=1))):
        product = ULIDProduct.objects.create(name=name)
        Basket.objects.create(id=made_at(Basket, at), ulid=product)
    own_site = admin.AdminSite()
    options = {"list_filter": [("baskets", CreatedAtFilter)]}
    own_site.register(ULIDProduct, type("OwnAdmin", (SortableIDAdmin,), options))
    found = changelist(ULIDProduct, site=own_site)
    links = choices(found, "creation time of basket")
    assert names(changelist(ULIDProduct, links["Today"]["query_string"], site=own_site)) == [
        "today"
    ]


@pytest.mark.parametrize("path", ["sequence", "id", "missing", "name__x"])
def test_what_is_no_id_with_a_time_is_refused_by_name(path):
    with pytest.raises(ImproperlyConfigured) as refused:
        CreatedAtFilter(None, None, {}, Order, None, path)
    assert str(refused.value) == (
        f"CreatedAtFilter can't filter store.Order by {path!r}: expected the path of a sortable "
        f"id with a time"
    )


def conditions(model, query):
    """What comes after WHERE in each of the queries for a list, quotes left out."""
    with CaptureQueriesContext(connection) as captured:
        changelist(model, query)
    statements = [re.sub(r'["`]', "", query["sql"]) for query in captured]
    found = [sql.split(" WHERE ", 1)[1] for sql in statements if " WHERE " in sql]
    assert found
    return found


def assert_range(where, column, operators):
    assert re.findall(rf"{re.escape(column)} (\S+) ", where) == operators, where
    assert not re.search(rf"\w\([^()]*{re.escape(column)}", where), where


@each_timed_kind
def test_every_choice_is_a_range(scheme):
    operators = ["<=", ">="] if scheme == "reversed_kuuid" else [">=", "<="]
    links = choices(changelist(Order), title_of(scheme))
    for title in ("Today", "Past 7 days", "This month", "This year"):
        for where in conditions(Order, links[title]["query_string"]):
            assert_range(where, f"store_order.{scheme}", operators)
    for title, operator in (("No date", "IS NULL"), ("Has date", "IS NOT NULL")):
        for where in conditions(Order, links[title]["query_string"]):
            assert f"store_order.{scheme} {operator}" in where


@each_timed_kind
def test_a_chosen_range_is_a_range(scheme):
    table = PRODUCTS[scheme]._meta.db_table
    descending = scheme == "reversed_kuuid"
    for query, operators in (
        ("?id__created_at__date__gte=2026-01-01", ["<=" if descending else ">="]),
        ("?id__created_at__date__lte=2026-01-01", [">=" if descending else "<="]),
        (
            "?id__created_at__date__gte=2026-01-01&id__created_at__date__lte=2026-01-31",
            ["<=", ">="] if descending else [">=", "<="],
        ),
    ):
        for where in conditions(PRODUCTS[scheme], query):
            assert_range(where, f"{table}.id", operators)


@each_timed_kind
def test_through_a_relation_it_is_one_on_the_other_tables_key(scheme):
    table = PRODUCTS[scheme]._meta.db_table
    path = scheme if scheme in TIMED[::2] else f"{scheme}__id"
    (where, *_) = conditions(Basket, f"?{path}__created_at__date__gte=2026-01-01")
    own, other = f"store_basket.{scheme}_id", f"{table}.id"
    assert_range(where, own if own in where else other, ["<=" if "reversed" in scheme else ">="])
