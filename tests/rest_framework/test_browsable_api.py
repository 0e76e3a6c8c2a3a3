"""The pages of the browsable API: they render, and their forms offer public texts."""

import re

import pytest
from rest_framework.test import APIClient

from tests.store.models import PRODUCTS, Order, Refund

from .support import each_scheme, full_basket, full_order, text_of, url

pytestmark = pytest.mark.django_db
client = APIClient()


def page(route, method="get", data=None):
    answer = getattr(client, method)(route, data, headers={"accept": "text/html"})
    assert answer.headers["Content-Type"].startswith("text/html")
    return answer.status_code, answer.content.decode()


def options(content, name):
    """The values that a select offers, and those that it has selected."""
    (select,) = re.findall(rf'<select[^>]* name="{name}".*?</select>', content, re.DOTALL)
    offered = re.findall(r'<option value="([^"]*)"([^>]*)>', select)
    return (
        {value for value, _ in offered if value},
        {value for value, rest in offered if value and "selected" in rest},
    )


@each_scheme
def test_list_and_detail_of_a_product(scheme):
    product = PRODUCTS[scheme].objects.create(name="shown")
    for route in (url(product._meta.model_name), url(product._meta.model_name, text_of(product))):
        status, content = page(route)
        assert status == 200
        assert text_of(product) in content


def test_the_forms_of_relations_offer_public_texts():
    basket = full_basket()
    _, empty = page(url("basket"))
    _, filled = page(url("basket", text_of(basket)))
    for scheme, model in PRODUCTS.items():
        texts = {text_of(product) for product in model.objects.all()}
        assert options(empty, scheme) == options(empty, f"all_{scheme}") == (texts, set())
        assert options(filled, scheme) == (texts, {text_of(getattr(basket, scheme))})
        assert options(filled, f"all_{scheme}") == (texts, texts)


def test_the_forms_of_relations_to_other_ids_offer_public_texts():
    order = full_order()
    refund = Refund.objects.create(**dict.fromkeys(PRODUCTS, order))
    _, content = page(url("refund", str(refund.pk)))
    for scheme in PRODUCTS:
        text = text_of(order, scheme)
        assert options(content, scheme) == ({text}, {text})


def test_the_form_of_an_order_whose_ids_are_missing():
    Order.objects.create(name="old")
    Order.objects.update(**dict.fromkeys(PRODUCTS))
    assert page(url("refund"))[0] == 200
    assert page(url("order-by-ulid"))[0] == 200


def test_a_form_that_is_sent_back_shows_what_was_wrong():
    product = PRODUCTS["ulid"].objects.create()
    status, content = page(url("basket"), "post", {"name": "new", "ulid": product.pk})
    assert status == 400
    assert "such as prod_" in content
    status, content = page(url("basket"), "post", {"ulid": "<script>alert(1)</script>"})
    assert status == 400
    assert "<script>alert" not in content
    status, content = page(url("basket"), "post", {"name": "new", "ulid": text_of(product)})
    assert status == 201
    assert text_of(product) in content


def test_what_options_say():
    answer = client.options(url("voucher"))
    actions = answer.json()["actions"]["POST"]
    assert actions["id"]["read_only"]
    assert not actions["code"]["read_only"]
    assert not actions["code"]["required"]
