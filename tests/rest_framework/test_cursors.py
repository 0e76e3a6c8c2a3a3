"""Cursor pagination by an id: every row once, and no more in a cursor than a public text says."""

import base64
import uuid
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from django.test.utils import isolate_apps
from rest_framework import filters
from rest_framework.pagination import CursorPagination, PageNumberPagination
from rest_framework.serializers import ModelSerializer
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ReadOnlyModelViewSet

from django_sortable_ids import pagination as keyset
from django_sortable_ids.ids import public_id
from django_sortable_ids.pagination import SortableIDPaginator
from django_sortable_ids.rest_framework import SortableIDCursorPagination
from tests.combinations import in_one_case
from tests.leaks import leaks
from tests.masks import KEY, misread
from tests.store.models import PRODUCTS, ULIDProduct
from tests.testapp.models import MaskedKey, MaskedPart, Named, ULIDKey, like

pytestmark = pytest.mark.django_db

OTHER = "0123456789abcdeffedcba9876543210"
META = type("Meta", (), {"app_label": "testapp"})
requests = APIRequestFactory()


def listing(of, by="id", pagination=SortableIDCursorPagination, shown=("name",), **attributes):
    """The view of a list, two or so at a time."""

    class Serializer(ModelSerializer):
        class Meta:
            model = of
            fields = shown

    class Pages(pagination):
        page_size = 3
        ordering = by

    attributes = {
        "queryset": of.objects.all(),
        "serializer_class": Serializer,
        "pagination_class": Pages,
    } | attributes
    return type("Views", (ReadOnlyModelViewSet,), attributes).as_view({"get": "list"})


def get(view, link=None):
    response = view(requests.get(link or "/"))
    response.render()
    return response


def walk(view, direction="next", link=None):
    """The answers of all pages, from the first one."""
    answers = [get(view, link)]
    while answers[-1].data[direction]:
        answers.append(get(view, answers[-1].data[direction]))
        assert len(answers) < 50
    return answers


def names(answers):
    return [row["name"] for answer in answers for row in answer.data["results"]]


def position(link):
    encoded = parse_qs(urlsplit(link).query)["cursor"][0]
    return parse_qs(base64.b64decode(encoded).decode())["p"][0]


def test_the_order_of_a_related_id():
    """Rows of one parent are on several pages."""
    children = ULIDKey._meta.get_field("children").related_model
    parents = [ULIDKey.objects.create() for _ in range(3)]
    for number in range(11):
        children.objects.create(name=f"{number:02}", parent=parents[number // 5])
    for by in ("parent__id", "-parent__id", "parent"):
        pages = walk(listing(children, [by, "name"]))
        assert sorted(names(pages)) == [f"{number:02}" for number in range(11)], by


def cursor(position, **tokens):
    encoded = base64.b64encode(urlencode({"p": position} | tokens).encode()).decode()
    return f"/?{urlencode({'cursor': encoded})}"


def test_no_time_in_a_cursor():
    rows = [MaskedKey.objects.create(name=str(at)) for at in range(10)]
    values = [row.pk for row in rows]
    usual = walk(listing(MaskedKey, pagination=CursorPagination))
    assert any(leaks(answer.content, *values) for answer in usual)
    for by in ("id", "-id", "pk"):
        answers = walk(listing(MaskedKey, by))
        back = walk(listing(MaskedKey, by), "previous", answers[-2].data["next"])
        assert len(answers) == 4
        assert len(back) == 4
        for answer in answers + back:
            assert not leaks(answer.content, *values)
    first = get(listing(MaskedKey))
    assert position(first.data["next"]).startswith(public_id(rows[2]))


@in_one_case("scheme", PRODUCTS)
def test_every_row_once(scheme, django_assert_num_queries):
    model = PRODUCTS[scheme]
    for at in range(10):
        model.objects.create(name=str(at))
    for by in ("id", "-id", "pk"):
        check_pages(model, by, django_assert_num_queries)


def check_pages(model, by, django_assert_num_queries):
    view = listing(model, by)
    expected = list(model.objects.order_by(by).values_list("name", flat=True))
    answers = walk(view)
    assert names(answers) == expected
    assert names(walk(listing(model, by, CursorPagination))) == expected
    back = walk(view, "previous", answers[-2].data["next"])
    assert names(back[::-1]) == expected
    with django_assert_num_queries(1):
        get(view, answers[1].data["next"])
    field = model._meta.pk
    texts = {field.public_text.format(value) for value in model.objects.values_list("pk", flat=1)}
    assert {position(each.data["next"]) for each in answers[:-1]} <= texts


@in_one_case("by", ["whole", "-whole", "whole_id"])
def test_ties(by):
    for at in range(3):
        whole = MaskedKey.objects.create()
        for part in range(5):
            MaskedPart.objects.create(whole=whole, name=f"{at}{part}")
    view = listing(MaskedPart, (by, "id"))
    expected = list(MaskedPart.objects.order_by(by, "id").values_list("name", flat=True))
    answers = walk(view)
    assert names(answers) == expected
    values = MaskedKey.objects.values_list("pk", flat=True)
    assert not any(leaks(answer.content, *values) for answer in answers)


def test_by_a_column_that_is_no_id():
    for at in range(10):
        MaskedKey.objects.create(name=f"{at:02}")
    answers = walk(listing(MaskedKey, "name"))
    assert names(answers) == [f"{at:02}" for at in range(10)]
    assert position(answers[0].data["next"]) == "02"


def test_rows_that_are_dicts():
    for at in range(7):
        MaskedKey.objects.create(name=str(at))
    answers = walk(listing(MaskedKey, queryset=MaskedKey.objects.values("id", "name")))
    assert names(answers) == [*map(str, range(7))]
    values = MaskedKey.objects.values_list("id", flat=True)
    assert not any(leaks(answer.content, *values) for answer in answers)


def test_an_ordering_that_the_request_names():
    for at in range(7):
        MaskedKey.objects.create(name=str(at))
    view = listing(
        MaskedKey, "name", filter_backends=[filters.OrderingFilter], ordering_fields=["id", "name"]
    )
    answers = walk(view, link="/?ordering=-id")
    assert names(answers) == [str(at) for at in range(6, -1, -1)]
    assert position(answers[0].data["next"]).startswith("msk_")


def test_a_cursor_outlives_a_change_of_the_key_and_its_row(settings, django_assert_num_queries):
    value, _text, new_key = misread()
    later = MaskedKey._meta.pk.scheme.from_int(value.int + 1)
    MaskedKey.objects.create(id=value, name="misread")
    MaskedKey.objects.create(id=later, name="later")
    view = listing(MaskedKey)
    text = f"{public_id(MaskedKey.objects.get(pk=value))}"
    link = cursor(keyset.signed(MaskedKey._meta.pk, value))
    assert text in position(link)
    settings.SORTABLE_IDS = {"MASK_KEYS": [new_key, KEY]}
    for _ in range(2):
        with django_assert_num_queries(1):
            assert names([get(view, link)]) == ["later"]
        MaskedKey.objects.filter(name="misread").delete()
    settings.SORTABLE_IDS = {"MASK_KEYS": [new_key]}
    assert get(view, link).status_code == 404


def test_tampered_and_foreign_cursors():
    model = ULIDProduct
    foreign = cursor(keyset.signed(MaskedKey._meta.pk, MaskedKey().pk))
    assert get(listing(model), foreign).status_code == 404
    for encoded in ("x", "%", "cD0", "é", "AAAA"):
        assert get(listing(model), f"/?{urlencode({'cursor': encoded})}").status_code in (200, 404)


def test_nobody_else_makes_a_cursor(settings):
    rows = [MaskedKey.objects.create() for _ in range(3)]
    field = MaskedKey._meta.pk
    signed = keyset.signed(field, rows[0].pk)
    text, _, signature = signed.rpartition(".")
    wrong = [
        *(str(rows[0].pk), rows[0].pk.hex, f"msk_{rows[0].pk}", text, f"{text}.", f"{text}.x"),
        *(f"{signed}.{signature}", f"{text}.{signature.upper()}", f"{rows[0].pk}.{signature}"),
        *(f"msk_{rows[0].pk}.{signature}", f"{uuid.uuid4()}.{signature}", f"{text}.é"),
        *(f"{text.swapcase()}.{signature}", f"{text[4:]}.{signature}", f"{text}.{signature[:-1]}"),
        *(f"{public_id(row)}.{signature}" for row in rows[1:]),
    ]
    for each in wrong:
        answer = get(listing(MaskedKey), cursor(each))
        assert (answer.status_code, answer.data) == (404, {"detail": "Invalid cursor"})
    assert get(listing(MaskedKey), cursor(signed)).status_code == 200
    settings.SORTABLE_IDS = {"MASK_KEYS": [KEY, OTHER]}
    assert get(listing(MaskedKey), cursor(signed)).status_code == 200
    settings.SORTABLE_IDS = {"MASK_KEYS": [OTHER]}
    assert get(listing(MaskedKey), cursor(signed)).status_code == 404


def test_a_cursor_is_of_one_column():
    value = MaskedPart._meta.get_field("code").generate()
    MaskedPart.objects.create(code=value)
    link = cursor(keyset.signed(MaskedPart._meta.get_field("code"), value))
    with isolate_apps("tests.testapp"):
        other = like(MaskedPart._meta.get_field("code"))
        other.contribute_to_class(
            type("Other", (Named,), {"__module__": __name__, "Meta": META}), "a"
        )
    assert get(listing(MaskedPart, "code"), link).status_code == 200
    forged = cursor(keyset.signed(other, value))
    assert get(listing(MaskedPart, "code"), forged).status_code == 404


# Pages by number of a list that is too large to be counted.


class Numbered(PageNumberPagination):
    page_size = 3
    django_paginator_class = type("Own", (SortableIDPaginator,), {"exact_up_to": 12})


def test_page_numbers_of_a_large_table():
    rows = [ULIDProduct.objects.create(name=f"{number:02}") for number in range(30)]
    ordered = ULIDProduct.objects.order_by("id")
    view = listing(ULIDProduct, pagination_class=Numbered, queryset=ordered)
    pages = walk(view)
    assert names(pages) == [row.name for row in rows]
    assert pages[-1].data["count"] == 30
    assert get(view, "/?page=last").data["results"] == pages[-1].data["results"]
    assert get(view, "/?page=11").status_code == 404
