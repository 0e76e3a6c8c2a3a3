"""django-ninja: ids are public texts in both directions."""

import json
import uuid
from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from django_sortable_ids.packages.pydantic import PublicID

from .shop.data import MALFORMED, MALFORMED_WORDS, bare, public
from .shop.models import Customer, Order, Product

pytestmark = pytest.mark.django_db

URL = "/ninja/"
JSON = "application/json"


def test_ids_of_all_types_leave_as_public_texts(client, ticket):
    (found,) = client.get(f"{URL}tickets").json()
    assert found == {
        "id": ticket.pk,
        "uuid": bare(ticket, "uuid"),
        "text": public(ticket, "text"),
        "number": public(ticket, "number"),
        "order": public(ticket.order),
        "note": "late",
    }
    assert found["text"].startswith("tck_")
    assert found["number"].startswith("num_")


def test_relations_leave_as_public_texts(client, ticket):
    order = ticket.order
    (found,) = client.get(f"{URL}orders").json()
    assert found["id"] == public(order)
    assert found["customer"] == public(order.customer)
    assert sorted(found["products"]) == sorted(map(public, order.products.all()))
    assert bare(order.customer) not in json.dumps(found)


def test_what_left_may_come_back(client, ticket):
    (found,) = client.get(f"{URL}orders").json()
    del found["id"]
    sent = found | {"customer_id": found["customer"]}  # as django-ninja names it in input
    created = client.post(f"{URL}orders", sent, content_type=JSON)
    assert created.status_code == 200, created.content
    new = created.json()
    assert new.pop("id") != public(ticket.order)
    assert new == found
    assert Order.objects.filter(customer=ticket.order.customer).count() == 2


def test_a_path_finds_by_the_public_text(client, ticket):
    found = client.get(f"{URL}orders/{public(ticket.order)}")
    assert found.json()["id"] == public(ticket.order)
    customer = ticket.order.customer
    assert client.get(f"{URL}customers/{public(customer)}").json() == {"id": public(customer)}
    assert client.get(f"{URL}customers/{public(Customer())}").status_code == 404
    assert client.get(f"{URL}of-customer", {"customer": public(customer)}).json()[0]["id"]


@pytest.mark.parametrize("text", MALFORMED_WORDS)
def test_malformed_ids_in_urls_are_4xx(client, ticket, text):
    assert client.get(f"{URL}orders/{text}").status_code == 404
    assert client.get(f"{URL}customers/{text}").status_code == 422
    assert client.get(f"{URL}of-customer", {"customer": text}).status_code == 422


@pytest.mark.parametrize("value", [*MALFORMED, 1, -1, 1.5, 2**70, True, [], {}, ["x"]])
def test_malformed_ids_in_bodies_are_422(client, ticket, value):
    for body in (
        {"customer_id": value, "products": []},
        {"customer_id": None, "products": [value]},
    ):
        answer = client.post(f"{URL}orders", json.dumps(body | {"note": ""}), content_type=JSON)
        assert answer.status_code == 422
        assert "Expected" in answer.json()["detail"][0]["msg"]
    assert Order.objects.count() == 1


def test_bare_ids_are_refused_where_public_ones_differ(client, ticket):
    customer = ticket.order.customer
    assert client.get(f"{URL}customers/{bare(customer)}").status_code == 422
    body = {"customer_id": bare(customer), "products": [ticket.order.products.first().pk]}
    answer = client.post(f"{URL}orders", json.dumps(body | {"note": ""}), content_type=JSON)
    assert [error["loc"][-1] for error in answer.json()["detail"]] == ["customer_id", 0]


def test_the_schema_says_text_and_what_it_looks_like(client, ticket):
    schemas = client.get(f"{URL}openapi.json").json()["components"]["schemas"]
    found = schemas["TicketOut"]["properties"]
    for name in ("uuid", "text", "number", "order"):
        of_field = found[name]["anyOf"][0] if "anyOf" in found[name] else found[name]
        assert of_field["type"] == "string", name
        assert of_field["example"]
    assert found["text"]["anyOf"][0]["pattern"].startswith("^tck_")
    products = schemas["OrderOut"]["properties"]["products"]
    assert products["items"]["type"] == "string"
    # Django generates it: whoever creates a row may leave it out.
    assert "id" not in schemas["OrderOut"]["required"]


class TestPydantic:
    """``PublicID`` without django-ninja."""

    customer = TypeAdapter(Annotated[uuid.UUID, PublicID("shop.Customer")])
    product = TypeAdapter(Annotated[int, PublicID(Product)])
    order = TypeAdapter(Annotated[str, PublicID(Order)])

    def test_json_has_public_texts_and_python_has_values(self):
        instance = Customer()
        assert self.customer.validate_python(public(instance)) == instance.pk
        assert self.customer.validate_json(json.dumps(public(instance))) == instance.pk
        assert self.customer.dump_python(instance.pk) == instance.pk
        assert self.customer.dump_json(instance.pk) == json.dumps(public(instance)).encode()
        assert self.product.dump_json(5) == json.dumps(public(Product(pk=5))).encode()

    def test_python_code_may_pass_values_and_instances(self):
        for adapter, instance in (
            (self.customer, Customer()),
            (self.product, Product()),
            (self.order, Order()),
        ):
            assert adapter.validate_python(instance.pk) == instance.pk
            assert adapter.validate_python(instance) == instance.pk

    def test_json_is_strict(self):
        for adapter, instance in ((self.customer, Customer()), (self.order, Order())):
            with pytest.raises(ValidationError, match="Expected"):
                adapter.validate_json(json.dumps(str(instance.pk)))
        with pytest.raises(ValidationError):
            self.customer.validate_python(str(Customer().pk))
        with pytest.raises(ValidationError):
            self.product.validate_json("5")
