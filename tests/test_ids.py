"""What an instance's id says, and which id is meant."""

import uuid
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import FieldDoesNotExist
from django.db.models import Value
from django.db.models.expressions import DatabaseDefault
from django.test.utils import isolate_apps
from django.utils import timezone
from django.utils.functional import SimpleLazyObject

from django_sortable_ids import ids
from django_sortable_ids.fields import KUUIDField, PushIDField, ULIDField
from django_sortable_ids.fields.of_model import field_at, id_at, id_field
from django_sortable_ids.ids import created_at, public_id, resolve
from django_sortable_ids.schemes import NotTimeOrdered, OutOfRange
from tests.combinations import in_one_case
from tests.store.models import (
    PRODUCTS,
    Basket,
    Bundle,
    Order,
    Profile,
    Refund,
    Review,
    Stock,
    ULIDProduct,
    UUIDv7Product,
    Voucher,
)
from tests.testapp.models import MaskedKey, Named
from tests.testapp.models import Order as DatedOrder

MOMENT = datetime(2026, 1, 31, 23, 30, 15, tzinfo=UTC)
TIMED = [name for name in PRODUCTS if name != "sequence"]


def named(field):
    return f"{field.model.__name__}.{field.name}"


def test_the_id_of_a_model_is_its_key_or_its_first_unique_id_or_its_first_one():
    expected = {Basket: "id", Voucher: "id", Order: "uuid7", Review: "import_id", Stock: "label"}
    assert {model: id_field(model).name for model in expected} == expected
    assert named(id_field(Bundle)) == "ULIDProduct.id"


def test_an_id_is_chosen_by_its_name():
    assert id_field(Order, "kuuid") is Order._meta.get_field("kuuid")
    for model, name, message in (
        (Refund, None, "store.Refund has no sortable id"),
        (Order, "id", "store.Order has no sortable id named 'id'"),
        (Order, "missing", "store.Order has no sortable id named 'missing'"),
        (Profile, "product", "store.Profile has no sortable id named 'product'"),
    ):
        with pytest.raises(FieldDoesNotExist) as refused:
            id_field(model, name)
        assert str(refused.value) == message


@in_one_case(
    ("model", "path", "expected"),
    [
        (Basket, "id", "Basket.id"),
        (Basket, "pk", "Basket.id"),
        (Basket, "ulid", "ULIDProduct.id"),
        (Basket, "ulid_id", "ULIDProduct.id"),
        (Basket, "ulid__id", "ULIDProduct.id"),
        (Basket, "ulid__pk", "ULIDProduct.id"),
        (Basket, "all_snowflake", "SnowflakeProduct.id"),
        (Basket, "ulid__profile", "ULIDProduct.id"),
        (ULIDProduct, "baskets", "Basket.id"),
        (ULIDProduct, "baskets__uuid7", "UUIDv7Product.id"),
        (Refund, "ulid", "Order.ulid"),
        (Refund, "ulid__kuuid", "Order.kuuid"),
        (Profile, "pk", "ULIDProduct.id"),
        (Review, "profile", "ULIDProduct.id"),
        (Review, "profile__product__id", "ULIDProduct.id"),
        (Review, "bundle", "ULIDProduct.id"),
        (Review, "basket__ulid__name", None),
        (Basket, "name", None),
        (Basket, "name__x", None),
        (Basket, "missing", None),
        (Basket, "ulid__missing", None),
        (Basket, "id__created_at", None),
        (Basket, "", None),
        (Order, "pk", None),
        (Stock, "pk", None),
    ],
)
def test_the_id_that_a_path_leads_to(model, path, expected):
    found = id_at(model, path)
    assert (found and named(found)) == expected


def test_the_field_at_the_end_of_a_path_may_be_a_relation():
    assert field_at(Basket, "ulid") is Basket._meta.get_field("ulid")
    assert field_at(Basket, "ulid__name") is ULIDProduct._meta.get_field("name")
    assert field_at(Basket, "ulid__name__x") is None


@in_one_case("scheme", PRODUCTS)
def test_public_id(scheme):
    field = PRODUCTS[scheme]._meta.get_field("id")
    row = PRODUCTS[scheme](id=field.scheme.example)
    assert public_id(row) == public_id(row, "id") == field.public_text.format(field.scheme.example)
    assert public_id(Order()) is None
    assert public_id(Order(), scheme) is None
    assert public_id(Order(**{scheme: DatabaseDefault(Value(None))}), scheme) is None


def test_public_id_of_rows_that_have_several():
    ulid, kuuid = "01KDVDNA00PVDPVDPVDPVDPVDM", "001vb66i3LcJi2418mS320ZOE13LcJi0"
    order = Order(ulid=ulid, kuuid=kuuid, uuid7=uuid.UUID(int=0x19B76DAA8007B6DADB6DB6DB6DB6DB4))
    assert public_id(order) == str(order.uuid7)
    assert public_id(order, "ulid") == f"ord_{ulid}"
    assert public_id(order, "kuuid") == f"ord:{kuuid}"
    assert public_id(Bundle(id=ulid)) == f"prod_{ulid}"
    assert public_id(Stock(shelf=ulid, label=ulid)) == ulid
    assert public_id(Stock(shelf=ulid), "shelf") == f"shelf_{ulid}"


def test_a_row_whose_key_points_to_an_id_has_that_id():
    ulid = ULIDProduct._meta.pk.scheme.generate(MOMENT)
    profile = Profile(product_id=ulid)
    assert public_id(profile) == f"prod_{ulid}"
    assert created_at(profile) == MOMENT
    assert public_id(Profile()) is None
    assert created_at(Profile()) is None
    with pytest.raises(FieldDoesNotExist):
        public_id(profile, "product")
    with pytest.raises(FieldDoesNotExist):
        public_id(Refund())


@pytest.mark.parametrize("scheme", TIMED)
def test_created_at(scheme, settings):
    field = PRODUCTS[scheme]._meta.get_field("id")
    row = PRODUCTS[scheme](id=field.scheme.generate(MOMENT))
    shown = created_at(row)
    assert shown == MOMENT
    assert shown.tzinfo == ZoneInfo("America/New_York")
    with timezone.override("Asia/Kathmandu"):
        assert created_at(row).isoformat() == "2026-02-01T05:15:15+05:45"
    settings.USE_TZ = False
    with timezone.override("Asia/Kathmandu"):  # which then means nothing
        assert created_at(row) == datetime(2026, 1, 31, 18, 30, 15)  # noqa: DTZ001
    column = Order._meta.get_field(scheme)
    order = Order(**{scheme: column.scheme.generate(MOMENT)})
    assert created_at(order, scheme) == datetime(2026, 1, 31, 18, 30, 15)  # noqa: DTZ001


def test_created_at_where_there_is_no_time():
    assert created_at(Order(), "uuid7") is None
    assert created_at(PRODUCTS["sequence"]()) is None
    with pytest.raises(NotTimeOrdered, match="lexical sequence carries no creation time"):
        created_at(PRODUCTS["sequence"](id="000001"))
    with pytest.raises(OutOfRange, match="after the year 9999"):
        created_at(ULIDProduct(id="7" + "Z" * 25))
    assert created_at(Order()) is None
    with pytest.raises(FieldDoesNotExist, match="no sortable id named 'id'"):
        created_at(Order(), "id")
    with pytest.raises(FieldDoesNotExist, match="has no sortable id"):
        created_at(Refund())


@pytest.mark.parametrize("function", [created_at, public_id])
def test_a_value_is_no_row(function):
    with pytest.raises(TypeError, match=r"found UUID: pass the row\. For a value"):
        function(Order._meta.get_field("uuid7").scheme.generate())
    row = Order(uuid7=Order._meta.get_field("uuid7").scheme.generate(MOMENT))
    assert function(SimpleLazyObject(lambda: row)) == function(row)


LAST = "e677d21f-dbff-7fff-bfff-ffffffffffff"
"""The last millisecond of the year 9999, in UTC."""
FIRST = "e677d21f-dc00-7fff-bfff-ffffffffffff"
"""The next one."""


@pytest.mark.parametrize("use_tz", [True, False])
@pytest.mark.parametrize(
    ("value", "zone", "shown"),
    [
        (LAST, "UTC", datetime(9999, 12, 31, 23, 59, 59, 999000)),  # noqa: DTZ001
        (LAST, "America/New_York", datetime(9999, 12, 31, 18, 59, 59, 999000)),  # noqa: DTZ001
        (LAST, "Pacific/Apia", None),
        (FIRST, "UTC", None),
        (FIRST, "America/New_York", None),
        ("ffffffff-ffff-7fff-bfff-ffffffffffff", "UTC", None),
    ],
)
def test_the_end_of_the_calendar(settings, use_tz, value, zone, shown):
    """A legal id may be of a time that no datetime holds, or none in its zone."""
    settings.TIME_ZONE, settings.USE_TZ = zone, use_tz
    row = UUIDv7Product(id=uuid.UUID(value))
    if shown is None:
        with pytest.raises(OutOfRange, match="after the year 9999"):
            created_at(row)
    else:
        assert created_at(row).replace(tzinfo=None) == shown


# From a public text to the model, the field and the value.


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
    order, masked = DatedOrder.objects.create(), MaskedKey.objects.create()
    for row, name in ((order, "kuuid"), (masked, "id")):
        found = resolve(public_id(row, name))
        assert found == (type(row), row._meta.get_field(name), getattr(row, name))
        assert found.fetch() == found.fetch("default") == row
    with pytest.raises(DatedOrder.DoesNotExist):
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


def test_a_text_that_was_assigned_as_a_key_is_read():
    value = ULIDProduct().pk
    text = public_id(ULIDProduct(pk=value))
    for given in (text, value):
        row = ULIDProduct(pk=given)
        assert public_id(row) == text
        assert created_at(row) == created_at(ULIDProduct(pk=value))
