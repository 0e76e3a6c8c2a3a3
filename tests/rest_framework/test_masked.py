"""Masked ids in the API: no time gets out, and every key's ids get in."""

import uuid

import pytest
from rest_framework.test import APIRequestFactory
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.ids import public_id
from django_sortable_ids.rest_framework import SortableIDLookupMixin, SortableIDModelSerializer
from tests.masks import misread
from tests.testapp.models import MaskedKey, MaskedPart

pytestmark = pytest.mark.django_db

KEYS = ["f0debc9a785634121032547698badcfe", "0123456789abcdeffedcba9876543210"]
requests = APIRequestFactory()


class PartSerializer(SortableIDModelSerializer):
    class Meta:
        model = MaskedPart
        fields = ("name", "code", "whole", "other")


class KeySerializer(SortableIDModelSerializer):
    class Meta:
        model = MaskedKey
        fields = ("id", "name", "parts")
        read_only_fields = ("parts",)


class KeyViews(SortableIDLookupMixin, ModelViewSet):
    queryset = MaskedKey.objects.all()
    serializer_class = KeySerializer


class PartViews(SortableIDLookupMixin, ModelViewSet):
    queryset = MaskedPart.objects.all()
    serializer_class = PartSerializer
    lookup_field = "code"


@pytest.fixture(autouse=True)
def mask_keys(settings):
    settings.SORTABLE_IDS = {"MASK_KEYS": KEYS[:1]}


@pytest.fixture
def part():
    whole = MaskedKey.objects.create(name="a")
    first = MaskedPart.objects.create(whole=whole)
    return MaskedPart.objects.create(whole=whole, other=first)


def get(views, **kwargs):
    response = views.as_view({"get": "retrieve"})(requests.get("/"), **kwargs)
    response.render()
    return response


def post(data):
    response = PartViews.as_view({"post": "create"})(requests.post("/", data, format="json"))
    response.render()
    return response


@pytest.mark.parametrize("name", ["code", "whole"])
def test_the_value_behind_it_is_not_found(part, name):
    views, row = (PartViews, part) if name == "code" else (KeyViews, part.whole)
    field = row._meta.get_field("code" if name == "code" else "id")
    value = getattr(row, field.name)
    for text in (str(value), field.scheme.format(value, "base32"), f"msk_{value}"):
        argument = "code" if name == "code" else "pk"
        assert get(views, **{argument: text}).status_code == 404


def test_ids_of_an_older_key_are_found(part, settings):
    code, whole, other = public_id(part), public_id(part.whole), public_id(part.other)
    settings.SORTABLE_IDS = {"MASK_KEYS": KEYS[::-1]}
    assert public_id(part) != code
    assert get(PartViews, code=code).data["code"] == public_id(part)
    assert get(KeyViews, pk=whole).status_code == 200
    made = post({"name": "b", "code": str(uuid.uuid4()), "whole": whole, "other": other})
    assert made.status_code == 201
    assert MaskedPart.objects.get(name="b").whole == part.whole
    assert MaskedPart.objects.get(name="b").other == part.other


def test_ids_of_an_older_key_that_look_like_those_of_the_newer_one(settings):
    code, text, new_key = misread(KEYS[0])
    row = MaskedPart.objects.create(code=code)
    settings.SORTABLE_IDS = {"MASK_KEYS": [new_key, KEYS[0]]}
    assert get(PartViews, code=text).status_code == 200
    assert post({"code": str(uuid.uuid4()), "other": text, "name": "b"}).status_code == 201
    assert MaskedPart.objects.get(name="b").other == row
