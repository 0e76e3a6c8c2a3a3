"""What leaves: always the public text, whichever way an id gets into an answer."""

import json
from types import SimpleNamespace

import pytest
from rest_framework.renderers import JSONRenderer
from rest_framework.serializers import ReadOnlyField, Serializer, SlugRelatedField
from rest_framework.test import APIClient, APIRequestFactory

from tests.store.api import LinkedBasketSerializer, serializer_for
from tests.store.models import PRODUCTS, Basket, Bundle, Order, Profile, Refund, Review, ULIDProduct

from .support import bare_text_of, each_scheme, full_basket, full_order, text_of, url

pytestmark = pytest.mark.django_db
client = APIClient()


def shown(serializer, instance, **options):
    """The JSON of an instance, read back as JavaScript would: numbers are told from text."""
    context = {"request": APIRequestFactory().get("/")}
    data = serializer(instance, context=context, **options).data
    return json.loads(JSONRenderer().render(data))


@each_scheme
def test_own_key(scheme):
    product = PRODUCTS[scheme].objects.create()
    serializer = serializer_for(PRODUCTS[scheme], "id", "pk")
    assert shown(serializer, product) == {"id": text_of(product), "pk": text_of(product)}


def test_the_whole_of_a_row():
    order = full_order()
    expected = {name: text_of(order, name) for name in PRODUCTS}
    expected |= {"id": order.pk, "name": "full", "tenant": ""}
    assert shown(serializer_for(Order), order) == expected


@each_scheme
def test_missing_ids_are_null(scheme):
    full_order()
    Order.objects.update(**{scheme: None})
    order = Order.objects.get()
    assert shown(serializer_for(Order, scheme), order) == {scheme: None}
    assert shown(serializer_for(Basket, scheme), Basket.objects.create()) == {scheme: None}
    assert shown(serializer_for(Refund, scheme), Refund.objects.create()) == {scheme: None}


@each_scheme
def test_a_foreign_key(scheme):
    basket = full_basket()
    product = getattr(basket, scheme)
    serializer = serializer_for(Basket, scheme, f"{scheme}_id")
    for instance in (basket, Basket.objects.get(), Basket.objects.select_related(scheme).get()):
        texts = {scheme: text_of(product), f"{scheme}_id": text_of(product)}
        assert shown(serializer, instance) == texts


def test_what_has_no_id_is_shown_as_always():
    """Rows that lack it, and serializers of something else than models of Django."""
    slug = SlugRelatedField("ulid", read_only=True)
    assert slug.to_representation(Order(ulid=None)) is None
    row = SimpleNamespace(code="x", other=SimpleNamespace(code="y"))
    meta = type("Meta", (), {"model": SimpleNamespace})
    fields = {"code": ReadOnlyField(), "other": SlugRelatedField("code", read_only=True)}
    assert shown(type("Plain", (Serializer,), {"Meta": meta, **fields}), row) == {
        "code": "x",
        "other": "y",
    }
    assert ReadOnlyField().to_representation(5) == 5


@each_scheme
def test_a_many_to_many_relation(scheme):
    basket = full_basket()
    texts = sorted(text_of(product) for product in PRODUCTS[scheme].objects.all())
    serializer = serializer_for(Basket, f"all_{scheme}")
    for rows in (Basket.objects.all(), Basket.objects.prefetch_related(f"all_{scheme}")):
        assert sorted(shown(serializer, rows.get())[f"all_{scheme}"]) == texts
    assert len(texts) == getattr(basket, f"all_{scheme}").count() == 2


@each_scheme
def test_a_foreign_key_to_another_unique_id(scheme):
    order = full_order()
    refund = Refund.objects.create(**{scheme: order})
    serializer = serializer_for(Refund, scheme, f"{scheme}_id")
    for instance in (refund, Refund.objects.get()):
        texts = {scheme: text_of(order, scheme), f"{scheme}_id": text_of(order, scheme)}
        assert shown(serializer, instance) == texts


@each_scheme
def test_nested_rows(scheme):
    basket = full_basket()
    product = getattr(basket, scheme)
    Review.objects.create(basket=basket)
    nested = serializer_for(Basket, scheme, f"all_{scheme}", depth=1)
    everything = shown(nested, basket)
    assert everything[scheme] == {"id": text_of(product), "name": scheme}
    assert {row["id"] for row in everything[f"all_{scheme}"]} == {
        text_of(row) for row in PRODUCTS[scheme].objects.all()
    }
    for depth in (1, 2):
        review = shown(serializer_for(Review, "basket", depth=depth), Review.objects.get())
        inner = review["basket"][scheme]
        assert (inner if depth == 1 else inner["id"]) == text_of(product)


def test_nothing_bare_is_in_the_whole_of_an_answer():
    """Of the schemes whose public text differs from the stored one."""
    basket = full_basket()
    Review.objects.create(basket=basket)
    for scheme in ("comb13", "snowflake"):
        bare = bare_text_of(getattr(basket, scheme))
        for depth in (0, 1, 2):
            for serializer in (
                serializer_for(Review, depth=depth),
                serializer_for(Basket, depth=depth),
                serializer_for(PRODUCTS[scheme], "id", "baskets", "all_baskets", depth=depth),
            ):
                instance = serializer.Meta.model.objects.first()
                assert bare not in json.dumps(shown(serializer, instance))


@each_scheme
def test_hyperlinks(scheme):
    basket = full_basket()
    product = getattr(basket, scheme)
    route = url("linked-basket", text_of(basket))
    answer = client.get(route).json()
    assert answer["url"] == f"http://testserver{route}"
    linked = f"http://testserver{url(product._meta.model_name, text_of(product))}"
    assert answer[scheme] == linked
    assert client.get(linked).json()["name"] == scheme
    assert len(answer[f"all_{scheme}"]) == 2
    assert linked in answer[f"all_{scheme}"]


def test_a_hyperlink_through_another_column():
    order = full_order()
    found = client.get(url("linked-order", text_of(order, "uuid7"))).json()
    assert found["url"] == f"http://testserver{url('order-by-ulid', text_of(order, 'ulid'))}"
    assert client.get(found["url"]).json()["name"] == "full"


def test_hyperlinks_cost_no_query(django_assert_num_queries):
    full_basket()
    meta = LinkedBasketSerializer.Meta
    serializer = serializer_for(
        Basket, "url", *PRODUCTS, base=LinkedBasketSerializer, extra_kwargs=meta.extra_kwargs
    )
    row = Basket.objects.get()
    with django_assert_num_queries(0):
        shown(serializer, row)


def test_keys_that_are_relations():
    product = ULIDProduct.objects.create()
    profile = Profile.objects.create(product=product)
    bundle = Bundle.objects.create()
    Review.objects.create(profile=profile, bundle=bundle)
    assert shown(serializer_for(Profile), profile) == {"product": text_of(product), "name": ""}
    assert shown(serializer_for(Bundle, "id", "pk"), bundle) == {
        "id": f"prod_{bundle.id}",
        "pk": f"prod_{bundle.id}",
    }
    review = Review.objects.get()
    assert shown(
        serializer_for(Review, "profile", "bundle", "profile_id", "bundle_id"), review
    ) == {
        "profile": text_of(product),
        "bundle": f"prod_{bundle.id}",
        "profile_id": text_of(product),
        "bundle_id": f"prod_{bundle.id}",
    }
    assert shown(serializer_for(ULIDProduct, "profile", "bundle"), product) == {
        "profile": text_of(product),
        "bundle": None,
    }
