"""djangorestframework-jsonapi: a resource has one id, in its own document and in relations."""

import json

import pytest
from rest_framework.test import APIRequestFactory
from rest_framework_json_api import serializers
from rest_framework_json_api.parsers import JSONParser
from rest_framework_json_api.renderers import JSONRenderer
from rest_framework_json_api.views import ModelViewSet, RelationshipView

from .shop.data import bare, public, stock
from .shop.models import Customer, Order

pytestmark = pytest.mark.django_db


class CustomerSerializer(serializers.ModelSerializer):
    class Meta:
        model = Customer
        fields = ["name", "orders"]


class OrderSerializer(serializers.ModelSerializer):
    included_serializers = {"customer": CustomerSerializer}

    class Meta:
        model = Order
        fields = ["note", "customer", "products"]


class Options:
    queryset = Order.objects.all()
    renderer_classes = [JSONRenderer]
    parser_classes = [JSONParser]


class Orders(Options, ModelViewSet):
    serializer_class = OrderSerializer


class Relationships(Options, RelationshipView):
    pass


def answer(view, method, order, data, **names):
    request = APIRequestFactory().generic(
        method, "/?include=customer", json.dumps(data), content_type="application/vnd.api+json"
    )
    response = view(request, pk=public(order), **names).render()
    return response.status_code, json.loads(response.content)


def test_the_id_of_a_resource_is_that_of_its_relations():
    order = stock().order
    view = Orders.as_view({"get": "retrieve", "patch": "partial_update"})
    given = {"type": "Order", "id": public(order), "attributes": {"note": "changed"}}
    for method in ("GET", "PATCH"):
        status, found = answer(view, method, order, {"data": given})
        assert (status, found["data"]["id"]) == (200, public(order))
        (customer,) = found["included"]
        assert customer["id"] == public(order.customer)
        identifier = {"type": "Customer", "id": public(order.customer)}
        assert found["data"]["relationships"]["customer"]["data"] == identifier
        assert bare(order.customer) not in json.dumps(found)
    order.refresh_from_db()
    assert order.note == "changed"


def test_the_view_of_relationships():
    order, other = stock().order, stock().order.customer
    view = Relationships.as_view()
    _, found = answer(view, "GET", order, {}, related_field="products")
    assert {each["id"] for each in found["data"]} == set(map(public, order.products.all()))
    given = {"data": {"type": "Customer", "id": public(other)}}
    assert answer(view, "PATCH", order, given, related_field="customer") == (200, given)
    order.refresh_from_db()
    assert order.customer == other
    for text in ("nonsense", "cus_", "-1"):
        given["data"]["id"] = text
        assert answer(view, "PATCH", order, given, related_field="customer")[0] == 400
