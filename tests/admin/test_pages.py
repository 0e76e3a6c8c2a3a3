"""The pages of a row: opened, added, changed and deleted, whatever the scheme of its key."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib import admin
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.staticfiles import finders
from django.test import RequestFactory
from django.test.utils import isolate_apps

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
    Voucher,
    id_column,
)
from tests.testapp.models import MaskedKey

from .support import (
    add_url,
    each_kind,
    list_url,
    logged_in,
    order_at,
    page_of,
    page_url,
    staff,
)

pytestmark = pytest.mark.django_db


def form_fields(page, form_id):
    """The names and values of the form, as a browser would send them untouched."""
    form = page.root.find("form", id=form_id)
    given = {
        field["name"]: field.attributes.get("value", "")
        for field in form.find_all("input")
        if field.attributes.get("type") not in ("submit", "checkbox", "button")
        and "name" in field.attributes
    }
    for select in form.find_all("select"):
        chosen = [
            option["value"]
            for option in select.find_all("option")
            if "selected" in option.attributes
        ]
        given[select["name"]] = chosen if "multiple" in select.attributes else (chosen or [""])[0]
    return given


@each_kind
def test_a_row_is_opened_by_its_link_in_the_list_and_by_its_public_text(browser, scheme):
    row = PRODUCTS[scheme].objects.create(name="row")
    page = page_of(browser, list_url(PRODUCTS[scheme]))
    link = page.root.find("th", class_="field-id").find("a")
    assert link["href"] == page_url(PRODUCTS[scheme], row.pk)
    for url in (link["href"], page_url(PRODUCTS[scheme], public_id(row))):
        assert page_of(browser, url).root.find("input", name="name")["value"] == "row"


@each_kind
def test_a_row_is_added_without_asking_for_its_id(browser, scheme):
    model = PRODUCTS[scheme]
    given = form_fields(page_of(browser, add_url(model)), f"{model._meta.model_name}_form")
    assert not {"id", "pk"} & set(given)
    changes = {"name": "new", "id": "x", "baskets-0-name": "inside"}
    answer = browser.post(add_url(model), given | changes)
    assert (answer.status_code, answer.url) == (302, list_url(model))
    (row,) = model.objects.all()
    assert [basket.name for basket in row.baskets.all()] == ["inside"]
    (entry,) = LogEntry.objects.all()
    assert (entry.action_flag, entry.object_id) == (ADDITION, str(row.pk))
    assert entry.get_edited_object() == row


@each_kind
def test_a_row_and_the_rows_inside_of_it_are_changed(browser, scheme):
    model = PRODUCTS[scheme]
    row, other = model.objects.create(name="row"), model.objects.create(name="other")
    first = Basket.objects.create(name="first", **{scheme: row})
    second = Basket.objects.create(name="second", **{scheme: row})
    given = form_fields(page_of(browser, page_url(model, row.pk)), f"{model._meta.model_name}_form")
    assert {given["baskets-0-id"], given["baskets-1-id"]} == {str(first.pk), str(second.pk)}
    number = 0 if given["baskets-0-id"] == str(first.pk) else 1
    answer = browser.post(
        page_url(model, row.pk),
        given
        | {"name": "changed", f"baskets-{number}-name": "renamed", "baskets-2-name": "third"}
        | {f"baskets-{1 - number}-DELETE": "on"},
    )
    assert (answer.status_code, answer.url) == (302, list_url(model))
    assert dict(model.objects.values_list("pk", "name")) == {row.pk: "changed", other.pk: "other"}
    assert sorted(basket.name for basket in row.baskets.all()) == ["renamed", "third"]
    assert Basket.objects.get(name="renamed") == first
    assert LogEntry.objects.get().action_flag == CHANGE


@each_kind
def test_keys_of_inner_rows_that_were_tampered_with_are_refused(browser, scheme):
    model = PRODUCTS[scheme]
    row, other = model.objects.create(name="row"), model.objects.create(name="other")
    Basket.objects.create(name="inside", **{scheme: row})
    foreign = Basket.objects.create(name="foreign", **{scheme: other})
    given = form_fields(page_of(browser, page_url(model, row.pk)), f"{model._meta.model_name}_form")
    changes = [{"baskets-0-id": key} for key in ("x", "", "\x00")]
    changes += [{f"baskets-0-{scheme}": key} for key in ("x", str(other.pk))]
    for change in changes:
        answer = browser.post(page_url(model, row.pk), given | change | {"baskets-0-name": "bad"})
        assert answer.status_code == 200, change
        assert b"errornote" in answer.content
    assert sorted(Basket.objects.values_list("name", flat=True)) == ["foreign", "inside"]
    browser.post(page_url(model, row.pk), given | {"baskets-0-id": foreign.pk, "name": "x"})
    foreign.refresh_from_db()
    assert (foreign.name, getattr(foreign, scheme)) == ("foreign", other)


def test_relations_are_chosen_in_every_kind_of_field(browser):
    """Half of the foreign keys are raw ids, the others are looked up by typing."""
    targets = {name: model.objects.create(name=name) for name, model in PRODUCTS.items()}
    given = form_fields(page_of(browser, add_url(Basket)), "basket_form")
    assert set(targets) <= set(given)
    assert "id" not in given
    given |= {name: str(target.pk) for name, target in targets.items()}
    given |= {"name": "new", "all_ulid": str(targets["ulid"].pk)}
    given |= {"all_snowflake": [str(targets["snowflake"].pk)]}
    answer = browser.post(add_url(Basket), given)
    assert (answer.status_code, answer.url) == (302, list_url(Basket))
    basket = Basket.objects.get()
    assert {name: getattr(basket, name) for name in targets} == targets
    assert list(basket.all_ulid.all()) == [targets["ulid"]]
    assert list(basket.all_snowflake.all()) == [targets["snowflake"]]
    opened = page_of(browser, page_url(Basket, basket.pk))
    shown = form_fields(opened, "basket_form")
    assert {name: shown[name] for name in targets} == {
        name: str(target.pk) for name, target in targets.items()
    }
    assert shown["all_ulid"] == str(targets["ulid"].pk)
    for name, target in targets.items():
        cell = opened.root.find("div", class_=f"field-{name}")
        assert target.name in cell.text


def test_wrong_ids_in_a_form_are_refused(browser):
    given = form_fields(page_of(browser, add_url(Basket)), "basket_form") | {"name": "new"}
    rows = [model.objects.create() for model in PRODUCTS.values()]
    gone = {name: str(row.pk) for name, row in zip(PRODUCTS, rows, strict=True)}
    for row in rows:
        row.delete()
    changes = [gone, dict.fromkeys(PRODUCTS, "<script>alert(1)")]
    changes += [{"all_ulid": text} for text in ("x", "x,y", ",", "9" * 30)]
    changes += [{"all_snowflake": [text]} for text in ("x", "\x00", "9" * 30)]
    for change in changes:
        answer = browser.post(add_url(Basket), given | change)
        assert answer.status_code == 200, change
        assert set(answer.context["adminform"].form.errors) == set(change)
        assert b"<script>alert" not in answer.content
    assert not Basket.objects.exists()


# The pages of a row by the public text of an id that is not its key.


@each_kind
def test_a_public_text_redirects_to_the_page_with_the_key(browser, scheme):
    order, _ = Order.objects.create(name="first"), Order.objects.create(name="second")
    for text in (public_id(order, scheme), str(getattr(order, scheme))):
        for page in ("change", "delete", "history"):
            answer = browser.get(page_url(Order, text, page), {"_popup": "1"})
            assert answer.url == f"{page_url(Order, order.pk, page)}?_popup=1", text
            assert browser.get(answer.url).status_code == 200


def test_a_key_comes_before_an_id_of_the_same_digits(browser):
    other = Order.objects.create(name="other", pk=1_000_000_000_000_000_000)
    Order.objects.create(name="first", snowflake=other.pk)
    page = browser.get(page_url(Order, other.pk))
    assert page.context["original"].name == "other"
    other.delete()
    answer = browser.get(page_url(Order, 1_000_000_000_000_000_000))
    assert browser.get(answer.url).context["original"].name == "first"


@each_kind
def test_what_a_user_may_not_see_does_not_exist(scheme):
    mine, theirs = (
        Order.objects.create(pk=pk, name=name, tenant=name)
        for pk, name in ((8_000, "mine"), (9_000, "theirs"))
    )
    url = page_url(Order, public_id(mine, scheme))
    assert logged_in(staff(name="nobody")).get(url).status_code == 403
    client = logged_in(staff("view_order", name="mine"))
    answer = client.get(url)
    assert answer.url == page_url(Order, mine.pk)
    assert client.get(page_url(Order, public_id(theirs, scheme))).url == "/admin/"


# Columns of public texts and of several times, and what a row's page shows by itself


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
    without_times = Right(PRODUCTS["sequence"], site).check()
    assert "id_created_at" in str(without_times)
    assert "'public_id'" not in str(without_times)


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


def test_a_mask_hides_the_time_in_the_list():
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


@in_one_case("scheme", ["ulid", "uuid7", "kuuid"])
def test_it_is_empty_past_the_year_9999(browser, scheme):
    of = id_column(PRODUCTS[scheme]).scheme
    last = of.from_int(of.layout.join(of.layout.last_tick, 0))
    row = PRODUCTS[scheme].objects.create(id=last)
    assert cells(page_of(browser, list_url(PRODUCTS[scheme]))) == ["-"]
    assert browser.get(page_url(PRODUCTS[scheme], row.pk)).status_code == 200


def test_it_is_that_of_the_first_id_with_a_time():
    for model, column in ((Order, "uuid7"), (Basket, "id"), (Voucher, "id"), (Review, "import_id")):
        model_admin = admin.site.get_model_admin(model)
        assert model_admin.id_created_at.admin_order_field == column
    reversed_admin = admin.site.get_model_admin(PRODUCTS["kuuid"])
    assert reversed_admin.id_created_at.admin_order_field == "-id"
