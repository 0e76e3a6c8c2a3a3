"""A plain masked text that came as a ``uuid.UUID``, as ``<uuid:pk>`` gives it: the row is found."""

import uuid

import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Value
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from django.views.generic import DetailView
from rest_framework.generics import RetrieveAPIView
from rest_framework.serializers import ModelSerializer

from django_sortable_ids.ids import public_id
from django_sortable_ids.rest_framework import SortableIDLookupMixin
from tests.leaks import leaks
from tests.masks import misread
from tests.testapp.models import MaskedKey, MaskedPart

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]

OLD = "f0debc9a785634121032547698badcfe"


class Page(DetailView):
    model = MaskedPart
    slug_field = slug_url_kwarg = "code"

    def render_to_response(self, context, **kwargs):
        return HttpResponse(context["object"].name)


class Row(ModelSerializer):
    class Meta:
        model = MaskedPart
        fields = ("name",)


class Retrieve(SortableIDLookupMixin, RetrieveAPIView):
    queryset = MaskedPart.objects.all()
    serializer_class = Row
    lookup_field = "code"


urlpatterns = [
    path("uuid/<uuid:code>/", Page.as_view()),
    path("str/<str:code>/", Page.as_view()),
    path("rest/<uuid:code>/", Retrieve.as_view()),
]


@pytest.fixture(params=[1, 2])
def row(request, settings):
    """A row whose text a newer key misreads, where there is one, and that text."""
    value, text, newer = misread(OLD)
    settings.SORTABLE_IDS = {"MASK_KEYS": [newer, OLD][-request.param :]}
    return MaskedPart.objects.create(code=value, name="row"), uuid.UUID(text)


def test_every_url_takes_the_public_text(row):
    _, text = row
    for start in ("uuid", "str", "rest"):
        assert b"row" in Client().get(f"/{start}/{text}/").content
        assert Client().get(f"/{start}/{uuid.uuid4()}/").status_code == 404


def test_no_bare_value_is_taken_where_none_was(row):
    assert Client().get(f"/rest/{row[0].code}/").status_code == 404


def test_lookups_and_values(row, django_assert_num_queries):
    part, text = row
    with django_assert_num_queries(2):
        assert MaskedPart.objects.get(code=text) == part
        assert MaskedPart.objects.get(code__in=[text, uuid.uuid4()]) == part
    given = Value(text, MaskedPart._meta.get_field("code"))
    assert MaskedPart.objects.get(code=given) == MaskedPart.objects.get(code=part.code) == part
    made = MaskedPart.objects.create(other_id=text)
    assert MaskedPart.objects.get(other=text) == MaskedPart.objects.get(other__in=[text]) == made
    assert MaskedPart.objects.get(pk=made.pk).other == part
    assert MaskedPart._meta.get_field("code").to_python(text) == part.code
    assert not MaskedPart.objects.filter(code=uuid.uuid4()).exists()


def test_a_form_shows_what_it_was_given(row):
    part, text = row
    form_class = forms.modelform_factory(MaskedPart, fields=["other", "code"])
    form = form_class(initial={"other": text, "code": text})
    assert f'<option value="{public_id(part)}" selected>' in form.as_p()
    assert f'value="{text}"' in str(form["code"])
    assert not leaks(form.as_p(), part.code)
    unknown = form_class(initial={"other": uuid.uuid4(), "code": uuid.uuid1()})
    assert "selected" not in unknown.as_p()


def test_messages_and_texts(row):
    unknown = uuid.uuid4()
    with pytest.raises(ValidationError) as refused:
        MaskedPart._meta.get_field("other").validate(unknown, None)
    assert str(unknown) in str(refused.value)
    assert str(unknown) in repr(MaskedKey._meta.pk.public_text.shown(unknown))
