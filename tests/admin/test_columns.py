"""Columns of public texts and of several times, and what a row's page shows by itself."""

import re
import uuid
from datetime import UTC, datetime

import pytest
from django.contrib import admin
from django.contrib.staticfiles import finders
from django.db import connection
from django.test import RequestFactory
from django.test.utils import isolate_apps
from django.utils import formats, timezone

from django_sortable_ids.admin import SortableIDAdmin
from django_sortable_ids.fields import ULIDField
from django_sortable_ids.ids import public_id
from tests.combinations import in_one_case
from tests.store.admin import TIMED
from tests.store.models import (
    PRODUCTS,
    Basket,
    Named,
    Order,
    Review,
    ULIDProduct,
    UUIDv7Product,
    Voucher,
    id_column,
)
from tests.testapp.models import MaskedKey

from .support import (
    add_url,
    each_kind,
    each_timed_kind,
    list_url,
    made_at,
    order_at,
    page_of,
    page_url,
)

pytestmark = pytest.mark.django_db

MOMENT = datetime(2026, 1, 31, 23, 30, 15, tzinfo=UTC)
SHOWN = "Jan. 31, 2026, 6:30 p.m."


def texts(page):
    return [text.text for text in page.root.find_all("span", class_="sortable-ids-text")]


def read_only(page):
    """What the row's page shows without an input, by label."""
    found = {}
    for row in page.root.find_all("div", class_="form-row"):
        shown = list(row.find_all("div", class_="readonly"))
        for label, value in zip(row.find_all("label"), shown, strict=False):
            found[label.text.rstrip(":")] = value.text
    return found


@each_kind
def test_the_public_text_in_the_list(browser, admin_with, scheme):
    model = PRODUCTS[scheme]
    admin_with(model, list_display=["name", "public_id"])
    rows = [model.objects.create(name=str(number)) for number in range(3)]
    shown = texts(page_of(browser, list_url(model, o="2")))
    ordered = sorted(rows, key=lambda row: model._meta.pk.scheme.to_int(row.pk))
    assert shown == [public_id(row) for row in ordered]
    assert texts(page_of(browser, list_url(model, o="-2"))) == shown[::-1]


def test_each_of_several_ids_has_its_columns(browser, admin_with):
    shown = [f"{scheme}_public_text" for scheme in PRODUCTS]
    times = [f"{scheme}_created_at" for scheme in TIMED]
    admin_with(Order, list_display=["name", *shown, *times])
    order = order_at(MOMENT, "dated")
    order_at(None)
    page = page_of(browser, list_url(Order, q="", o="2"))
    for scheme in PRODUCTS:
        cells = [c.text for c in page.root.find_all("td", class_=f"field-{scheme}_public_text")]
        assert sorted(cells) == sorted([public_id(order, scheme), "-"]) or scheme == "sequence"
        header = page.root.find("th", class_=f"column-{scheme}_public_text")
        assert header.text == f"Public {scheme.replace('_', ' ')}"
    for scheme in TIMED:
        cells = [c.text for c in page.root.find_all("td", class_=f"field-{scheme}_created_at")]
        assert sorted(cells) == ["-", SHOWN]
        header = page.root.find("th", class_=f"column-{scheme}_created_at")
        assert header.text == f"{scheme.replace('_', ' ').capitalize()} created at"


def test_djangos_own_checks_know_the_names():
    class Right(SortableIDAdmin):
        list_display = ["public_id", "id_created_at", "code_public_text", "code_created_at"]
        readonly_fields = ["public_id", "code_public_text", "code_created_at"]

    class Wrong(SortableIDAdmin):
        list_display = ["name_created_at", "missing_public_text"]
        readonly_fields = ["missing_created_at"]

    site = admin.AdminSite()
    assert Right(Voucher, site).check() == []
    assert [each.id for each in Wrong(Voucher, site).check()] == [
        *("admin.E035", "admin.E108", "admin.E108")
    ]


@pytest.fixture
def named_public_id():
    """An admin of a model with an integer key and a field ``public_id``; it has no table."""
    with isolate_apps("tests.store"):
        model = type(
            "Parcel",
            (Named,),
            {
                "__module__": __name__,
                "public_id": ULIDField(unique=True, prefix="par"),
                "Meta": type("Meta", (), {"app_label": "store"}),
            },
        )

        class Own(SortableIDAdmin):
            list_display = ["public_id", "name"]
            list_display_links = ["public_id"]
            sortable_by = ["public_id"]
            ordering = ["public_id"]

        yield Own(model, admin.AdminSite())


def test_a_field_named_public_id_is_shown_as_its_public_text(named_public_id):
    own = named_public_id
    assert own.check() == []
    request = RequestFactory().get("/")
    shown = own.get_list_display(request)
    links = own.get_list_display_links(request, shown)
    assert (shown[0], links, own.get_sortable_by(request)) == (links[0], links, links)
    row = own.model(public_id=own.model._meta.get_field("public_id").generate())
    assert f">par_{row.public_id}<" in getattr(own, shown[0])(row)
    column = getattr(own, shown[0])
    assert (str(column.short_description), column.admin_order_field) == ("public id", "public_id")
    assert own.get_readonly_fields(request, row) == ["public_id_public_text", "id_created_at"]


def test_a_mask_hides_the_time_in_the_list(settings):
    settings.SORTABLE_IDS = {"MASK_KEYS": ["f0debc9a785634121032547698badcfe"]}
    own = SortableIDAdmin(MaskedKey, admin.AdminSite())
    row = MaskedKey.objects.create()
    assert public_id(row) in own.public_id(row)
    assert str(row.pk) not in own.public_id(row)


@each_kind
def test_the_page_of_a_row_shows_its_id(browser, admin_with, scheme):
    model = PRODUCTS[scheme]
    admin_with(model, readonly_fields=[])
    row = model.objects.create(name="row")
    shown = read_only(page_of(browser, page_url(model, row.pk)))
    assert shown["Public id"] == public_id(row)
    assert shown.get("Id", public_id(row)) == str(row.pk)
    assert ("Id" in shown) == (str(row.pk) != public_id(row))
    assert ("Created at" in shown) == (scheme != "sequence")
    assert not read_only(page_of(browser, add_url(model)))


def test_the_page_of_a_row_beside_an_integer_key(browser):
    order = order_at(MOMENT)
    shown = read_only(page_of(browser, page_url(Order, order.pk)))
    assert shown == {"Public id": str(order.uuid7), "Created at": SHOWN}
    empty = order_at(None)
    shown = read_only(page_of(browser, page_url(Order, empty.pk)))
    assert shown == {"Public id": "-", "Created at": "-"}


def test_what_the_project_lays_out_stays(browser, admin_with):
    row = ULIDProduct.objects.create(name="row")
    for layout in ({"fields": ["name"]}, {"fieldsets": [(None, {"fields": ["name"]})]}):
        admin_with(ULIDProduct, fields=None, fieldsets=None, readonly_fields=[])
        admin_with(ULIDProduct, **layout)
        assert read_only(page_of(browser, page_url(ULIDProduct, row.pk))) == {}
    admin_with(
        ULIDProduct, fieldsets=None, fields=["id_created_at"], readonly_fields=["id_created_at"]
    )
    assert list(read_only(page_of(browser, page_url(ULIDProduct, row.pk)))) == ["Created at"]


def test_an_editable_id_stays_an_input(browser):
    row = Voucher.objects.create(name="row")
    page = page_of(browser, page_url(Voucher, row.pk))
    assert list(page.root.find_all("input", name="code"))
    assert list(read_only(page)) == ["Public id", "Created at"]


def test_a_strict_policy_allows_all_of_it(browser, admin_with):
    admin_with(ULIDProduct, list_display=["public_id", "name"])
    row = ULIDProduct.objects.create()
    for url in (list_url(ULIDProduct), page_url(ULIDProduct, row.pk)):
        content = browser.get(url).content.decode()
        (text,) = re.findall(r"<span [^>]*sortable-ids-text[^>]*>", content)
        assert not re.search(r"\s(?:style|on\w+)=", text)
        for name in ("django_sortable_ids/admin.css", "django_sortable_ids/copy.js"):
            assert name in content
    for name in ("admin.css", "copy.js"):
        assert finders.find(f"django_sortable_ids/{name}")


def cells(page):
    """What the rows show in the column, in their order."""
    return [cell.text for cell in page.root.find_all("td", class_="field-id_created_at")]


@each_timed_kind
def test_it_shows_the_time_in_the_time_zone_of_the_site(browser, scheme):
    model = PRODUCTS[scheme]
    model.objects.create(id=made_at(model, MOMENT))
    (shown,) = cells(page_of(browser, list_url(model)))
    assert shown == formats.localize(timezone.localtime(MOMENT)) == "Jan. 31, 2026, 6:30 p.m."


@in_one_case("scheme", ["ulid", "uuid7", "kuuid"])
def test_it_is_empty_past_the_year_9999(browser, scheme):
    of = id_column(PRODUCTS[scheme]).scheme
    last = of.from_int(of.layout.join(of.layout.last_tick, 0))
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
    reversed_admin = admin.site.get_model_admin(PRODUCTS["kuuid"])
    assert reversed_admin.id_created_at.admin_order_field == "-id"


def test_a_model_without_such_an_id_has_none():
    class NoColumnAdmin(SortableIDAdmin):
        list_display = ["id_created_at"]

    own = NoColumnAdmin(PRODUCTS["sequence"], admin.AdminSite())
    assert [error.id for error in own.check()] == ["admin.E108"]
