"""graphene-django."""

import json

import graphene
import pytest
from asgiref.sync import async_to_sync
from graphene_django import DjangoObjectType

from .graphene_schema import schema
from .shop.data import MALFORMED, bare, global_id, public
from .shop.models import Customer, Order, Product, Ticket

pytestmark = pytest.mark.django_db


def test_ids_of_all_types_leave_as_public_texts(ask, ticket):
    data, errors = ask("{ tickets { id uuid text number order { id } } }")
    assert not errors
    assert data["tickets"] == [
        {
            "id": str(ticket.pk),
            "uuid": bare(ticket, "uuid"),
            "text": public(ticket, "text"),
            "number": public(ticket, "number"),
            "order": {"id": public(ticket.order)},
        }
    ]


def test_relations_leave_as_public_texts(ask, ticket):
    order = ticket.order
    data, errors = ask("{ orders { id customer { id orders { id } } products { id } } }")
    assert not errors
    (found,) = data["orders"]
    assert found["id"] == public(order)
    assert found["customer"] == {"id": public(order.customer), "orders": [{"id": public(order)}]}
    assert sorted(each["id"] for each in found["products"]) == sorted(
        map(public, order.products.all())
    )
    assert bare(order.customer) not in json.dumps(data)


def test_a_row_that_is_lazy_as_the_user_of_a_request(ask, ticket):
    data = {"lazyOrder": {"id": public(ticket.order)}}
    assert ask("{ lazyOrder { id } }") == (data, None)


def test_the_type_is_id():
    printed = str(schema)
    for line in ("  number: ID!", "  text: ID!", "  uuid: ID!"):
        assert line in printed


def test_an_asynchronous_resolver(ticket):
    class Asynchronous(DjangoObjectType):
        class Meta:
            model = Ticket
            fields = ["number"]
            skip_registry = True

        async def resolve_number(self, info):
            return self.number

    class Query(graphene.ObjectType):
        ticket = graphene.Field(Asynchronous)

    ask = async_to_sync(graphene.Schema(query=Query).execute_async)
    answer = ask("{ ticket { number } }", root={"ticket": ticket})
    assert answer.data == {"ticket": {"number": public(ticket, "number")}}


def test_a_row_is_found_by_its_public_text(ask, ticket):
    query = "query Q($id: ID!) { order(id: $id) { id } }"
    assert ask(query, id=public(ticket.order)) == ({"order": {"id": public(ticket.order)}}, None)


@pytest.mark.parametrize("text", MALFORMED)
def test_a_malformed_id_finds_nothing(ask, ticket, text):
    assert ask("query Q($id: ID!) { order(id: $id) { id } }", id=text) == ({"order": None}, None)


SAVE = """
mutation M($input: SaveOrderInput!) {
  saveOrder(input: $input) {
    order { id customer { id } products { id } note }
    errors { field messages }
  }
}
"""


def test_a_mutation_takes_public_texts(ask, ticket):
    customer, product = Customer.objects.create(name="Eve"), Product.objects.first()
    # Django's own choices take keys as they are, unless they are masked.
    texts = {"customer": public(customer), "products": [bare(product)], "note": "new"}
    data, errors = ask(SAVE, input=texts)
    assert not errors
    saved = data["saveOrder"]["order"]
    assert saved["customer"] == {"id": public(customer)}
    assert saved["products"] == [{"id": public(product)}]
    data, errors = ask(SAVE, input=texts | {"id": saved["id"], "note": "edited"})
    assert not errors
    assert data["saveOrder"]["order"] == saved | {"note": "edited"}
    assert Order.objects.get(note="edited").customer == customer


@pytest.mark.parametrize("text", [text for text in MALFORMED if text.strip()])
def test_a_malformed_id_in_a_mutation_is_a_message(ask, ticket, text):
    for wrong in ({"customer": text}, {"products": [text]}, {"id": text}):
        data, errors = ask(SAVE, input={"products": [], "note": "new"} | wrong)
        assert errors or data["saveOrder"]["errors"], wrong
    assert not Order.objects.filter(note="new").exists()


class TestRelay:
    def test_global_ids_have_the_public_text(self, ask, ticket):
        data, errors = ask("{ orderNodes { edges { node { id note } } } }")
        assert not errors
        (edge,) = data["orderNodes"]["edges"]
        assert edge["node"]["id"] == global_id(ticket.order, public(ticket.order))

    def test_objects_are_found_by_them(self, ask, ticket):
        customer = ticket.order.customer
        found = global_id(customer, public(customer))
        query = "query Q($id: ID!) { node(id: $id) { id } }"
        assert ask(query, id=found) == ({"node": {"id": found}}, None)

    def test_filters_take_them(self, ask, ticket):
        Order.objects.create()
        found = global_id(ticket.order.customer, public(ticket.order.customer))
        query = "query Q($c: ID!) { orderNodes(customer: $c) { edges { node { note } } } }"
        data, errors = ask(query, c=found)
        assert not errors
        assert data["orderNodes"]["edges"] == [{"node": {"note": "first"}}]
        query = "query Q($o: [ID]!) { orderNodes(id_In: $o) { edges { node { note } } } }"
        data, errors = ask(query, o=[public(ticket.order)])
        assert not errors
        assert data["orderNodes"]["edges"] == [{"node": {"note": "first"}}]

    @pytest.mark.parametrize("text", ["nonsense", "", "cus_", "x" * 5000])
    def test_malformed_ones_find_nothing(self, ask, ticket, text):
        wrong = global_id(Customer(), text)
        query = "query Q($id: ID!) { node(id: $id) { id } }"
        assert ask(query, id=wrong) == ({"node": None}, None)
        query = "query Q($c: ID!) { orderNodes(customer: $c) { edges { node { note } } } }"
        data, errors = ask(query, c=wrong)
        assert errors or data["orderNodes"]["edges"] == []
