"""Pages of a list with the number of rows, which says how exact it is."""

import json

import pytest
from django.db import connection
from rest_framework.pagination import PageNumberPagination
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.pagination import SortableIDPaginator
from django_sortable_ids.rest_framework import (
    SortableIDCountedCursorPagination,
    SortableIDModelSerializer,
)
from tests.store.models import ULIDProduct

from .test_openapi import schema_for

pytestmark = pytest.mark.django_db
requests = APIRequestFactory()


class ProductSerializer(SortableIDModelSerializer):
    class Meta:
        model = ULIDProduct
        fields = ["id", "name"]


class Counted(SortableIDCountedCursorPagination):
    page_size = 3
    ordering = "-id"
    exact_up_to = 12


class Paginator(SortableIDPaginator):
    exact_up_to = 12


class Numbered(PageNumberPagination):
    page_size = 3
    django_paginator_class = Paginator


def viewset(pagination, rows=None):
    attributes = {
        "queryset": ULIDProduct.objects.order_by("id") if rows is None else rows,
        "serializer_class": ProductSerializer,
        "pagination_class": pagination,
    }
    return type("Views", (ModelViewSet,), attributes)


def get(pagination, link="/", rows=None):
    answer = viewset(pagination, rows).as_view({"get": "list"})(requests.get(link))
    answer.render()
    return answer


def body(*args, **options):
    return json.loads(get(*args, **options).content)


def walk(pagination):
    pages = [body(pagination)]
    while pages[-1]["next"]:
        pages.append(body(pagination, pages[-1]["next"]))
        assert len(pages) < 50
    return pages


def made(count):
    return [ULIDProduct.objects.create(name=f"{number:02}") for number in range(count)]


def test_a_small_table_is_counted():
    made(12)
    for page in walk(Counted):
        assert (page["count"], page["count_precision"]) == (12, "exact")
        assert list(page) == ["count", "count_precision", "next", "previous", "results"]


def test_a_large_table_says_that_its_count_is_not_exact():
    made(30)
    pages = walk(Counted)
    assert [row["name"] for page in pages for row in page["results"]] == [
        f"{number:02}" for number in range(29, -1, -1)
    ]
    for page in pages:
        assert page["count"] >= 13
        assert page["count_precision"] in ("minimum", "estimated")
        if connection.vendor == "sqlite":
            assert (page["count"], page["count_precision"]) == (13, "minimum")


def test_the_count_is_that_of_the_filtered_rows():
    made(30)
    page = body(Counted, rows=ULIDProduct.objects.filter(name__startswith="1"))
    assert (page["count"], page["count_precision"], len(page["results"])) == (10, "exact", 3)


def test_a_page_takes_two_statements_or_three(django_assert_max_num_queries):
    made(30)
    second = body(Counted)["next"]
    with django_assert_max_num_queries(2 if connection.vendor == "sqlite" else 3):
        get(Counted, second)


def test_no_page_size_is_no_page():
    made(3)
    whole = type(
        "Whole", (SortableIDCountedCursorPagination,), {"page_size": None, "ordering": "id"}
    )
    assert len(body(whole)) == 3


def test_a_malformed_cursor_is_404():
    made(3)
    assert get(Counted, "/?cursor=x").status_code == 404


def test_page_numbers_of_a_large_table():
    rows = made(30)
    pages = walk(Numbered)
    assert [row["name"] for page in pages for row in page["results"]] == [row.name for row in rows]
    assert pages[-1]["count"] == 30
    assert pages[0]["count"] >= 13
    last = body(Numbered, "/?page=last")
    assert (last["count"], last["results"], last["next"]) == (30, pages[-1]["results"], None)
    for number in ("0", "-1", "x", "11", "9" * 30):
        assert get(Numbered, f"/?page={number}").status_code == 404, number


def test_the_document_describes_the_count():
    document = schema_for(viewset(Counted))
    (component,) = (
        schema for name, schema in document["components"]["schemas"].items() if "Paginated" in name
    )
    assert component["required"] == ["count", "count_precision", "results"]
    described = component["properties"]
    precision = described["count_precision"]
    (reference,) = precision["allOf"]
    named = document["components"]["schemas"][reference["$ref"].rpartition("/")[2]]
    assert (named["type"], named["enum"]) == ("string", ["exact", "estimated", "minimum"])
    assert described["count"] == {"type": "integer", "minimum": 0, "example": 123}
    answer = body(Counted)
    assert set(answer) == set(described)
