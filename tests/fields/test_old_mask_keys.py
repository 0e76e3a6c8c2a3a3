"""Ids that were shown under an older mask key are found on every path, as a text, and as the
``uuid.UUID`` that ``<uuid:pk>`` makes of a plain one.
"""

import json
import secrets
import uuid

import pytest
from django import forms
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import models
from django.db.models import Count, F, Q, Value
from django.http import HttpResponse
from django.test import Client
from django.test.utils import isolate_apps
from django.urls import path
from django.views.generic import DetailView
from rest_framework.generics import RetrieveAPIView
from rest_framework.serializers import ModelSerializer
from rest_framework.viewsets import ModelViewSet

from django_sortable_ids.fields.public import Candidates
from django_sortable_ids.forms import PublicModelChoiceField, PublicModelMultipleChoiceField
from django_sortable_ids.ids import public_id, resolve
from django_sortable_ids.rest_framework import SortableIDLookupMixin
from django_sortable_ids.schemes import get
from django_sortable_ids.schemes.mask import MaskKey, mask
from tests.leaks import leaks
from tests.marks import own_tables
from tests.masks import KEY, facade, misread
from tests.own_tables import tables
from tests.testapp.models import MaskedKey, MaskedPart, Named, like

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]

ID, CODE = MaskedKey._meta.pk, MaskedPart._meta.get_field("code")


def text_of(value, key):
    """What a server with that key showed for a key of ``MaskedKey``; for a ``MaskedPart.code``,
    whose public text is a plain UUID, that is ``facade``.
    """
    number = mask(value.int, MaskKey.from_hex(key))
    return f"msk_{get('uuid7').text_form('base32').format(number)}"


@pytest.fixture(autouse=True)
def shown(settings):
    """Ids, which no row has yet, with the texts that the oldest key has shown. The newest key reads
    that of the first one as an id of our days, too.
    """
    misleading, _, newest = misread()
    settings.SORTABLE_IDS = {"MASK_KEYS": [newest, secrets.token_hex(16), KEY]}
    values = [misleading, *(get("uuid7").generate() for _ in range(3))]
    return {value: text_of(value, KEY) for value in values}


@pytest.fixture
def rows(shown):
    """As ``shown``: each is the id of a ``MaskedKey``, and the code of its part."""
    MaskedKey.objects.bulk_create(MaskedKey(id=value) for value in shown)
    MaskedPart.objects.bulk_create(MaskedPart(whole_id=value, code=value) for value in shown)
    return shown


# Lookups


def conditions(text, code):
    """The ways to a key and to a part of it, by the text of the key, and by its code; first, how
    many queries each takes. A bound and an expression are one value, which is looked for first.
    """
    yield from (
        (1, MaskedKey, {"pk": text}),
        (1, MaskedKey, {"pk__in": [text]}),
        (1, MaskedKey, {"pk__pasted": text}),
        (3, MaskedKey, {"pk__gte": text, "pk__lte": text}),
        (3, MaskedKey, {"pk__range": (text, text)}),
        (3, MaskedKey, {"pk": Value(text, ID)}),
        (1, MaskedKey, {"parts__whole": text}),
        (3, MaskedKey, {"parts__whole__gte": text, "parts__whole__lte": text}),
        (1, MaskedPart, {"whole": text}),
        (1, MaskedPart, {"whole_id__in": [text]}),
        (1, MaskedPart, {"whole__pk__in": [text]}),
        (1, MaskedPart, {"whole": MaskedKey(pk=text)}),
        (1, MaskedPart, {"whole__in": [MaskedKey(pk=text), "bad"]}),
        (3, MaskedPart, {"whole__gte": MaskedKey(pk=text), "whole__lte": text}),
    )
    for given in (code, uuid.UUID(code)):
        yield from (
            (1, MaskedPart, {"code": given}),
            (1, MaskedPart, {"code__in": [given, uuid.uuid4()]}),
            (3, MaskedPart, {"code": Value(given, CODE)}),
        )


def test_every_lookup_finds_the_row_and_nothing_else(rows, django_assert_max_num_queries):
    for value, text in rows.items():
        for queries, model, given in conditions(text, facade(value, KEY)):
            own = "pk" if model is MaskedKey else "code"
            with django_assert_max_num_queries(queries):
                assert getattr(model.objects.get(**given), own) == value, given
            assert not model.objects.filter(**{own: value}).exclude(**given).exists(), given
        assert not MaskedPart.objects.filter(whole__gt=text, whole__lte=text).exists()
        assert list(MaskedKey.objects.in_bulk([text])) == [value]
        assert resolve(text).fetch().pk == value
    mixed = MaskedKey.objects.filter(pk__in=[text, F("id")])
    assert mixed.count() == len(rows)
    total = MaskedPart.objects.aggregate(n=Count("pk", filter=Q(whole=text)))
    assert total == {"n": 1}
    assert not MaskedPart.objects.filter(code=uuid.uuid4()).exists()


# Values that are written


def test_relations_take_the_row_that_there_is(rows, tmp_path):
    part = MaskedPart.objects.create()
    for value, text in rows.items():
        part.whole_id = text
        part.save()
        assert part.whole.pk == MaskedPart.objects.get(pk=part.pk).whole_id == value
        part.clean_fields(exclude=["name", "other"])
        assert part.whole_id == value
        for code in (facade(value, KEY), uuid.UUID(facade(value, KEY))):
            made = MaskedPart.objects.create(other_id=code)
            assert MaskedPart.objects.get(pk=made.pk).other_id == value
            assert MaskedPart.objects.get(other=code) == made
            assert MaskedPart.objects.get(other__in=[code]) == made
            made.delete()
    (first, text), (second, other_text), *_ = rows.items()
    MaskedPart.objects.filter(pk=part.pk).update(whole=text)
    assert MaskedPart.objects.get(pk=part.pk).whole_id == first
    MaskedPart.objects.bulk_create([MaskedPart(whole_id=other_text)])
    assert MaskedPart.objects.filter(whole_id=second).count() == 2
    MaskedPart.objects.all().delete()
    file = tmp_path / "parts.json"
    parts = (
        {"model": "testapp.maskedpart", "fields": {"whole": text, "code": str(value)}}
        for value, text in rows.items()
    )
    file.write_text(json.dumps([*parts]))
    call_command("loaddata", file, verbosity=0)
    assert set(MaskedPart.objects.values_list("whole_id", flat=True)) == set(rows)


# Pages


class Page(DetailView):
    model = MaskedPart
    slug_field = slug_url_kwarg = "code"

    def render_to_response(self, context, **kwargs):
        return HttpResponse(context["object"].name)


class Part(ModelSerializer):
    class Meta:
        model = MaskedPart
        fields = ("whole", "other", "code")
        read_only_fields = ("code",)


class PlainKey(ModelSerializer):
    class Meta:
        model = MaskedKey
        fields = ("name",)


class PlainKeys(ModelViewSet):
    queryset = MaskedKey.objects.all()
    serializer_class = PlainKey


class Retrieve(SortableIDLookupMixin, RetrieveAPIView):
    queryset = MaskedPart.objects.all()
    serializer_class = Part
    lookup_field = "code"


class Keys(SortableIDLookupMixin, PlainKeys):
    pass


urlpatterns = [
    path("uuid/<uuid:code>/", Page.as_view()),
    path("str/<str:code>/", Page.as_view()),
    path("rest/<uuid:code>/", Retrieve.as_view()),
    path("rest-str/<str:code>/", Retrieve.as_view()),
    path("keys/<str:pk>/", Keys.as_view({"get": "retrieve"})),
    path("plain-keys/<str:pk>/", PlainKeys.as_view({"get": "retrieve"})),
]


def status_of(url):
    return Client().get(url).status_code


def test_every_url_takes_the_public_text(rows):
    for value, text in rows.items():
        for start in ("uuid", "str", "rest", "rest-str"):
            assert status_of(f"/{start}/{facade(value, KEY)}/") == 200
            assert status_of(f"/{start}/{uuid.uuid4()}/") == 404
        for start in ("keys", "plain-keys"):
            assert status_of(f"/{start}/{text}/") == 200
        # A REST view that takes public texts only doesn't take the bare id.
        for bare in (value, f"msk_{value}", ID.scheme.format(value, "base32")):
            assert status_of(f"/keys/{bare}/") == 404
        for bare in (value, ID.scheme.format(value, "base32")):
            assert status_of(f"/rest-str/{bare}/") == 404
        assert status_of(f"/rest/{value}/") == 404


def test_a_serializer_takes_old_texts_and_shows_present_ones(rows):
    for value, text in rows.items():
        serializer = Part(data={"whole": text, "other": facade(value, KEY)})
        assert serializer.is_valid(), serializer.errors
        found = serializer.validated_data
        assert (found["whole"].pk, found["other"].code) == (value, value)
        shown = Part(MaskedPart.objects.get(code=value)).data
        assert shown["whole"] == public_id(found["whole"]) != text


class Chosen(forms.Form):
    one = PublicModelChoiceField(MaskedKey.objects.all(), required=False)
    several = PublicModelMultipleChoiceField(MaskedKey.objects.all(), required=False)
    name = forms.CharField()


def test_a_form_that_is_shown_again_keeps_what_was_chosen_before_the_key_was_changed(rows):
    for value, text in rows.items():
        form = Chosen({"one": text, "several": [text, "wrong"]})
        assert not form.is_valid()
        option = f'<option value="{public_id(MaskedKey.objects.get(pk=value))}" selected>'
        assert option in str(form["one"])
        assert option in str(form["several"])
    bare = Chosen({"one": str(value), "several": [str(value)]})
    assert "selected" not in str(bare["several"])
    assert not leaks(str(bare["one"]), value)


def test_a_form_shows_what_it_was_given(rows):
    form_class = forms.modelform_factory(MaskedPart, fields=["other", "code"])
    for value in rows:
        given = uuid.UUID(facade(value, KEY))
        form = form_class(initial={"other": given, "code": given})
        text = public_id(MaskedPart.objects.get(code=value))
        assert f'<option value="{text}" selected>' in form.as_p()
        assert f'value="{given}"' in str(form["code"])
        assert not leaks(form.as_p(), value)
    unknown = form_class(initial={"other": uuid.uuid4(), "code": uuid.uuid1()})
    assert "selected" not in unknown.as_p()


def test_candidates_are_not_shown(shown):
    candidates = Candidates(tuple(shown))
    assert not leaks(f"{candidates!r} {candidates} {ID.invalid(candidates)}", *shown)


# Relations to many


@pytest.fixture
def shop():
    """A tag, a thing with tags, and the model through which it has listed ones."""
    with isolate_apps("tests.testapp"):

        class Tag(Named):
            id = like(ID)

        class Thing(Named):
            tags = models.ManyToManyField(Tag)
            listed = models.ManyToManyField(Tag, through="Listing", related_name="listing_things")

        class Listing(Named):
            thing = models.ForeignKey(Thing, models.CASCADE)
            tag = models.ForeignKey(Tag, models.CASCADE)

            class Meta:
                app_label = "testapp"
                constraints = (models.UniqueConstraint(fields=["thing", "tag"], name="once"),)

        with tables(Tag, Thing, Listing):
            yield Tag, Thing, Listing


@own_tables
@pytest.mark.parametrize("name", ["tags", "listed"])
def test_relations_to_many_take_old_texts(shop, shown, name):
    tag, thing, listing = shop
    kept, texts = [tag(id=value) for value in shown], list(shown.values())
    tag.objects.bulk_create(kept)
    manager = getattr(thing.objects.create(), name)
    through = manager.through.objects.order_by("pk")

    manager.add(*texts[:2])
    assert set(manager.all()) == set(kept[:2])
    listing.objects.update(name="mine")
    before = list(through.values())
    manager.add(*texts[:2], kept[0])
    manager.set(texts[:2])
    assert list(through.values()) == before
    manager.set([texts[1], kept[2]])
    assert set(manager.all()) == {kept[1], kept[2]}
    manager.remove(texts[1])
    assert list(manager.all()) == [kept[2]]
    manager.set([texts[0], texts[3]], clear=True)
    assert set(manager.all()) == {kept[0], kept[3]}
    manager.clear()
    assert not manager.exists()
    with pytest.raises(ValidationError, match="bad"):
        manager.add("bad")
