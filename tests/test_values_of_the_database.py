"""Places that read a time from a stored value: whatever that is, their page is shown."""

import uuid
from datetime import UTC, datetime

import django_filters
import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection, models, transaction
from django.db.models.functions import ExtractYear
from django.db.utils import DatabaseError
from django.template import Context, Template
from django.test import Client
from django.test.utils import isolate_apps
from django.urls import reverse
from rest_framework.test import APIRequestFactory

from django_sortable_ids.fields import UUIDv7Field
from django_sortable_ids.filters import CreatedAtFilter
from django_sortable_ids.functions import CreatedAt, histogram
from django_sortable_ids.pagination import keyset_page
from django_sortable_ids.rest_framework import SortableIDCursorPagination
from tests.marks import own_tables
from tests.store.api import serializer_for, viewset_for
from tests.store.models import Basket, UUIDv7Product

pytestmark = pytest.mark.django_db

LIST = "admin:store_uuidv7product_changelist"
VALUES = {
    "UUIDv4 after now": uuid.UUID("7f4c5fc0-2f27-4d4e-8d5b-0a4c3f1d2e90"),
    "UUIDv4 before now": uuid.UUID("0176a7c0-2f27-4d4e-8d5b-0a4c3f1d2e90"),
    "UUIDv7 after the year 9999": uuid.UUID("ffffffff-ffff-7fff-bfff-ffffffffffff"),
    "nil": uuid.UUID(int=0),
    "max": uuid.UUID(int=2**128 - 1),
}


def page(url, **parameters):
    client = Client()
    client.force_login(User.objects.get())
    # The change page of a value that no look-up takes says so, and leads to the index.
    response = client.get(url, parameters, follow=True)
    assert response.status_code == 200, response
    return response.content.decode()


def rest(key, **attributes):
    view = viewset_for(serializer_for(UUIDv7Product, "id"), **attributes)
    answer = view.as_view({"get": "list"})(APIRequestFactory().get("/"))
    assert answer.status_code == 200
    return str(answer.data)


def render(source, row):
    return Template("{% load sortable_ids %}" + source).render(Context({"row": row}))


def stored_row():
    return Basket.objects.select_related("uuid7").get().uuid7


def rows():
    return UUIDv7Product.objects.order_by("pk")


class Created(django_filters.FilterSet):
    created = CreatedAtFilter()

    class Meta:
        model = UUIDv7Product
        fields = {"id": ["exact", "in", "range", "gte"]}


def filtered(**data):
    filters = Created(data, rows())
    assert filters.is_valid(), filters.errors
    return list(filters.qs)


class Pages(SortableIDCursorPagination):
    page_size = 1
    ordering = "pk"


PLACES = {
    "admin's list": lambda key: page(reverse(LIST)),
    "admin's list, first day": lambda key: page(
        reverse(LIST), id__created_at__date__gte="2020-01-01"
    ),
    "admin's list with counts": lambda key: page(reverse(LIST), _facets="True"),
    "drill-down": lambda key: page(reverse(LIST), id__created_at__within="2026"),
    "admin's change page": lambda key: page(
        reverse("admin:store_uuidv7product_change", args=[key])
    ),
    "admin's list of a relation": lambda key: page(reverse("admin:store_basket_changelist")),
    "search": lambda key: page(reverse(LIST), q=str(key)),
    "inspector": lambda key: page(reverse("admin:inspect_id"), id=str(key)),
    "histogram": lambda key: histogram(rows(), "id", "day", datetime(2026, 1, 1, tzinfo=UTC), END),
    "ends of a histogram": lambda key: histogram(rows(), "id", "year", end=END),
    "pages after an id": lambda key: [
        keyset_page(rows(), 1),
        keyset_page(rows(), 1, before=""),
    ],
    "REST": lambda key: rest(key),
    "REST, cursor": lambda key: rest(key, pagination_class=Pages),
    "latest": lambda key: rows().latest("pk"),
    "filter": lambda key: list(rows().filter(id__created_at__year__gte=2020)),
    "django-filter, times": lambda key: [
        filtered(created_after="2020-01-01"),
        filtered(created_before="2020-01-01"),
        filtered(created_after="2020-01-01", created_before="2026-12-31"),
    ],
    "annotation": lambda key: list(rows().annotate(year=ExtractYear(CreatedAt("id")))),
    "tag of the public text": lambda key: render("{{ row|public_id }}", stored_row()),
    "tag of the time": lambda key: render("{{ row|created_at }}", stored_row()),
    "tag of the picture": lambda key: render("{% sortable_id_picture row %}", stored_row()),
}
END = datetime(2026, 2, 1, tzinfo=UTC)


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_no_place_raises_an_error(value):
    User.objects.create(username="root", is_staff=True, is_superuser=True)
    UUIDv7Product.objects.create()
    row = UUIDv7Product.objects.create()
    Basket.objects.create()
    native = connection.features.has_native_uuid_field
    stored, key = (value, row.pk) if native else (value.hex, row.pk.hex)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("UPDATE store_uuidv7product SET id = %s WHERE id = %s", [stored, key])
            cursor.execute("UPDATE store_basket SET uuid7_id = %s", [stored])
    except DatabaseError:
        pytest.skip("the column has no such value")  # MariaDB's uuid has no place for the largest
    for place in PLACES.values():
        place(value)


@pytest.fixture(params=[True, False], ids=["any version", "strict"])
def visits(request):
    """A model with an id and a time, and its table."""
    with isolate_apps("tests.testapp"):

        class Visit(models.Model):
            id = UUIDv7Field(primary_key=True, accept_other_versions=request.param)
            at = models.DateTimeField()

            class Meta:
                app_label = "testapp"

            def __str__(self):
                return str(self.id)

        with connection.schema_editor() as editor:
            editor.create_model(Visit)
        yield Visit
        with connection.schema_editor() as editor:
            editor.delete_model(Visit)


@own_tables
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_the_rows_before_and_after_it(visits, value):
    """Rows of one time are in the order of their ids; what is no id of the field has no place."""
    row, other = (visits.objects.create(at=END) for _ in range(2))
    native = connection.features.has_native_uuid_field
    stored, key = (value, row.pk) if native else (value.hex, row.pk.hex)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("UPDATE testapp_visit SET id = %s WHERE id = %s", [stored, key])
    except DatabaseError:
        pytest.skip("the column has no such value")
    first, last = visits.objects.order_by("pk")
    assert {first.pk, last.pk} == {value, other.pk}
    if not visits._meta.pk.accept_other_versions and value.version != 7:
        stored = first if first.pk == value else last
        for look in (stored.get_next_by_at, stored.get_previous_by_at):
            with pytest.raises(ValidationError, match=f"{value}.*is not a valid UUIDv7"):
                look()
        return
    assert first.get_next_by_at() == last
    assert last.get_previous_by_at() == first
    for missing in (first.get_previous_by_at, last.get_next_by_at):
        with pytest.raises(visits.DoesNotExist):
            missing()
