"""The column of creation times: what it shows, and that it sorts by time."""

import uuid
from datetime import UTC, datetime

import pytest
from django.contrib import admin
from django.db import connection
from django.utils import formats, timezone

from django_sortable_ids.admin import SortableIDAdmin
from tests.store.models import (
    PRODUCTS,
    Basket,
    Order,
    Review,
    UUIDv7Product,
    Voucher,
    id_column,
)

from .support import (
    each_timed_scheme,
    list_url,
    made_at,
    order_at,
    page_of,
    page_url,
)

pytestmark = pytest.mark.django_db

MOMENT = datetime(2026, 1, 31, 23, 30, 15, tzinfo=UTC)


def cells(page):
    """What the rows show in the column, in their order."""
    return [cell.text for cell in page.root.find_all("td", class_="field-id_created_at")]


@each_timed_scheme
def test_it_shows_the_time_in_the_time_zone_of_the_site(browser, scheme):
    model = PRODUCTS[scheme]
    model.objects.create(id=made_at(model, MOMENT))
    (shown,) = cells(page_of(browser, list_url(model)))
    assert shown == formats.localize(timezone.localtime(MOMENT)) == "Jan. 31, 2026, 6:30 p.m."


def test_it_shows_local_time_without_time_zones(browser, superuser, at_time):
    UUIDv7Product.objects.create(id=made_at(UUIDv7Product, MOMENT))
    at_time("Asia/Kathmandu", "2026-07-06T12:00", use_tz=False)
    browser.force_login(superuser)
    assert cells(page_of(browser, list_url(UUIDv7Product))) == ["Feb. 1, 2026, 5:15 a.m."]


def test_it_is_written_in_the_language_of_the_site(browser, settings):
    UUIDv7Product.objects.create(id=made_at(UUIDv7Product, MOMENT))
    settings.LANGUAGE_CODE = "de"
    assert cells(page_of(browser, list_url(UUIDv7Product))) == ["31. Januar 2026 18:30"]


def test_it_is_empty_where_there_is_no_id(browser):
    order_at(None)
    order_at(MOMENT)
    shown = cells(page_of(browser, list_url(Order, o="1")))
    assert sorted(shown) == ["-", "Jan. 31, 2026, 6:30 p.m."]


@pytest.mark.parametrize("scheme", ["ulid", "hexulid", "uuid7", "kuuid"])
def test_it_is_empty_past_the_year_9999(browser, scheme):
    field = id_column(PRODUCTS[scheme])
    last = field.scheme.from_int(field.scheme.whole_range[1])
    row = PRODUCTS[scheme].objects.create(id=last)
    assert cells(page_of(browser, list_url(PRODUCTS[scheme]))) == ["-"]
    assert browser.get(page_url(PRODUCTS[scheme], row.pk)).status_code == 200


def test_it_is_empty_for_an_adopted_id_of_another_version(browser):
    row = UUIDv7Product.objects.create()
    other = uuid.UUID("0176a7c0-2f27-4d4e-8d5b-0a4c3f1d2e90")
    stored = other if connection.features.has_native_uuid_field else other.hex
    with connection.cursor() as cursor:
        cursor.execute("UPDATE store_uuidv7product SET id = %s", [stored])
    assert cells(page_of(browser, list_url(UUIDv7Product))) == ["-"]
    assert row.pk != other


def test_it_is_that_of_the_first_id_with_a_time():
    for model, column in ((Order, "uuid7"), (Basket, "id"), (Voucher, "id"), (Review, "import_id")):
        model_admin = admin.site.get_model_admin(model)
        assert model_admin.id_created_at.admin_order_field == column
    reversed_admin = admin.site.get_model_admin(PRODUCTS["reversed_kuuid"])
    assert reversed_admin.id_created_at.admin_order_field == "-id"


def test_a_model_without_such_an_id_has_none():
    class NoColumnAdmin(SortableIDAdmin):
        list_display = ["id_created_at"]

    own = NoColumnAdmin(PRODUCTS["sequence"], admin.AdminSite())
    assert [error.id for error in own.check()] == ["admin.E108"]
