"""From a public text to the model, the field and the value."""

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.test.utils import isolate_apps

from django_sortable_ids import ids
from django_sortable_ids.fields import KUUIDField, PushIDField, ULIDField
from django_sortable_ids.ids import public_id, resolve
from tests.testapp.models import MaskedKey, Named, Order

EXAMPLE = "01KDVDNA00PVDPVDPVDPVDPVDM"
PUSH_ID = "-JhLeOlGIEjaIOFHR_xd"
LONGEST = "x" * 63
KUUID = "001vb66i3LcJi2418mS320ZOE13LcJi0"


@pytest.fixture
def shop(monkeypatch):
    """Models whose prefixes are like each other's."""
    with isolate_apps("tests.testapp") as isolated:

        class Sale(Named):
            ulid = ULIDField(prefix="ord")
            kuuid = KUUIDField(prefix="order", separator=":", previous_prefixes=["sale"])

        class SpecialSale(Sale):
            class Meta:
                app_label = "testapp"

        class Post(Named):
            public = ULIDField(prefix="a")

        class Draft(Named):
            public = PushIDField(prefix="a_b")
            long = ULIDField(prefix=LONGEST)

        class Sheet(Named):
            public = PushIDField(prefix="page")
            front = ULIDField(prefix="page")
            back = ULIDField(prefix="page")

        monkeypatch.setattr(ids, "apps", isolated)
        yield {model.__name__: model for model in (Sale, SpecialSale, Post, Draft, Sheet)}


@pytest.mark.django_db
def test_from_the_text_to_the_row(settings):
    settings.SORTABLE_IDS = {"MASK_KEYS": ["0123456789abcdeffedcba9876543210"]}
    order, masked = Order.objects.create(), MaskedKey.objects.create()
    for row, name in ((order, "kuuid"), (masked, "id")):
        found = resolve(public_id(row, name))
        assert found == (type(row), row._meta.get_field(name), getattr(row, name))
        assert found.fetch() == found.fetch("default") == row
    with pytest.raises(Order.DoesNotExist):
        resolve(f"order:{KUUID}").fetch()


def test_the_field_and_the_value(shop):
    sale = shop["Sale"]
    for text, name, value in (
        (f"ord_{EXAMPLE}", "ulid", EXAMPLE),
        (f"ord_{EXAMPLE.lower()}", "ulid", EXAMPLE),
        (f"order:{KUUID}", "kuuid", KUUID),
    ):
        assert resolve(text) == (sale, sale._meta.get_field(name), value)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        *((text, "") for text in ("usr_x", f"or_{EXAMPLE}", EXAMPLE, "", "_", "ord:x")),
        ("order_x", "; nearest: order:"),
        (f"ORD_{EXAMPLE}", "; nearest: ord_"),
    ],
)
def test_unknown_prefixes(shop, text, nearest):
    with pytest.raises(LookupError) as refused:
        resolve(text)
    assert str(refused.value) == (
        f"{text!r} has no known prefix; expected one of a_, a_b_, ord_, order:, page_, sale:, "
        f"{LONGEST}_{nearest}"
    )


@pytest.mark.parametrize("value", [None, 5, b"ord_", ["ord_"], "x" * 10**6, "_" * 10**6])
def test_what_is_no_public_text_at_all(shop, value):
    with pytest.raises(LookupError) as refused:
        resolve(value)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize("text", ["ord_", "ord_x", f"ord_{EXAMPLE} ", f"ord_ord_{EXAMPLE}"])
def test_malformed_ids(shop, text):
    with pytest.raises(
        ValidationError, match=r"is not a valid ULID\. Expected a text such as ord_"
    ):
        resolve(text)


def test_prefixes_that_are_like_each_other(shop):
    assert resolve(f"a_{EXAMPLE}").model is shop["Post"]
    assert resolve(f"a_b_{PUSH_ID}").model is shop["Draft"]
    assert resolve(f"page_{PUSH_ID}").field.name == "public"
    assert resolve(f"{LONGEST}_{EXAMPLE}").field.name == "long"


def test_a_previous_prefix(shop):
    assert (
        resolve(f"sale:{KUUID}")
        == resolve(f"order:{KUUID}")
        == (shop["Sale"], shop["Sale"]._meta.get_field("kuuid"), KUUID)
    )


def test_a_prefix_of_two_fields(shop):
    with pytest.raises(LookupError) as refused:
        resolve(f"page_{EXAMPLE}")
    assert str(refused.value) == (
        f"'page_{EXAMPLE}' is an id of testapp.Sheet.front and of testapp.Sheet.back: give each "
        f"another prefix"
    )


def test_the_models_are_looked_through_once():
    resolve(f"order:{KUUID}")
    known = ids._known
    resolve(f"order:{KUUID}")
    assert ids._known is known
    apps.clear_cache()
    resolve(f"order:{KUUID}")
    assert ids._known is not known
