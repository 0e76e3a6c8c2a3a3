"""Half of a surrogate pair, which JSON can spell and UTF-8 can't, in a plain serializer: 400."""

import pytest
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.test import APIRequestFactory

from django_sortable_ids.rest_framework import SortableIDModelSerializer
from tests.combinations import each_with, in_one_case
from tests.store.models import PRODUCTS, Basket, Refund

from .support import url

pytestmark = pytest.mark.django_db

HALVES = ("\ud83d", "\udfff", "prod_\udfff", "\ud800" * 5, {"a": "\ud800"}, ["\ud800"])
LINKED = type("Linked", (SortableIDModelSerializer, serializers.HyperlinkedModelSerializer), {})


def errors(base, of, shown, data):
    """The answer to data that is refused, as it is sent."""

    class Refused(base):
        class Meta:
            model = of
            fields = shown

    context = {"request": APIRequestFactory().get("/")}
    serializer = Refused(data=data, context=context)
    assert not serializer.is_valid()
    assert JSONRenderer().render(serializer.errors)
    return serializer.errors


@in_one_case(
    ("base", "half"),
    each_with(
        [
            serializers.ModelSerializer,
            serializers.HyperlinkedModelSerializer,
            SortableIDModelSerializer,
            LINKED,
        ],
        HALVES,
    ),
)
def test_every_relation_refuses_it(base, half):
    one, several = tuple(PRODUCTS), tuple(f"all_{name}" for name in PRODUCTS)
    given = dict.fromkeys(one, half) | {name: [half] for name in several}
    assert set(errors(base, Basket, one + several, given)) == set(given)
    given = dict.fromkeys(one, half)
    assert set(errors(base, Refund, one, given)) == set(given)


@pytest.mark.parametrize("base", [serializers.HyperlinkedModelSerializer, LINKED])
def test_a_link_with_one_is_refused(base):
    given = {"ulid": url("ulidproduct", "prod_\ud83d"), "uuid7": "http://x/\ud83d"}
    assert set(errors(base, Basket, tuple(given), given)) == set(given)


def test_it_is_shown_by_its_number():
    (message,) = errors(serializers.ModelSerializer, Basket, ("ulid",), {"ulid": "é\ud83d"})["ulid"]
    assert message.startswith("“é\\ud83d” is not a valid ULID.")
