"""From an id in any spelling, or an old one, to the present key."""

import uuid

import pytest
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F
from django.urls import include, path
from django.utils.functional import SimpleLazyObject, lazystr
from rest_framework.relations import (
    HyperlinkedRelatedField,
    PrimaryKeyRelatedField,
    SlugRelatedField,
)
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import Serializer
from rest_framework.test import APIRequestFactory

from django_sortable_ids.ids import public_id
from django_sortable_ids.old_ids import Key, old_key_field, old_row, resolve_id, resolve_ids
from django_sortable_ids.rest_framework import AcceptOldIDs
from tests.combinations import in_one_case
from tests.fields.test_value_kinds import Int64
from tests.malformed import WRONG_TYPES
from tests.masks import KEY, misread
from tests.store.api import serializer_for, viewset_for
from tests.testapp.models import MaskedKey

from .models import (
    Country,
    Device,
    Gift,
    IntegerUser,
    Parcel,
    Purchase,
    Receipt,
    Secret,
    Unmoved,
    Unrelated,
)
from .test_views import OLD, moved

pytestmark = pytest.mark.django_db
OLD_UUID = uuid.UUID("8f14e45f-ceea-467f-aa0b-6f2f8f1b0d3c")
NO_IDS = [
    *("", "x", "é", "17x", "1.5", "+17", " 17", "1_7", "१७", "\0", "17\0", "\ud800", "9" * 5000),
    *(each for each in WRONG_TYPES if isinstance(each, bool) or not isinstance(each, int)),
    *(None, b"17", 10**6000, -(10**6000), 2**63, str(2**63), F("pk")),
]


def test_the_field_with_the_old_key():
    assert old_key_field(Purchase) is Purchase._meta.get_field("old_id")
    assert old_key_field(Country) is Country._meta.get_field("old_code")
    assert old_key_field(Gift) is old_key_field(Receipt) is old_key_field(Purchase)
    for model in (Unmoved, Unrelated, IntegerUser):
        assert old_key_field(model) is None


@in_one_case(
    ("model", "old", "spellings"),
    [
        (Purchase, 17, [17, "17", "017", Int64(17), lazystr("17"), SimpleLazyObject(lambda: 17)]),
        (Purchase, -3, [-3, "-3"]),
        (Purchase, 2**63 - 1, [2**63 - 1, str(2**63 - 1)]),
        (Parcel, 17, [17, "17"]),
        (Device, OLD_UUID, [OLD_UUID, str(OLD_UUID), OLD_UUID.hex, f"{{{OLD_UUID}}}"]),
        (Secret, OLD_UUID, [OLD_UUID, str(OLD_UUID)]),
        (Country, "nl", ["nl"]),
        (Country, "17", ["17"]),
    ],
)
def test_an_old_key_in_every_spelling(model, old, spellings, django_assert_num_queries):
    row = model.objects.create(**{old_key_field(model).name: old})
    model.objects.create()
    for spelling in spellings:
        with django_assert_num_queries(1):
            assert resolve_id(model, spelling) == row.pk
        assert old_row(model.objects.all(), spelling) == row


def test_an_old_text_is_compared_as_the_database_compares_it():
    row = Country.objects.create(old_code="nl")
    other = Country.objects.create(old_code="be")
    for spelling in ("NL", "nl "):
        same = Country.objects.filter(old_code=spelling).first()
        expected = {"be": other.pk} | ({spelling: row.pk} if same else {})
        assert resolve_ids(Country, ["be", spelling]) == expected
        assert old_row(Country.objects.all(), spelling) == same


def test_an_old_key_of_any_length_is_a_text():
    key = Key("old_id", models.TextField(null=True, unique=True))
    assert key.values("a-note") == ("a-note",)


@in_one_case("model", [Purchase, Device, Country, Unmoved, Gift])
def test_a_present_id_needs_no_query(model, django_assert_num_queries):
    row = model.objects.create(name="found")
    texts = [str(row.pk)] if model is Unmoved else [public_id(row), str(row.pk)]
    if model is Country:
        texts = []  # any text may be the old code
    with django_assert_num_queries(0):
        for spelling in (row.pk, *texts):
            assert resolve_id(model, spelling) == row.pk


def test_a_present_id_that_may_be_an_old_one_needs_one_query(django_assert_max_num_queries):
    for model in (Parcel, Country, Secret):
        row = model.objects.create()
        for spelling in (str(row.pk), public_id(row)):
            with django_assert_max_num_queries(1):
                assert resolve_id(model, spelling) == row.pk


@in_one_case("model", [MaskedKey, Secret])
def test_a_masked_text_that_one_of_several_keys_has_masked(model, settings):
    value, _, newer = misread()
    settings.SORTABLE_IDS = {"MASK_KEYS": [KEY]}
    text = model._meta.pk.public_text.format(value)
    settings.SORTABLE_IDS = {"MASK_KEYS": [newer, KEY]}
    likeliest = model._meta.pk.public_text.candidates(text)[0]
    if model is MaskedKey:
        assert resolve_id(model, text) == likeliest != value
    model.objects.create(pk=value)
    assert resolve_id(model, text) == value


@in_one_case("model", [Purchase, Parcel, Device, Secret, Country, Receipt])
def test_an_unknown_old_id(model):
    unknown = OLD_UUID if model in (Device, Secret) else "17"
    with pytest.raises(model.DoesNotExist, match="no row with the id"):
        resolve_id(model, unknown)
    assert resolve_ids(model, [unknown]) == {}
    assert old_row(model.objects.all(), unknown) is None


@in_one_case("model", [Purchase, Parcel, Device, Secret, Unrelated, Unmoved, Gift])
def test_what_is_no_id_at_all(model, django_assert_num_queries):
    with django_assert_num_queries(0):
        for wrong in NO_IDS:
            if model is Parcel and wrong in (2**63, str(2**63)):
                continue  # may be read as an id, which no column holds
            with pytest.raises(ValidationError):
                resolve_id(model, wrong)
            assert model is Unmoved or old_row(model.objects.all(), wrong) is None


def test_many_ids_take_one_query(django_assert_num_queries):
    first, second, new = (Parcel.objects.create(old_id=old) for old in (1, 2, None))
    given = [1, "2", "3", new.pk, str(first.pk)]
    with django_assert_num_queries(1):
        found = resolve_ids(Parcel, given)
    assert found == {1: first.pk, "2": second.pk, new.pk: new.pk, str(first.pk): first.pk}
    with django_assert_num_queries(0):
        assert resolve_ids(Parcel, []) == {}
    with pytest.raises(ValidationError):
        resolve_ids(Parcel, [1, "x"])
    with pytest.raises(TypeError, match="found the text '12': use resolve_id"):
        resolve_ids(Parcel, "12")


def test_only_the_given_rows_are_searched():
    row = Purchase.objects.create(old_id=17, name="secret")
    others = Purchase.objects.exclude(name="secret")
    with pytest.raises(Purchase.DoesNotExist):
        resolve_id(others, 17)
    assert old_row(others, 17) is None
    assert resolve_id(Purchase.objects, 17) == resolve_id(Purchase.objects.all(), 17) == row.pk


def test_a_key_that_is_a_relation():
    gift = Gift.objects.create(old_id=17)
    Receipt.objects.create(purchase=gift)
    assert resolve_id(Gift, "17") == resolve_id(Receipt, "17") == gift.pk
    assert old_row(Gift.objects.all(), "17") == gift
    assert old_row(Receipt.objects.all(), 17).pk == gift.pk


def test_a_model_without_sortable_ids():
    assert resolve_id(IntegerUser, "17") == 17
    assert old_row(IntegerUser.objects.all(), "17") is None
    with pytest.raises(ValidationError, match=r"“x” is no id of old_ids\.IntegerUser"):
        resolve_id(IntegerUser, "x")


# Old ids in the input of serializers that accept them.


WRONG = (18, "18", "x", "\0", None, True, [], {}, "/purchase/18/", "http://[")
router = SimpleRouter()
for each in OLD:
    router.register(
        each._meta.model_name,
        viewset_for(serializer_for(each, "name")),
        basename=each._meta.model_name,
    )
urlpatterns = [path("", include(router.urls))]


def relations(model):
    """Each kind of relation with such rows, and what stands for one in its input."""
    rows, name = model.objects.exclude(name="hidden"), model._meta.model_name
    key = SlugRelatedField(queryset=rows, slug_field=model._meta.pk.name)
    link = HyperlinkedRelatedField(queryset=rows, view_name=f"{name}-detail")
    yield PrimaryKeyRelatedField(queryset=rows), str
    yield key, str
    yield link, lambda given: f"/{name}/{given}/"


def form(relation, *bases):
    return type("Form", (*bases, Serializer), {"row": relation, "Meta": None})


def read(cls, given):
    made = cls(data={"row": given}, context={"request": APIRequestFactory().get("/")})
    return made.validated_data["row"] if made.is_valid() else None


@pytest.mark.urls(__name__)
@in_one_case("model", [each for each in OLD if each._meta.model_name != "gift"])
def test_relations_accept_old_ids_on_demand(model):
    row = moved(model)
    for relation, shown in relations(model):
        accepting = form(relation, AcceptOldIDs)
        assert read(accepting, shown(OLD[model])) == row, relation
        assert read(accepting, shown(public_id(row))) == row, relation
        assert read(form(relation), shown(OLD[model])) is None, relation
        for wrong in WRONG:
            assert read(accepting, wrong) is None, (relation, wrong)


@pytest.mark.urls(__name__)
def test_rows_outside_of_the_queryset_are_not_found():
    moved(Purchase, "hidden")
    for relation, shown in relations(Purchase):
        assert read(form(relation, AcceptOldIDs), shown(17)) is None


def test_another_column_than_the_key_takes_no_old_id():
    moved(Purchase)
    relation = SlugRelatedField("name", queryset=Purchase.objects.all())
    assert read(form(relation, AcceptOldIDs), "17") is None


def test_several_rows():
    row, other = moved(Purchase), Purchase.objects.create(name="other")
    relation = PrimaryKeyRelatedField(queryset=Purchase.objects.all(), many=True)
    assert read(form(relation, AcceptOldIDs), [17, public_id(other)]) == [row, other]
    assert read(form(relation, AcceptOldIDs), [17, 18]) is None


def test_a_number_that_is_a_present_id_and_an_old_one():
    present = Parcel.objects.create(name="present")
    Parcel.objects.create(name="old", old_id=present.pk)
    relation = PrimaryKeyRelatedField(queryset=Parcel.objects.all())
    assert read(form(relation, AcceptOldIDs), str(present.pk)) == present
