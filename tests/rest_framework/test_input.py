"""What is taken: the public text of a row that exists. Everything else is 400 and says why."""

import json

import pytest
from rest_framework.test import APIClient

from tests.combinations import in_one_case
from tests.malformed import example_of
from tests.store.api import serializer_for
from tests.store.models import (
    PRODUCTS,
    Basket,
    Bundle,
    Profile,
    Refund,
    Review,
    ULIDProduct,
    Voucher,
    id_column,
)

from .support import each_scheme, full_order, text_of, url

pytestmark = pytest.mark.django_db
client = APIClient()

HALF_A_PAIR = "\ud83d"
"""A surrogate without its other half: JSON can spell it, UTF-8 can't."""


def post(name, data):
    return client.post(url(name), data, format="json")


def messages(part):
    """All messages of a refusal, whatever they are nested in."""
    if isinstance(part, str):
        return [part]
    if not isinstance(part, dict | list):
        assert part.status_code == 400, part.content
        part = part.json()
    inner = part.values() if isinstance(part, dict) else part
    return [message for each in inner for message in messages(each)]


@each_scheme
def test_a_number_is_refused_and_a_string_asked_for(scheme):
    product = PRODUCTS[scheme].objects.create()
    for number in (product.pk if isinstance(product.pk, int) else 12, 1.5):
        refused = post("basket", {"name": "new", scheme: number})
        what, advice = messages(refused)
        assert "Expected a text such as" in what
        assert advice == "Send the id as a string: JavaScript rounds large numbers in JSON."


@each_scheme
def test_a_foreign_key_and_a_many_to_many_relation_come_in_as_they_go_out(scheme):
    first, second = (PRODUCTS[scheme].objects.create() for _ in range(2))
    given = {"name": "new", scheme: text_of(first), f"all_{scheme}": [text_of(second)]}
    created = post("basket", given)
    assert created.status_code == 201, created.content
    basket = Basket.objects.get()
    assert getattr(basket, scheme) == first
    assert list(getattr(basket, f"all_{scheme}").all()) == [second]
    assert created.json() | given == created.json()
    again = client.put(url("basket", text_of(basket)), created.json(), format="json")
    assert (again.status_code, again.json()) == (200, created.json())


@each_scheme
def test_a_relation_to_another_unique_id_comes_in_as_it_goes_out(scheme):
    order, other = full_order(), full_order()
    created = post("refund", {"name": "new", scheme: text_of(other, scheme)})
    assert created.status_code == 201, created.content
    assert getattr(Refund.objects.get(), scheme) == other != order
    assert created.json()[scheme] == text_of(other, scheme)


@each_scheme
def test_a_hyperlink_comes_in_as_it_goes_out(scheme):
    product = PRODUCTS[scheme].objects.create()
    link = f"http://testserver{url(product._meta.model_name, text_of(product))}"
    created = post("linked-basket", {"name": "new", scheme: link, f"all_{scheme}": [link]})
    assert created.status_code == 201, created.content
    assert getattr(Basket.objects.get(), scheme) == product
    assert (created.json()[scheme], created.json()[f"all_{scheme}"]) == (link, [link])


def refusals(answer, names):
    """The one message for each of the names, all in one line."""
    assert answer.status_code == 400, answer.content
    assert set(answer.json()) == set(names)
    return {name: " ".join(messages(answer.json()[name])) for name in names}


@each_scheme
def test_an_unknown_id_is_refused_as_it_was_given(scheme):
    product, order = PRODUCTS[scheme].objects.create(), full_order()
    key, text = text_of(product), text_of(order, scheme)
    product.delete()
    order.delete()
    for data in ({scheme: key}, {f"all_{scheme}": [key]}):
        (message,) = messages(post("basket", data))
        assert message == f'Invalid pk "{key}" - object does not exist.'
    (message,) = messages(post("refund", {scheme: text}))
    assert message == f"Object with {scheme}={text} does not exist."


@each_scheme
def test_a_malformed_hyperlink_is_refused(scheme):
    model = PRODUCTS[scheme]
    product = model.objects.create()
    route = url(model._meta.model_name)
    unknown = f"{route}{text_of(product)}/"
    product.delete()
    for link in ("x", "http://", f"{route}x", route, url("basket", "x"), unknown, "\x00"):
        assert messages(post("linked-basket", {scheme: link}))
    (message,) = messages(post("linked-basket", {scheme: f"{route}x/"}))
    assert example_of(id_column(model)) in message


NO_URLS = ["http://[", "https://[::1", "http://\ud800/", HALF_A_PAIR, "/%ff%fe", "http:\n"]


@in_one_case("link", NO_URLS)
def test_what_is_no_url_is_refused(link):
    for scheme, model in PRODUCTS.items():
        route = url(model._meta.model_name)
        texts = (link, f"{route}{link}/", f"http://testserver{route}{link}/")
        for data in ({scheme: text, f"all_{scheme}": [text]} for text in texts):
            body = json.dumps(data)
            answer = client.post(url("linked-basket"), body, content_type="application/json")
            assert set(refusals(answer, data)) == set(data)


def test_a_relation_to_a_key_that_is_a_relation():
    product, bundle = ULIDProduct.objects.create(), Bundle.objects.create()
    profile = Profile.objects.create(product=product)
    serializer = serializer_for(Review, "profile", "bundle")
    given = {"profile": text_of(product), "bundle": f"prod_{bundle.pk}"}
    filled = serializer(data=given)
    assert filled.is_valid(), filled.errors
    review = filled.save()
    assert (review.profile, review.bundle) == (profile, bundle)
    for wrong in (product.pk, "x", 1, f"ord_{product.pk}"):
        refused = serializer(data={"profile": wrong, "bundle": wrong})
        assert not refused.is_valid()
        assert set(refused.errors) == {"profile", "bundle"}


def test_the_row_of_a_key_that_is_a_relation_is_made_from_the_text():
    product = ULIDProduct.objects.create()
    filled = serializer_for(Profile)(data={"product": text_of(product), "name": "new"})
    assert filled.is_valid(), filled.errors
    assert filled.save().product == product
    assert not serializer_for(Profile)(data={"product": product.pk}).is_valid()


def test_a_partial_update_leaves_the_other_ids_alone():
    products = [ULIDProduct.objects.create() for _ in range(2)]
    basket = Basket.objects.create(ulid=products[0])
    basket.all_ulid.set(products)
    route = url("basket", text_of(basket))
    answer = client.patch(route, {"name": "new"}, format="json")
    assert (answer.status_code, answer.json()["ulid"]) == (200, text_of(products[0]))
    answer = client.patch(route, {"ulid": text_of(products[1])}, format="json")
    assert answer.json()["ulid"] == text_of(products[1])
    assert answer.json()["name"] == "new"
    assert len(answer.json()["all_ulid"]) == 2
    assert client.patch(route, {"ulid": "x"}, format="json").status_code == 400
    basket.refresh_from_db()
    assert (basket.name, basket.ulid) == ("new", products[1])


def test_a_unique_id_that_clients_may_set():
    text = example_of(id_column(Voucher, "code"))
    created = post("voucher", {"name": "new", "code": text})
    assert (created.status_code, created.json()["code"]) == (201, text)
    assert Voucher.objects.get().code == text.removeprefix("code_")
    (message,) = messages(post("voucher", {"name": "second", "code": text}))
    assert "already exists" in message
    for wrong in ("x", f"vou_{text}", 1, [text]):
        message, *_ = messages(post("voucher", {"code": wrong}))
        assert text in message
    again = client.put(url("voucher", created.json()["id"]), created.json(), format="json")
    assert (again.status_code, again.json()) == (200, created.json())
    for nothing in ({}, {"code": None}):
        assert post("voucher", nothing).json()["code"].startswith("code_")
