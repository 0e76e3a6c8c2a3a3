"""The forms of django-filter, which the browsable API shows: no time of a masked id gets out."""

import secrets

import django_filters
import pytest
from django import forms
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import serializers
from rest_framework.generics import ListAPIView
from rest_framework.renderers import BrowsableAPIRenderer, JSONRenderer
from rest_framework.test import APIRequestFactory

from django_sortable_ids.filters import register
from django_sortable_ids.ids import public_id
from tests.leaks import leaks
from tests.masks import misread
from tests.store.models import Basket, ULIDProduct
from tests.testapp.models import MaskedKey, MaskedPart

pytestmark = pytest.mark.django_db

KEY = "f0debc9a785634121032547698badcfe"


@pytest.fixture(autouse=True)
def mask_keys(settings):
    settings.SORTABLE_IDS = {"MASK_KEYS": [KEY]}


@pytest.fixture
def part():
    whole = MaskedKey.objects.create()
    other = MaskedPart.objects.create()
    return MaskedPart.objects.create(whole=whole, other=other)


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


def found(filters, **data):
    made = filters(data, queryset=filters.Meta.model.objects.all())
    assert made.is_valid(), made.errors
    return list(made.qs)


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


def test_no_time_in_the_browsable_api(part):
    class Serializer(serializers.ModelSerializer):
        class Meta:
            model = MaskedPart
            fields = ("whole", "other")

    class Listing(ListAPIView):
        queryset = MaskedPart.objects.all()
        serializer_class = Serializer
        filter_backends = (DjangoFilterBackend,)
        filterset_fields = ("whole", "other")
        renderer_classes = (BrowsableAPIRenderer, JSONRenderer)
        authentication_classes = ()

    answer = Listing.as_view()(APIRequestFactory().get("/", HTTP_ACCEPT="text/html")).render()
    assert "<option" in answer.content.decode()
    assert not leaks(answer.content, part.whole.pk, part.other.code, part.code)
    refused = Listing.as_view()(APIRequestFactory().get("/", {"whole": str(part.whole.pk)}))
    assert refused.status_code == 400


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
    value, _, newer = misread(KEY)
    row = MaskedKey.objects.create(id=value)
    part, text = MaskedPart.objects.create(whole=row), public_id(row)
    settings.SORTABLE_IDS = {"MASK_KEYS": [newer, secrets.token_hex(16), KEY]}
    assert found(Parts, whole=text) == found(Parts, several=[text]) == [part]


def test_other_ids_are_offered_by_their_values():
    class Baskets(django_filters.FilterSet):
        class Meta:
            model = Basket
            fields = ("ulid", "all_ulid")

    product = ULIDProduct.objects.create()
    page = Baskets({"ulid": product.pk, "all_ulid": [product.pk]}).form.as_p()
    assert page.count(f'<option value="{product.pk}" selected') == 2
    assert public_id(product) not in page


@pytest.mark.parametrize(
    "filter_class", [django_filters.ModelChoiceFilter, django_filters.ModelMultipleChoiceFilter]
)
def test_a_form_field_that_the_project_has_set_is_kept(filter_class, monkeypatch):
    monkeypatch.setattr(filter_class, "field_class", forms.ModelChoiceField)
    register()
    assert filter_class.field_class is forms.ModelChoiceField
