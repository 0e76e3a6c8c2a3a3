"""django-filter: filters by ids and by their time, in filter sets and in views."""

import secrets
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import django_filters
import pytest
from django.core.exceptions import FieldError, ImproperlyConfigured
from django.urls import path
from django_filters.rest_framework import DjangoFilterBackend
from django_filters.rest_framework import FilterSet as RESTFilterSet
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.validation import validate_schema
from rest_framework.filters import SearchFilter
from rest_framework.generics import ListAPIView
from rest_framework.permissions import AllowAny
from rest_framework.test import APIRequestFactory

from django_sortable_ids.filters import CreatedAtRangeFilter, SortableIDFilter
from django_sortable_ids.ids import public_id, schema_of
from tests.leaks import leaks
from tests.masks import KEY, misread
from tests.store.api import serializer_for
from tests.store.models import PRODUCTS, Basket, Order, ULIDProduct, UUIDv7Product, id_column
from tests.testapp.models import MaskedKey, MaskedPart

from .support import bare_text_of, each_scheme, full_basket, text_of


def answer(model, query, **attributes):
    """What a list of the model answers."""
    options = {
        "queryset": model.objects.order_by("pk"),
        "serializer_class": serializer_for(model, "name"),
        "permission_classes": [AllowAny],
    }
    view = type("View", (ListAPIView,), options | attributes)
    return view.as_view()(APIRequestFactory().get(f"/?{urlencode(query)}"))


def searched_for(model, text, *search_fields):
    given = answer(
        model,
        {"search": text},
        filter_backends=[SearchFilter],
        search_fields=search_fields,
        pagination_class=None,
    )
    assert given.status_code == 200
    return [row["name"] for row in given.data]


pytestmark = pytest.mark.django_db

LOOKUPS = ["exact", "in", "gt", "gte", "lt", "lte", "range", "isnull"]


def filter_set(of, shown, base=django_filters.FilterSet, **declared):
    class Meta:
        model = of
        fields = shown

    return type("Filters", (base,), {"Meta": Meta, **declared})


def found(filters, **data):
    made = filters(data, queryset=filters.Meta.model.objects.order_by("pk"))
    assert made.is_valid(), made.errors
    return list(made.qs)


@each_scheme
def test_lookups_of_an_id(scheme):
    model = PRODUCTS[scheme]
    for _ in range(3):
        model.objects.create()
    first, second, third = model.objects.order_by("pk")
    texts = [text_of(each) for each in (first, second, third)]
    for base in (django_filters.FilterSet, RESTFilterSet):
        filters = filter_set(model, {"id": LOOKUPS}, base)
        assert found(filters) == [first, second, third]
        assert found(filters, id=texts[1]) == [second]
        assert found(filters, id__in=f"{texts[0]},{texts[2]}") == [first, third]
        assert found(filters, id__gt=texts[0], id__lte=texts[1]) == [second]
        assert found(filters, id__range=f"{texts[1]},{texts[2]}") == [second, third]
        assert found(filters, id__range=f"{texts[1]},") == []  # as django-filter's own
        assert found(filters, id__range=f",{texts[1]}") == []
        assert found(filters, id__isnull=True) == []
        assert found(filter_set(model, ["id"], base), id=texts[0]) == [first]
        whole = filter_set(model, {"id": ["icontains"]}, base)
        assert found(whole, id__icontains=texts[1]) == [second]


@each_scheme
def test_one_or_several_related_ids(scheme):
    baskets, products = [full_basket(), full_basket()], PRODUCTS[scheme].objects
    for basket in baskets:
        product = products.get(baskets=basket)
        filters, text = filter_set(Basket, [scheme, f"all_{scheme}"]), text_of(product)
        assert found(filters, **{scheme: text}) == [basket]
        assert found(filters, **{f"all_{scheme}": [text]}) == [basket]
        assert not filters({scheme: "x"}).is_valid()
        for refused in {"x", bare_text_of(product)} - {text}:
            assert not filters({f"all_{scheme}": [refused]}).is_valid()


def test_ids_of_relations():
    product = ULIDProduct.objects.create()
    basket = Basket.objects.create(ulid=product)
    Basket.objects.create()
    filters = filter_set(Basket, ["ulid", "ulid__id", "id"])
    for name in ("ulid", "ulid__id"):
        assert found(filters, **{name: text_of(product)}) == [basket]
        assert not filters({name: bare_text_of(product)}).is_valid()
    declared = filter_set(Basket, [], product=SortableIDFilter(field_name="ulid__id"))
    assert found(declared, product=text_of(product)) == [basket]
    several = type("Several", (django_filters.BaseInFilter, SortableIDFilter), {})
    declared = filter_set(Basket, [], products=several("ulid__id", lookup_expr="in"))
    assert found(declared, products=text_of(product)) == [basket]
    wrong = filter_set(Basket, [], name=SortableIDFilter(field_name="name"))
    with pytest.raises(ImproperlyConfigured, match=r"store\.Basket has no sortable id there"):
        wrong({"name": "x"}).is_valid()
    misspelled = filter_set(Basket, [], name=SortableIDFilter(field_name="idd"))
    with pytest.raises(ImproperlyConfigured, match=r"another filter; nearest: id$"):
        misspelled({"name": "x"}).is_valid()


@pytest.fixture
def days():
    """A product of each of three days, at noon in UTC."""
    noon = datetime(2026, 1, 30, 12, tzinfo=UTC)
    generate = id_column(UUIDv7Product).scheme.generate
    return [
        UUIDv7Product.objects.create(id=generate(noon + timedelta(days=n)), name=str(30 + n))
        for n in range(3)
    ]


def test_a_range_of_creation_times(days):
    filters = filter_set(UUIDv7Product, [], created=CreatedAtRangeFilter())
    for data, names in (
        ({}, "30 31 32"),
        ({"created_after": "2026-01-31"}, "31 32"),
        ({"created_before": "2026-01-31"}, "30 31"),
        ({"created_after": "2026-01-31", "created_before": "2026-01-31"}, "31"),
    ):
        assert [each.name for each in found(filters, **data)] == names.split(), data
    for text in ("x", "2026-13-01", "2026-01-31T00:00:00", "\x00"):
        assert "created" in filters({"created_after": text}).errors
    assert "id__created_at" not in str(filters().form)


@pytest.mark.parametrize("name", ["name", "nothing"])
def test_a_range_needs_an_id_with_a_time(name):
    filters = filter_set(UUIDv7Product, [], created=CreatedAtRangeFilter(field_name=name))
    with pytest.raises(FieldError):
        _ = filters({"created_after": "2026-01-31"}).qs


class Orders(ListAPIView):
    queryset = Order.objects.order_by("pk")
    serializer_class = serializer_for(Order)
    filter_backends = (DjangoFilterBackend,)
    filterset_fields = {"ulid": ["exact", "in"], "snowflake": ["exact"]}
    authentication_classes = ()
    schema = AutoSchema()


def test_a_view():
    order, _ = Order.objects.create(name="first"), Order.objects.create(name="second")

    def get(**query):
        return Orders.as_view()(APIRequestFactory().get("/", query))

    assert [row["name"] for row in get(ulid=text_of(order, "ulid")).data] == ["first"]
    assert [row["name"] for row in get(snowflake=text_of(order, "snowflake")).data] == ["first"]
    refused = get(ulid=order.ulid)
    assert refused.status_code == 400
    assert "Expected a text such as ord_" in refused.data["ulid"][0]


def test_openapi():
    filters = filter_set(
        Order,
        {"ulid": ["exact", "in"], "snowflake": ["lt"]},
        created=CreatedAtRangeFilter("ulid"),
        declared=SortableIDFilter("kuuid"),
    )
    view = type("View", (Orders,), {"filterset_class": filters, "filterset_fields": None})
    document = SchemaGenerator(patterns=[path("orders/", view.as_view())]).get_schema(public=True)
    validate_schema(document)
    parameters = {
        each["name"]: each["schema"] for each in document["paths"]["/orders/"]["get"]["parameters"]
    }
    declared = parameters.pop("declared").items()
    assert declared >= schema_of(id_column(Order, "kuuid")).items()
    ulid = schema_of(id_column(Order, "ulid"))
    moment = CreatedAtRangeFilter._spectacular_annotation["field"]
    assert parameters == {
        "created_after": moment,
        "created_before": moment,
        "snowflake__lt": schema_of(id_column(Order, "snowflake")),
        "ulid": ulid,
        "ulid__in": {"type": "array", "items": ulid},
    }


@each_scheme
def test_a_search_finds_a_whole_id_and_nothing_else(scheme):
    first, second = (PRODUCTS[scheme].objects.create(name=name) for name in ("first", "second"))
    for name in ("id", "^id", "=id", "@id", "$id"):
        for text in (text_of(first), bare_text_of(first)):
            assert searched_for(PRODUCTS[scheme], text, name) == ["first"]
            assert searched_for(PRODUCTS[scheme], text, name, "name") == ["first"]
            assert searched_for(PRODUCTS[scheme], text[:-1], name) == []
        for text in ("x", "first", "'; --", "%", "9" * 10_000, bare_text_of(second)[1:]):
            assert searched_for(PRODUCTS[scheme], text, name) == []
        assert searched_for(PRODUCTS[scheme], "sec", name, "name") == ["second"]
    # A search may name the lookup.
    for lookup in ("contains", "startswith", "endswith", "iregex", "iexact"):
        assert searched_for(PRODUCTS[scheme], bare_text_of(first), f"id__{lookup}") == ["first"]
        assert searched_for(PRODUCTS[scheme], "x", f"id__{lookup}") == []


# What REST framework's own filters and cursors do with ids.


# The forms of django-filter, which the browsable API shows: no time of a masked id gets out.


class Parts(django_filters.FilterSet):
    several = django_filters.ModelMultipleChoiceFilter(
        field_name="whole", queryset=MaskedKey.objects.all(), null_label="none"
    )

    class Meta:
        model = MaskedPart
        fields = ("whole", "other")


class Keys(django_filters.FilterSet):
    class Meta:
        model = MaskedKey
        fields = ("parts", "parts__whole")


def test_no_time_in_the_form(part):
    values = (part.whole.pk, part.other.code, part.code)
    for data in (None, {"whole": public_id(part.whole)}, {"whole": str(part.whole.pk)}):
        for filters in (Parts, Keys):
            made = filters(data, queryset=filters.Meta.model.objects.all())
            page = made.form.as_p() + str(made.form.errors)
            given = set(data.values()) if data else set()
            assert not leaks(page, *(value for value in values if str(value) not in given))
            assert public_id(part.whole) in page
    (shown,) = (
        line
        for line in Parts({"whole": public_id(part.whole)}).form.as_p().split("<o")
        if "selected" in line and "msk" in line
    )
    assert public_id(part.whole) in shown


def test_a_filter_takes_what_it_shows(part):
    text, other = public_id(part.whole), str(public_id(part.other))
    assert found(Parts, whole=text) == found(Parts, other=other) == found(Parts, several=[text])
    assert found(Parts, whole=text) == [part]
    assert found(Parts, several=["null"]) == [part.other]
    assert len(found(Parts, several=[text, "null"])) == 2
    assert found(Keys, parts=[part.pk]) == found(Keys, parts__whole=text) == [part.whole]
    for refused in (str(part.whole.pk), "bad", public_id(MaskedKey())):
        assert not Parts({"whole": refused}).is_valid()
        assert not Parts({"several": [refused]}).is_valid()


def test_a_filter_takes_the_texts_of_an_older_key(settings):
    value, _, newer = misread()
    row = MaskedKey.objects.create(id=value)
    part, text = MaskedPart.objects.create(whole=row), public_id(row)
    settings.SORTABLE_IDS = {"MASK_KEYS": [newer, secrets.token_hex(16), KEY]}
    assert found(Parts, whole=text) == found(Parts, several=[text]) == [part]
