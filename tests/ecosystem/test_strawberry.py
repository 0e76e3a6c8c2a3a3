"""strawberry-graphql-django."""

import json

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient

from .shop.data import MALFORMED, bare, global_id, public
from .shop.models import Customer, Order, Product
from .strawberry_schema import schema

pytestmark = pytest.mark.django_db


def test_ids_of_all_types_leave_as_public_texts(ask, ticket):
    data, errors = ask("{ tickets { uuid text number order { pk } } }")
    assert not errors
    assert data["tickets"] == [
        {
            "uuid": bare(ticket, "uuid"),
            "text": public(ticket, "text"),
            "number": public(ticket, "number"),
            "order": {"pk": public(ticket.order)},
        }
    ]


def test_relations_leave_as_public_texts(ask, ticket):
    order = ticket.order
    data, errors = ask(
        "{ orders { id customerId customer { id orders { id } } products { id pk } } }"
    )
    assert not errors
    (found,) = data["orders"]
    assert found["id"] == public(order)
    assert found["customerId"] == public(order.customer)
    assert found["customer"] == {"id": public(order.customer), "orders": [{"id": public(order)}]}
    texts = sorted(map(public, order.products.all()))
    assert sorted(each["id"] for each in found["products"]) == texts
    assert sorted(each["pk"] for each in found["products"]) == texts
    assert bare(order.customer) not in json.dumps(data)


def test_a_row_that_is_lazy_as_the_user_of_a_request(ask, ticket):
    data = {"lazyOrder": {"id": public(ticket.order)}}
    assert ask("{ lazyOrder { id } }") == (data, None)


def test_the_type_is_id():
    printed = schema.as_str()
    for line in ("  number: ID!", "  text: ID!", "  uuid: ID!", "  customerId: ID\n"):
        assert line in printed


def test_an_asynchronous_view_loads_a_deferred_id(ticket):
    query = {"query": "{ ticketsWithoutNumber { number } }"}

    async def ask():
        return await AsyncClient().post("/async/", query, content_type="application/json")

    answer = async_to_sync(ask)()
    assert answer.json()["data"]["ticketsWithoutNumber"] == [{"number": public(ticket, "number")}]


def test_a_row_is_found_by_its_public_text(ask, ticket):
    query = "query Q($pk: ID!) { order(pk: $pk) { id } }"
    data, errors = ask(query, pk=public(ticket.order))
    assert not errors
    assert data["order"]["id"] == public(ticket.order)


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_id_finds_nothing(ask, ticket, text):
    data, errors = ask("query Q($pk: ID!) { customer(pk: $pk) { id } }", pk=text)
    assert (data, errors) == ({"customer": None}, None)
    data, errors = ask("query Q($pk: ID!) { order(pk: $pk) { id } }", pk=text)
    assert "does not exist" in errors[0]["message"]
    filters = "query Q($f: OrderFilter) { orders(filters: $f) { id } }"
    assert ask(filters, f={"id": {"exact": text}}) == ({"orders": []}, None)
    assert ask(filters, f={"id": {"inList": [text]}}) == ({"orders": []}, None)


def test_filters_take_public_texts(ask, ticket):
    order, other = ticket.order, Order.objects.create()
    filters = "query Q($f: OrderFilter) { orders(filters: $f) { id } }"
    for chosen in (
        {"id": {"exact": public(order)}},
        {"id": {"inList": [public(order), "nonsense"]}},
        {"customerId": {"exact": public(order.customer)}},
        {"NOT": {"id": {"exact": public(other)}}},
    ):
        data, errors = ask(filters, f=chosen)
        assert not errors
        assert data["orders"] == [{"id": public(order)}], chosen


CREATE = """
mutation M($data: OrderInput!) {
  createOrder(data: $data) {
    __typename
    ... on Order { id customerId products { id } }
    ... on OperationInfo { messages { kind message } }
  }
}
"""


@pytest.mark.parametrize("name", ["customer", "customerId"])
def test_a_mutation_takes_public_texts(ask, ticket, name):
    customer, product = Customer.objects.create(name="Eve"), Product.objects.first()
    text = public(customer)
    data, errors = ask(
        CREATE,
        data={
            name: {"set": text} if name == "customer" else text,
            "products": {"set": [public(product)]},
            "note": "new",
        },
    )
    assert not errors
    assert data["createOrder"]["customerId"] == text
    assert data["createOrder"]["products"] == [{"id": public(product)}]
    assert Order.objects.get(note="new").customer == customer


@pytest.mark.parametrize("text", MALFORMED)
@pytest.mark.parametrize("name", ["customer", "customerId"])
def test_a_malformed_id_in_a_mutation_is_a_message(ask, name, text):
    data, errors = ask(
        CREATE, data={name: {"set": text} if name == "customer" else text, "note": "new"}
    )
    assert errors or data["createOrder"]["__typename"] == "OperationInfo"
    assert not Order.objects.exists()


class TestRelay:
    def test_global_ids_have_the_public_text(self, ask, ticket):
        customer = ticket.order.customer
        data, errors = ask("{ customerNodes { edges { node { id name } } } }")
        assert not errors
        (edge,) = data["customerNodes"]["edges"]
        assert edge["node"]["id"] == global_id(customer, public(customer))

    def test_objects_are_found_by_them(self, ask, ticket):
        customer, other = ticket.order.customer, Customer.objects.create(name="Eve")
        found = global_id(customer, public(customer))
        query = "query Q($id: ID!) { node(id: $id) { id } }"
        assert ask(query, id=found) == ({"node": {"id": found}}, None)
        both = [global_id(other, public(other)), found]
        query = "query Q($ids: [ID!]!) { nodes(ids: $ids) { id } }"
        data, errors = ask(query, ids=both)
        assert not errors
        assert [each["id"] for each in data["nodes"]] == both

    @pytest.mark.parametrize("text", ["nonsense", "", "cus_", "x" * 5000])
    def test_malformed_ones_are_errors_in_the_answer(self, ask, ticket, text):
        wrong = global_id(Customer(), text)
        _, errors = ask("query Q($id: ID!) { node(id: $id) { id } }", id=wrong)
        assert "does not exist" in errors[0]["message"]
        _, errors = ask("query Q($ids: [ID!]!) { nodes(ids: $ids) { id } }", ids=[wrong])
        assert errors
