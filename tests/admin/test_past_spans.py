"""The last months and years that have rows: found by the index, and never of rows of others."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.admin import CreatedAtFilter
from tests.store.models import PRODUCTS, Basket, Order, ULIDProduct

from .support import changelist, choices, each_timed_scheme, made_at, names, order_at

pytestmark = [pytest.mark.usefixtures("noon"), pytest.mark.django_db]

USUAL = {"Any date", "Today", "Past 7 days", "This month", "This year", "No date", "Has date"}
"""It is July 2026."""


def past(found, title="creation time"):
    return [choice for choice in choices(found, title) if choice not in USUAL]


def at(year, month, day=15):
    return datetime(year, month, day, 12, tzinfo=UTC)


@each_timed_scheme
def test_data_of_other_years_has_choices_that_fit(scheme):
    model = PRODUCTS[scheme]
    for month in (1, 2, 5, 6, 7, 8, 9, 12):
        model.objects.create(id=made_at(model, at(2013, month)), name=f"{month}")
    months = ["December", "September", "August", "July", "June", "May"]
    links = choices(changelist(model), "creation time")
    assert past(changelist(model)) == [f"{month} 2013" for month in months] + ["2013"]
    for title, expected in (("May 2013", ["5"]), ("2013", 8), ("December 2013", ["12"])):
        found = names(changelist(model, links[title]["query_string"]))
        assert expected in (found, len(found))
        again = choices(changelist(model, links[title]["query_string"]), "creation time")
        assert [name for name, choice in again.items() if choice["selected"]] == [title]


def test_only_the_last_of_many_years():
    for year in (2004, 2019, 2021, 2023, 2024, 2026):
        ULIDProduct.objects.create(id=made_at(ULIDProduct, at(year, 3)))
    assert past(changelist(ULIDProduct)) == ["March 2026", "2024", "2023", "2021"]


def test_months_of_two_years_and_a_gap():
    for year, month in ((2026, 7), (2026, 6), (2025, 12), (2025, 7), (2025, 6)):
        ULIDProduct.objects.create(id=made_at(ULIDProduct, at(year, month)))
    # July 2025 is within twelve months, June 2025 is not.
    months = ["June 2026", "December 2025", "July 2025"]
    assert past(changelist(ULIDProduct)) == [*months, "2025"]


def test_a_month_begins_at_its_local_midnight(settings):
    settings.TIME_ZONE = "America/New_York"
    start = datetime(2026, 5, 1, 4, tzinfo=UTC)
    for moment, title in ((start, "May 2026"), (start - timedelta(seconds=1), "April 2026")):
        ULIDProduct.objects.all().delete()
        ULIDProduct.objects.create(id=made_at(ULIDProduct, moment))
        assert past(changelist(ULIDProduct)) == [title]


def test_no_rows_have_no_past():
    assert past(changelist(ULIDProduct)) == []
    ULIDProduct.objects.create()
    ULIDProduct.objects.create(id="7" + "Z" * 25)
    assert past(changelist(ULIDProduct)) == []


def test_rows_of_others_have_no_choice():
    order = order_at(at(2013, 5))
    Order.objects.filter(pk=order.pk).update(tenant="theirs")
    user = User.objects.create(username="mine", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename="view_order"))
    assert past(changelist(Order, user=user)) == []
    assert past(changelist(Order)) == ["May 2013", "2013"]
    Order.objects.filter(pk=order.pk).update(tenant="mine")
    assert past(changelist(Order, user=user)) == ["May 2013", "2013"]
    for year, month in ((2012, 5), (2013, 4), (2013, 6), (2015, 1), (2026, 6)):
        order = order_at(at(year, month))
        Order.objects.filter(pk=order.pk).update(tenant="theirs")
    assert past(changelist(Order, user=user)) == ["May 2013", "2013"]


def test_they_are_those_of_a_relation():
    for year in (2013, 2015):
        product = ULIDProduct.objects.create(id=made_at(ULIDProduct, at(year, 5)))
        if year == 2013:
            Basket.objects.create(name="basket", ulid=product).all_ulid.set([product])
    found = changelist(Basket)
    assert past(found, "creation time of ulid product") == ["May 2013", "2013"]
    # A many-to-many relation has no such index.
    assert past(found, "creation time of all ulid") == []


def test_they_take_three_statements_that_read_single_rows():
    for year in (2013, 2025, 2026):
        ULIDProduct.objects.create(id=made_at(ULIDProduct, at(year, 5)))
    found = changelist(ULIDProduct)
    with CaptureQueriesContext(connection) as captured:
        assert past(found) == ["May 2026", "2025"]
    assert len(captured) == 3
    for each in captured:
        assert "LIMIT 1" in each["sql"]
        assert "COUNT" not in each["sql"]


def test_a_project_chooses_how_many(monkeypatch):
    for year in (2024, 2025):
        ULIDProduct.objects.create(id=made_at(ULIDProduct, at(year, 5)))
    monkeypatch.setattr(CreatedAtFilter, "past_months", 0)
    assert past(changelist(ULIDProduct)) == ["2025", "2024"]
    monkeypatch.setattr(CreatedAtFilter, "past_years", 0)
    found = changelist(ULIDProduct)
    with CaptureQueriesContext(connection) as captured:
        assert past(found) == []
    assert not len(captured)


def test_a_count_beside_each_choice():
    for month in (4, 5, 5):
        ULIDProduct.objects.create(id=made_at(ULIDProduct, at(2013, month)))
    links = choices(changelist(ULIDProduct, "?_facets=True"), "creation time")
    assert {"April 2013 (1)", "May 2013 (2)", "2013 (3)", "Today (0)"} <= set(links)
