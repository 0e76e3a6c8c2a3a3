"""What REST framework's own filters and cursors do with ids."""

from base64 import b64encode
from urllib.parse import urlencode

import pytest
from django.core.exceptions import FieldError
from django.core.handlers.exception import response_for_exception
from rest_framework.filters import SearchFilter
from rest_framework.generics import ListAPIView
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import AllowAny
from rest_framework.test import APIRequestFactory

from tests.combinations import in_one_case
from tests.store.api import serializer_for
from tests.store.models import PRODUCTS, Basket, Order

from .support import bare_text_of, each_scheme, text_of

pytestmark = pytest.mark.django_db


def answer(model, query, **attributes):
    """What a list of the model answers."""
    options = {
        "queryset": model.objects.order_by("pk"),
        "serializer_class": serializer_for(model, "name"),
        "permission_classes": [AllowAny],
    }
    view = type("View", (ListAPIView,), options | attributes)
    return view.as_view()(APIRequestFactory().get(f"/?{urlencode(query)}"))


def found(model, text, *search_fields):
    given = answer(
        model,
        {"search": text},
        filter_backends=[SearchFilter],
        search_fields=search_fields,
        pagination_class=None,
    )
    assert given.status_code == 200
    return [row["name"] for row in given.data]


@each_scheme
def test_a_search_finds_a_whole_id_and_nothing_else(scheme):
    first, second = (PRODUCTS[scheme].objects.create(name=name) for name in ("first", "second"))
    for searched in ("id", "^id", "=id", "@id", "$id"):
        for text in (text_of(first), bare_text_of(first)):
            assert found(PRODUCTS[scheme], text, searched) == ["first"]
            assert found(PRODUCTS[scheme], text, searched, "name") == ["first"]
            assert found(PRODUCTS[scheme], text[:-1], searched) == []
        for text in ("x", "first", "'; --", "%", "9" * 10_000, bare_text_of(second)[1:]):
            assert found(PRODUCTS[scheme], text, searched) == []
        assert found(PRODUCTS[scheme], "sec", searched, "name") == ["second"]
    # A search may name the lookup.
    for lookup in ("contains", "startswith", "endswith", "iregex", "iexact"):
        assert found(PRODUCTS[scheme], bare_text_of(first), f"id__{lookup}") == ["first"]
        assert found(PRODUCTS[scheme], "x", f"id__{lookup}") == []
    for text, names in ((text_of(first), ["first"]), ("x", [])):
        assert found(PRODUCTS[scheme], f"^{text}$", "$id") == names


@each_scheme
def test_a_search_reaches_ids_of_relations(scheme):
    product, other = (PRODUCTS[scheme].objects.create() for _ in range(2))
    basket = Basket.objects.create(name="basket", **{scheme: product})
    getattr(basket, f"all_{scheme}").set([product, other])
    Basket.objects.create(name="another")
    for path in (f"{scheme}__id", f"all_{scheme}__id"):
        assert found(Basket, text_of(product), path) == ["basket"]
        assert found(Basket, bare_text_of(product)[:5], path) == []


@in_one_case(
    ("scheme", "lookup", "text"),
    [("ulid", "regex", "abc"), ("uuid7", "iregex", "^0"), ("snowflake", "iregex", "(a")],
)
def test_a_regular_expression_that_a_client_sends_is_400(scheme, lookup, text):
    with pytest.raises(FieldError, match="regular expressions can't match ids") as error:
        PRODUCTS[scheme].objects.exclude(**{f"id__{lookup}": text})
    answer = response_for_exception(APIRequestFactory().get("/"), error.value)
    assert answer.status_code == 400


# Cursors


def cursor(position, **more):
    return b64encode(urlencode({"p": position, **more}).encode()).decode()


def page(model, ordering, query):
    pagination = type("Pages", (CursorPagination,), {"ordering": ordering, "page_size": 2})
    return answer(model, query, pagination_class=pagination)


def test_the_answer_says_what_is_wrong():
    given = page(Order, "ulid", {"cursor": cursor("bad")})
    assert given.data["detail"].startswith(
        "“bad” is not a valid ULID. Expected a text such as ord_"
    )
