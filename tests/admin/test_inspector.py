"""The inspector: a page below every site that shows sortable ids."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.urls import path, resolve, reverse
from django.utils.module_loading import import_string

from django_sortable_ids.admin import SortableIDAdmin, inspect_id_view
from django_sortable_ids.ids import public_id
from django_sortable_ids.models import WorkerLease
from django_sortable_ids.schemes import get
from tests.combinations import in_one_case
from tests.store.models import PRODUCTS, Basket, Order, ULIDProduct, UUIDv7Product
from tests.testapp.models import MaskedKey

from .page import Element, Page
from .support import each_kind, logged_in, page_url, staff

pytestmark = pytest.mark.django_db

AT = datetime(2026, 1, 1, 10, 30, tzinfo=UTC)
second = admin.AdminSite("second")
second.register(Basket, SortableIDAdmin)
second.register(MaskedKey, SortableIDAdmin)
second.register(WorkerLease)
bare = admin.AdminSite("bare")
bare.register(WorkerLease)
urlpatterns = [
    path("second/inspect-id/", inspect_id_view(second), name="own_place"),
    path("second/", second.urls),
    path("bare/", bare.urls),
    path("admin/", admin.site.urls),
]
own_urls = override_settings(ROOT_URLCONF=__name__)


@pytest.fixture(autouse=True)
def today():
    with time_machine.travel("2026-11-20T12:00Z", tick=False):
        yield


def url(text: str = "", **others: str) -> str:
    return reverse("admin:inspect_id", query={"q": text, **others})


def look(client: Client, text: str, at: str | None = None, **others: str) -> Element:
    answer = client.get(at or url(text, **others), {"q": text, **others} if at else None)
    assert answer.status_code == 200
    return Page(answer.content.decode()).root.find("div", id="content-main")


@pytest.mark.parametrize("use_tz", [True, False])
def test_an_id_taken_apart(browser: Client, settings: Any, use_tz: bool) -> None:
    settings.USE_TZ = use_tz
    value = get("ulid").lower_bound(AT)
    page = look(browser, value)
    assert page.find("h2").text == value
    assert page.find("h3").text == "ULID"
    facts = next(page.find_all("dl", class_="sortable-ids-facts")).text
    assert "Jan. 1, 2026, 5:30 a.m." in facts
    assert "America/New_York" in facts
    assert "2026-01-01T10:30:00.000Z" in facts
    table = page.find("table", class_="sortable-ids-parts")
    names = [cell.text for cell in table.find_all("th", scope="row")]
    cells = [cell.text for cell in table.find_all("td")]
    assert names == ["1 time", "2 random"]
    assert cells == ["0-47", "48", "1767263400000", "48-127", "80", "0"]
    number = str(get("discord").lower_bound(AT))
    assert next(look(browser, number, scheme="discord").find_all("h3")).text == "Discord snowflake"
    heads = [
        [cell.text for cell in shown.find("table", class_="sortable-ids-parts").find_all("th")][:4]
        for shown in (page, look(browser, get("cuid").generate(), scheme="cuid"))
    ]
    assert heads == [["Part", "Bits", "Width", "Value"], ["Part", "Digits", "Width", "Value"]]


def test_the_picture_has_every_bit_and_words_for_it(browser: Client) -> None:
    page = look(browser, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
    picture = page.find("svg", role="img")
    assert picture["aria-label"] == ("128 bits: time 48, version 4, random 74, variant 2")
    digits = [text.text for text in picture.find_all("text", class_="sortable-ids-digit")]
    assert int("".join(digits), 2) == 0x017F22E279B07CC398C4DC0C0C07398F
    assert len(digits) == 128
    labels = [text.text for text in picture.find_all("text", class_="sortable-ids-label")]
    assert labels[:4] == ["1 time", "1 time", "1 time", "2 version"]
    kinds = {box["class"] for box in picture.find_all("rect")}
    assert kinds == {f"sortable-ids-{name}" for name in ("time", "version", "random", "variant")}


def test_an_empty_form_and_a_malformed_text(browser: Client) -> None:
    page = look(browser, "")
    assert not list(page.find_all("section"))
    assert page.find("input", name="q")["value"] == ""
    assert page.find("label", for_="id_q").text
    page = look(browser, "01ARZ3NDEKTSV4RRFFQ69G5FAU")
    assert page.find("p", role="alert").text == "This is not an id of any known scheme."


@each_kind
def test_the_row_with_the_id(browser: Client, scheme: str) -> None:
    row = PRODUCTS[scheme].objects.create(name="the row")
    PRODUCTS[scheme].objects.create(name="another row")
    for text in (public_id(row), str(row.pk), f"https://example.com/x/{public_id(row)}/?a=b"):
        page = look(browser, str(text))
        links = [link for link in page.find_all("a") if link.text == "the row"]
        assert [link["href"] for link in links] == [page_url(PRODUCTS[scheme], row.pk)]
        assert "another row" not in page.text


def test_only_staff(browser: Client) -> None:
    for each in (logged_in(User.objects.create(username="customer")), Client()):
        answer = each.get(url("x"))
        assert answer.status_code == 302
        assert answer["Location"].startswith("/admin/login/")


def test_a_model_that_may_not_be_viewed_is_not_named() -> None:
    row = ULIDProduct.objects.create(name="secret")
    text = str(public_id(row))
    page = look(logged_in(staff()), text)
    assert "secret" not in page.text
    assert "ULIDProduct" not in page.text
    assert page.find("h3").text == "ULID"
    malformed = "prod_01ARZ3NDEKTSV4RRFFQ69G5F"
    assert "ULIDProduct" not in look(logged_in(staff(name="other")), malformed).text


def test_only_rows_of_the_users_queryset() -> None:
    value = get("uuid7").generate(AT)
    Order.objects.create(name="of another tenant", uuid7=value, tenant="other")
    client = logged_in(staff("view_order"))
    assert "of another tenant" not in look(client, str(value)).text
    Order.objects.update(tenant="staff")
    assert "of another tenant" in look(client, str(value)).text


def test_a_row_that_may_not_be_viewed_by_itself(browser: Client, monkeypatch: Any) -> None:
    row = UUIDv7Product.objects.create(name="hidden")
    model_admin = admin.site.get_model_admin(UUIDv7Product)
    usual = type(model_admin).has_view_permission
    monkeypatch.setattr(
        type(model_admin),
        "has_view_or_change_permission",
        lambda self, request, obj=None: obj is None and usual(self, request),
    )
    assert "hidden" not in look(browser, str(row.pk)).text


@own_urls
def test_a_masked_text_is_read_by_its_model_alone(browser: Client) -> None:
    row = MaskedKey.objects.create()
    text, at = str(public_id(row)), "/second/inspect-id/"
    page = look(browser, text, at)
    assert str(row.pk) in page.text
    assert "This is a masked text of testapp.MaskedKey.id" in page.text
    assert page.find("h3", class_="sortable-ids-scheme").text == "UUIDv7"
    user = logged_in(staff("view_basket"))
    page = look(user, text, at)
    assert str(row.pk) not in page.text
    assert "MaskedKey" not in page.text
    assert "A UUID of version 4 has no time." in page.text


@own_urls
def test_a_masked_text_without_a_row_that_the_user_sees_stays_masked(browser: Client) -> None:
    row = MaskedKey.objects.create()
    text, value = str(public_id(row)), str(row.pk)
    row.delete()
    page = look(browser, text, "/second/inspect-id/")
    assert "This is a masked text of testapp.MaskedKey.id" in page.text
    assert "No row has this id" in page.text
    assert value not in page.text
    assert not list(page.find_all("svg"))


@own_urls
def test_every_site_with_sortable_ids_has_the_page(browser: Client) -> None:
    assert reverse("second:inspect_id") == "/second/testapp/maskedkey/inspect-id/"
    assert reverse("admin:inspect_id").startswith("/admin/")
    basket = Basket.objects.create(name="a basket")
    page = look(browser, str(basket.pk), "/second/inspect-id/")
    assert [a["href"] for a in page.find_all("a") if a.text == "a basket"] == [
        f"/second/store/basket/{basket.pk}/change/"
    ]
    product = UUIDv7Product.objects.create(name="a product")
    assert "a product" not in look(browser, str(product.pk), "/second/inspect-id/").text


def test_admindocs_finds_the_view_by_its_name() -> None:
    view = resolve(reverse("admin:inspect_id")).func
    assert callable(import_string(f"{view.__module__}.{view.__name__}"))


@own_urls
def test_the_page_of_the_apps_own_models_leads_to_it(browser: Client) -> None:
    page = Page(browser.get("/second/django_sortable_ids/").content.decode())
    links = page.root.find("div", id="content").find_all("a")
    assert "/second/testapp/maskedkey/inspect-id/" in [link["href"] for link in links]
    assert browser.get("/bare/django_sortable_ids/").status_code == 200


@own_urls
def test_the_page_of_a_row_leads_to_it(browser: Client) -> None:
    row = MaskedKey.objects.create()
    page = Page(browser.get(f"/second/testapp/maskedkey/{row.pk}/change/").content.decode())
    (link,) = (
        each["href"]
        for each in page.root.find("ul", class_="object-tools").find_all("a")
        if each.text == "Inspect an id"
    )
    assert link == f"/second/testapp/maskedkey/inspect-id/?q={public_id(row)}"
    assert str(row.pk) in look(browser, str(public_id(row)), "/second/inspect-id/").text
    page = Page(browser.get("/second/testapp/maskedkey/add/").content.decode())
    assert "Inspect an id" not in page.root.find("div", id="content").text


@in_one_case(
    "text",
    [
        "<script>alert(1)</script>",
        "\"'><img src=x onerror=alert(1)>",
        "01ARZ3NDEKTSV4RRFFQ69G5FAV\u202e<b>",
        "\x00",
        "\ufffd",
        "a" * 100_000,
        "{{ 1 }}{% debug %}",
    ],
)
def test_what_attackers_paste(browser: Client, text: str) -> None:
    answer = browser.get(url(text))
    assert answer.status_code == 200
    content = answer.content.decode()
    assert "<script>alert" not in content
    assert "<img src=x" not in content
    assert "\u202e" not in content
    assert "\x00" not in content
    assert len(content) < 60_000
    Page(content)


def test_nothing_that_a_strict_policy_forbids(browser: Client) -> None:
    answer = browser.get(url("017f22e2-79b0-7cc3-98c4-dc0c0c07398f"))
    main = answer.content.decode().partition('id="content-main"')[2]
    assert not re.search(r"<script|<style|\sstyle=|\son\w+=|javascript:", main)
    assert "no-store" in answer["Cache-Control"]
