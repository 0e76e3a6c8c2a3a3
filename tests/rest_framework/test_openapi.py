"""What drf-spectacular says of an id: as it is in URLs and answers, for every scheme."""

import json
import re

import pytest
from django.urls import path
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.validation import validate_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import PrimaryKeyRelatedField
from rest_framework.test import APIClient

from django_sortable_ids.fields import (
    KUUIDField,
    LexicalSequenceField,
    SnowflakeField,
    ULIDField,
    UUIDv7Field,
)
from django_sortable_ids.ids import schema_of
from tests.store.api import serializer_for, viewset_for
from tests.store.models import PRODUCTS, Basket, Refund, Voucher

from .support import each_scheme, full_basket, full_order, text_of, url

UUID_PATTERN = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def schema_for(*viewsets):
    """The whole document of an API of these viewsets; it must be valid and without warnings."""
    urls = []
    for number, viewset in enumerate(viewsets):
        viewset.schema = AutoSchema()
        name, lookup = f"things{number}", viewset.lookup_url_kwarg or viewset.lookup_field
        urls += [
            path(f"{name}/", viewset.as_view({"get": "list", "post": "create"})),
            path(f"{name}/<{lookup}>/", viewset.as_view({"get": "retrieve"})),
        ]
    GENERATOR_STATS.reset()
    document = SchemaGenerator(patterns=urls).get_schema(request=None, public=True)
    validate_schema(document)
    assert not GENERATOR_STATS
    return json.loads(JSONRenderer().render(document))


def properties(serializer):
    (component,) = (
        schema
        for name, schema in schema_for(viewset_for(serializer))["components"]["schemas"].items()
        if not name.startswith("Patched")
    )
    return component["properties"]


UUID_SHOWN = "019b76da-a800-7b6d-adb6-db6db6db6db4"
NUMERIC = {"charset": "numeric"}
YEARLY = NUMERIC | {"width": 5, "template": "INV-{year}{month}_{number}"}


@pytest.mark.parametrize(
    ("field", "lengths", "pattern", "example", "more"),
    [
        (UUIDv7Field(), (36, 36), UUID_PATTERN, UUID_SHOWN, {"format": "uuid"}),
        (
            UUIDv7Field(prefix="ord", help_text="As on the invoice."),
            (40, 40),
            f"ord_{UUID_PATTERN}",
            f"ord_{UUID_SHOWN}",
            {"description": "As on the invoice.", "x-typeid": "ord"},
        ),
        (
            ULIDField(prefix="ord", separator=":"),
            (30, 30),
            "ord:[0-9A-HJKMNP-TV-Z]{26}",
            "ord:01KDVDNA00PVDPVDPVDPVDPVDM",
            {"x-typeid": "ord"},
        ),
        (SnowflakeField(), (1, 19), "(?:0|[1-9][0-9]*)", "2006515713441642202", {}),
        (LexicalSequenceField(**NUMERIC, max_length=8), (1, 8), "[0123456789]{1,8}", "00", {}),
        (
            LexicalSequenceField(**YEARLY),
            (16, 16),
            "INV-[0-9]{4}(?:0[1-9]|1[0-2])_[0123456789]{5,5}",
            "INV-202601_00010",
            {},
        ),
        (KUUIDField(short=True), (20, 20), "[0-9A-Za-z]{20}", "001vb66i3LcJi2418mS2", {}),
    ],
    ids=lambda each: type(each).__name__ if hasattr(each, "scheme") else "",
)
def test_a_schema_describes_the_public_text(field, lengths, pattern, example, more):
    least, most = lengths
    assert schema_of(field) == {
        "type": "string",
        "minLength": least,
        "maxLength": most,
        "pattern": f"^{pattern}$",
        "example": example,
        **more,
    }


@pytest.mark.parametrize(
    ("options", "is_typeid"),
    [
        ({"encoding": "base32"}, True),
        ({"encoding": "base32", "separator": ":"}, False),
        ({"encoding": "hex"}, False),
    ],
)
def test_a_schema_says_what_is_a_typeid(options, is_typeid):
    schema = schema_of(UUIDv7Field(prefix="ord", **options))
    assert (schema.get("format") == "typeid") is is_typeid


@pytest.mark.parametrize("options", [{}, {"prefix": "ord", "encoding": "base32"}])
def test_a_masked_id_has_an_example_of_no_key(options, settings):
    """Documents and messages don't tell what a key makes of an id that everybody knows."""
    field = UUIDv7Field(masked=True, **options)
    text = field.public_text
    texts = set()
    for keys in (["00" * 16], ["11" * 16], []):
        settings.SORTABLE_IDS = {"MASK_KEYS": keys}
        texts.add(schema_of(UUIDv7Field(masked=True, **options))["example"])
        assert field.invalid("x").messages[0].endswith(f" such as {text.example}.")
        assert not keys or text.candidates(text.example)
        assert not keys or text.format(text.scheme.example) not in texts
    assert texts == {text.example}


@each_scheme
def test_own_columns_and_paths(scheme):
    field = PRODUCTS[scheme]._meta.pk
    expected = schema_of(field)
    document = schema_for(viewset_for(serializer_for(PRODUCTS[scheme], "id")))
    (parameter,) = document["paths"]["/things0/{id}/"]["get"]["parameters"]
    assert parameter["schema"] == expected
    name = PRODUCTS[scheme].__name__
    (found,) = document["components"]["schemas"][name]["properties"].values()
    assert found == expected | {"readOnly": True}


@each_scheme
def test_relations(scheme):
    expected = schema_of(PRODUCTS[scheme]._meta.pk)
    declared = PrimaryKeyRelatedField(queryset=PRODUCTS[scheme].objects.all())
    fields = (scheme, f"{scheme}_id", f"all_{scheme}", "mine")
    assert properties(serializer_for(Basket, *fields, mine=declared)) == {
        scheme: expected | {"nullable": True},
        f"{scheme}_id": expected | {"readOnly": True, "nullable": True},
        f"all_{scheme}": {"type": "array", "items": expected},
        "mine": expected,
    }


def test_the_words_of_the_project_and_not_ours():
    document = schema_for(viewset_for(serializer_for(Voucher)))
    voucher = document["components"]["schemas"]["Voucher"]
    assert voucher["properties"]["code"]["description"] == "As printed."
    assert voucher["properties"]["code"]["title"] == "Promotion code"
    descriptions = re.findall('"description": ?"([^"]*)"', json.dumps(document))
    assert set(descriptions) <= {"", "As printed.", "A unique value identifying this voucher."}


# The pages of the browsable API: they render, and their forms offer public texts.


pytestmark = pytest.mark.django_db
client = APIClient()


def page(route, method="get", data=None):
    answer = getattr(client, method)(route, data, headers={"accept": "text/html"})
    assert answer.headers["Content-Type"].startswith("text/html")
    return answer.status_code, answer.content.decode()


def options(content, name):
    """The values that a select offers, and those that it has selected."""
    (select,) = re.findall(rf'<select[^>]* name="{name}".*?</select>', content, re.DOTALL)
    offered = re.findall(r'<option value="([^"]*)"([^>]*)>', select)
    return (
        {value for value, _ in offered if value},
        {value for value, rest in offered if value and "selected" in rest},
    )


def test_the_forms_of_relations_offer_public_texts():
    basket = full_basket()
    _, empty = page(url("basket"))
    _, filled = page(url("basket", text_of(basket)))
    for scheme, model in PRODUCTS.items():
        texts = {text_of(product) for product in model.objects.all()}
        assert options(empty, scheme) == options(empty, f"all_{scheme}") == (texts, set())
        assert options(filled, scheme) == (texts, {text_of(getattr(basket, scheme))})
        assert options(filled, f"all_{scheme}") == (texts, texts)


def test_the_forms_of_relations_to_other_ids_offer_public_texts():
    order = full_order()
    refund = Refund.objects.create(**dict.fromkeys(PRODUCTS, order))
    _, content = page(url("refund", str(refund.pk)))
    for scheme in PRODUCTS:
        text = text_of(order, scheme)
        assert options(content, scheme) == ({text}, {text})
