"""Relations to masked ids, in every kind of serializer: no time gets out, public texts get in."""

import json
import uuid

import pytest
from django.urls import path
from rest_framework import serializers
from rest_framework.relations import (
    HyperlinkedIdentityField,
    HyperlinkedRelatedField,
    PrimaryKeyRelatedField,
    SlugRelatedField,
)
from rest_framework.renderers import JSONRenderer
from rest_framework.test import APIRequestFactory

from django_sortable_ids.ids import public_id
from django_sortable_ids.rest_framework import PublicIDField
from tests.combinations import in_one_case
from tests.leaks import leaks
from tests.store.api import serializer_for
from tests.testapp.models import MaskedKey, MaskedPart

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]

V7 = uuid.UUID("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")

urlpatterns = [
    path("keys/<pk>/", lambda request, pk: None, name="maskedkey-detail"),
    path("parts/<pk>/", lambda request, pk: None, name="maskedpart-detail"),
    path("codes/<code>/", lambda request, code: None, name="code-detail"),
]


def rendered(serializer, instance):
    context = {"request": APIRequestFactory().get("/")}
    return JSONRenderer().render(serializer(instance, context=context).data)


class OwnKeyField(PrimaryKeyRelatedField):
    """A subclass, which a project may have."""


class OwnSlugField(SlugRelatedField):
    """Another one."""


class OwnKeySerializer(serializers.ModelSerializer):
    serializer_related_field = OwnKeyField


KEYS, PARTS = MaskedKey.objects.all(), MaskedPart.objects.all()
KEY_FIELD = PublicIDField(MaskedKey._meta.pk, read_only=False)
plain, linked = serializers.ModelSerializer, serializers.HyperlinkedModelSerializer
SHOWN = {
    "key": {"whole": PrimaryKeyRelatedField(queryset=KEYS)},
    "subclass": {"whole": OwnKeyField(queryset=KEYS)},
    "own key field": {"whole": PrimaryKeyRelatedField(queryset=KEYS, pk_field=KEY_FIELD)},
    "key, read": {"whole": PrimaryKeyRelatedField(read_only=True)},
    "key by its source": {"it": PrimaryKeyRelatedField(read_only=True, source="whole")},
    "key by a path": {"it": PrimaryKeyRelatedField(read_only=True, source="other.whole")},
    "slug pk": {"whole": SlugRelatedField("pk", queryset=KEYS)},
    "slug id": {"whole": SlugRelatedField("id", read_only=True)},
    "slug code": {"other": SlugRelatedField("code", queryset=PARTS)},
    "slug subclass": {"other": OwnSlugField("code", queryset=PARTS)},
    "slug path": {"other": SlugRelatedField("whole__id", read_only=True)},
    "link": {"whole": HyperlinkedRelatedField("maskedkey-detail", queryset=KEYS)},
    "link, read": {"whole": HyperlinkedRelatedField("maskedkey-detail", read_only=True)},
    "code": {"other": HyperlinkedRelatedField("code-detail", lookup_field="code", read_only=True)},
    "itself": {"url": HyperlinkedIdentityField("code-detail", lookup_field="code")},
    "read only": {"it": serializers.ReadOnlyField(source="whole_id")},
    "read only path": {"it": serializers.ReadOnlyField(source="other.whole.pk")},
}


@in_one_case("name", SHOWN)
def test_declared_fields_show_public_texts(part, name):
    part.other.whole = part.whole
    declared = SHOWN[name]
    content = rendered(serializer_for(MaskedPart, *declared, **declared), part)
    assert not leaks(content, part.whole.pk, part.code, part.other.code)
    texts = [public_id(row) for row in (part.whole, part, part.other)]
    assert any(text in content.decode() for text in texts)


TAKEN = ["key", "subclass", "own key field", "slug pk", "slug code", "slug subclass", "link"]


@in_one_case("name", TAKEN)
def test_what_declared_fields_take(part, name):
    (relation,) = SHOWN[name]
    row = getattr(part, relation)
    serializer = serializer_for(MaskedPart, relation, **SHOWN[name])
    context = {"request": APIRequestFactory().get("/")}
    wrap = "/keys/{}/".format if name == "link" else str
    taken = serializer(data={relation: wrap(public_id(row))}, context=context)
    assert taken.is_valid(), taken.errors
    assert taken.validated_data == {relation: row}
    gone = type(row)(**{"pk" if relation == "whole" else "code": V7})
    for text in (str(row.pk if relation == "whole" else row.code), public_id(gone), "bad"):
        refused = serializer(data={relation: wrap(text)}, context=context)
        assert not refused.is_valid()
        assert not leaks(json.dumps(refused.errors), V7)


@in_one_case("base", [plain, linked, OwnKeySerializer])
def test_relations_of_other_serializers(part, base):
    shown = ["whole", "other", "code"]
    if base is linked:
        shown += ["url"]
    content = rendered(serializer_for(MaskedPart, *shown, base=base), part)
    assert not leaks(content, part.whole.pk, part.code, part.other.code)
    assert public_id(part.whole) in content.decode()
    shown = ["id", "parts"] + (["url"] if "url" in shown else [])
    content = rendered(serializer_for(MaskedKey, *shown, base=base), part.whole)
    assert not leaks(content, part.whole.pk, part.code)
    assert public_id(part.whole) in content.decode()
