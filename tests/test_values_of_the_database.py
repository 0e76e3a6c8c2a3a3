"""Places that read a time from a stored value: whatever that is, their page is shown."""

import uuid
from datetime import UTC, datetime
from typing import ClassVar

import django_filters
import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Func
from django.db.models.functions import ExtractYear
from django.db.utils import DatabaseError
from django.template import Context, Template
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIRequestFactory

from django_sortable_ids.filters import CreatedAtRangeFilter
from django_sortable_ids.functions import CreatedAt, histogram
from django_sortable_ids.pagination import keyset_page
from django_sortable_ids.rest_framework import SortableIDCursorPagination
from tests.store.api import serializer_for, viewset_for
from tests.store.models import (
    PRODUCTS,
    Basket,
    KUUIDProduct,
    SequenceProduct,
    UUIDv7Product,
)
from tests.support import query
from tests.testapp.models import KSUIDKey, UUIDv7Key

pytestmark = pytest.mark.django_db

UUIDS = {
    "UUIDv4 after now": uuid.UUID("7f4c5fc0-2f27-4d4e-8d5b-0a4c3f1d2e90"),
    "UUIDv4 before now": uuid.UUID("0176a7c0-2f27-4d4e-8d5b-0a4c3f1d2e90"),
    "UUIDv7 after the year 9999": uuid.UUID("ffffffff-ffff-7fff-bfff-ffffffffffff"),
    "nil": uuid.UUID(int=0),
    "max": uuid.UUID(int=2**128 - 1),
}
VALUES = {
    **{name: (UUIDv7Product, value) for name, value in UUIDS.items()},
    **{
        f"{model.__name__} {text!r}": (model, text)
        for model, texts in (
            (KUUIDProduct, ("", "short", "!!!!!!", "\u00e9", "zzzzzzzzzzzz")),
            (SequenceProduct, ("", "\u00e9", "zzzzzzzzzzzz")),
        )
        for text in texts
    },
    "KUUID with its prefix": (KUUIDProduct, "prod:0000000000000000"),
}


def page(url, **parameters):
    client = Client()
    client.force_login(User.objects.get())
    # The change page of a value that no look-up takes says so, and leads to the index.
    response = client.get(url, parameters, follow=True)
    assert response.status_code == 200, response
    return response.content.decode()


def listed(model, **parameters):
    return page(reverse(f"admin:store_{model._meta.model_name}_changelist"), **parameters)


def changed(model, key):
    if key == "":
        return None  # it has no address
    return page(reverse(f"admin:store_{model._meta.model_name}_change", args=[key]))


def rest(model, **attributes):
    view = viewset_for(serializer_for(model, "id"), **attributes)
    answer = view.as_view({"get": "list"})(APIRequestFactory().get("/"))
    assert answer.status_code == 200
    return str(answer.data)


def render(source, model):
    row = getattr(Basket.objects.select_related(NAMES[model]).get(), NAMES[model])
    return Template("{% load sortable_ids %}" + source).render(Context({"row": row}))


def rows(model):
    return model.objects.order_by("pk")


def filtered(model, **data):
    class Created(django_filters.FilterSet):
        created = CreatedAtRangeFilter()

        class Meta:
            fields: ClassVar = {"id": ["exact", "in", "range", "gte"]}

    Created.Meta.model = model
    filters = type("Filters", (Created,), {"Meta": Created.Meta})(data, rows(model))
    assert filters.is_valid(), filters.errors
    return list(filters.qs)


class Pages(SortableIDCursorPagination):
    page_size = 1
    ordering = "pk"


NAMES = {model: name for name, model in PRODUCTS.items()}
END = datetime(2026, 2, 1, tzinfo=UTC)
PLACES = {
    "admin's list": lambda model, key: listed(model),
    "admin's change page": changed,
    "admin's list of a relation": lambda model, key: listed(Basket),
    "search": lambda model, key: listed(model, q=str(key)),
    "inspector": lambda model, key: page(reverse("admin:inspect_id"), id=str(key)),
    "pages after an id": lambda model, key: [
        keyset_page(rows(model), 1),
        keyset_page(rows(model), 1, before=""),
    ],
    "REST": lambda model, key: rest(model),
    "REST, cursor": lambda model, key: rest(model, pagination_class=Pages),
    "latest": lambda model, key: rows(model).latest("pk"),
    "tag of the public text": lambda model, key: render("{{ row|public_id }}", model),
}
PLACES_OF_TIMES = {
    "admin's list, first day": lambda model, key: listed(
        model, id__created_at__date__gte="2020-01-01"
    ),
    "admin's list with counts": lambda model, key: listed(model, _facets="True"),
    "drill-down": lambda model, key: listed(model, id__created_at__within="2026"),
    "histogram": lambda model, key: histogram(
        rows(model), "id", "day", datetime(2026, 1, 1, tzinfo=UTC), END
    ),
    "ends of a histogram": lambda model, key: histogram(rows(model), "id", "year", end=END),
    "filter": lambda model, key: list(rows(model).filter(id__created_at__year__gte=2020)),
    "django-filter, times": lambda model, key: [
        filtered(model, created_after="2020-01-01"),
        filtered(model, created_before="2020-01-01"),
        filtered(model, created_after="2020-01-01", created_before="2026-12-31"),
    ],
    "annotation": lambda model, key: list(rows(model).annotate(year=ExtractYear(CreatedAt("id")))),
    "tag of the time": lambda model, key: render("{{ row|created_at }}", model),
    "tag of the picture": lambda model, key: render("{% sortable_id_picture row %}", model),
}


@pytest.mark.parametrize("name", VALUES)
def test_no_place_raises_an_error(name):
    model, value = VALUES[name]
    places = PLACES | ({} if model is SequenceProduct else PLACES_OF_TIMES)
    User.objects.create(username="root", is_staff=True, is_superuser=True)
    model.objects.create()
    row = model.objects.create()
    Basket.objects.create()
    table, native = model._meta.db_table, connection.features.has_native_uuid_field
    stored, key = (
        each.hex if isinstance(each, uuid.UUID) and not native else each for each in (value, row.pk)
    )
    try:
        with transaction.atomic():
            query(f"UPDATE {table} SET id = %s WHERE id = %s", stored, key)
            query(f"UPDATE store_basket SET {NAMES[model]}_id = %s", stored)
    except DatabaseError:
        pytest.skip("the column has no such value")  # MariaDB's uuid has no place for the largest
    for place in places.values():
        place(model, value)


MALFORMED = {
    name: (model, value) for name, (model, value) in VALUES.items() if model is KUUIDProduct
}
if connection.vendor != "mysql":  # Its BINARY adds zeros, or refuses them.
    MALFORMED |= {f"KSUID {value!r}": (KSUIDKey, value) for value in (b"short", b"\0" * 30)}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_value_has_no_time_in_sql(name):
    model, value = MALFORMED[name]
    model.objects.create()
    try:
        query(f"UPDATE {model._meta.db_table} SET id = %s", value)
    except DatabaseError:
        pytest.skip("the column has no such value")  # MariaDB's columns of ASCII
    assert model.objects.values_list(CreatedAt("id"), flat=True).get() is None


OF_ANOTHER_KIND = [(KSUIDKey, b"short", "20 bytes, found 5")]
if connection.vendor == "sqlite":  # which stores any value in any column
    OF_ANOTHER_KIND += [(KSUIDKey, 17, "KSUID, found int"), (UUIDv7Key, 17, "a UUID, found 2")]


@pytest.mark.skipif(connection.vendor == "mysql", reason="its BINARY adds zeros")
@pytest.mark.parametrize(("model", "value", "message"), OF_ANOTHER_KIND)
def test_a_value_of_another_kind_is_an_error_that_says_how_to_find_it(model, value, message):
    model.objects.create()
    query(f"UPDATE {model._meta.db_table} SET id = %s", value)
    label = str(model._meta.pk)
    with pytest.raises(ValueError, match=rf"expected {message}.*backfill_ids {label} --verify"):
        model.objects.get()


def test_an_expression_of_a_number_needs_an_output_field():
    KSUIDKey.objects.create()
    counts = KSUIDKey.objects.annotate(count=Func("id", function="COUNT")).values_list("count")
    with pytest.raises(ValueError, match=r"If Func\(.*COUNT\) is no id, give it an output_field"):
        counts.get()
