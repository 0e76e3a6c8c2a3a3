"""drf-writable-nested: a nested row with the id that the API gave is updated, and remains."""

import json

import pytest
from drf_writable_nested import WritableNestedModelSerializer
from rest_framework.exceptions import ValidationError

from .shop.data import bare, stock
from .shop.models import Customer, Order, Product

pytestmark = pytest.mark.django_db


class ProductSerializer(WritableNestedModelSerializer):
    class Meta:
        model = Product
        fields = ["id", "name"]


class OrderSerializer(WritableNestedModelSerializer):
    products = ProductSerializer(many=True)

    class Meta:
        model = Order
        fields = ["id", "note", "products"]


class CustomerSerializer(WritableNestedModelSerializer):
    orders = OrderSerializer(many=True)

    class Meta:
        model = Customer
        fields = ["id", "name", "orders"]


class OrderWithCustomer(WritableNestedModelSerializer):
    customer = CustomerSerializer()

    class Meta:
        model = Order
        fields = ["id", "customer"]


def patched(serializer_class, row, data):
    given = json.loads(json.dumps(data))  # the package adds to it
    serializer = serializer_class(row, data=given, partial=True)
    serializer.is_valid(raise_exception=True)
    serializer.save()
    return serializer_class(serializer_class.Meta.model.objects.get(pk=row.pk)).data


def test_nested_rows_are_updated_by_the_ids_that_the_api_gave():
    customer = stock().order.customer
    data = CustomerSerializer(customer).data
    order = data["orders"][0]
    order["note"], order["products"][0]["name"] = "changed", "pencil"
    assert patched(CustomerSerializer, customer, {"orders": data["orders"]}) == data
    order["products"].pop()
    assert patched(CustomerSerializer, customer, {"orders": data["orders"]}) == data
    added = patched(
        CustomerSerializer, customer, {"orders": [order, {"note": "n", "products": []}]}
    )
    assert [each["id"] == order["id"] for each in added["orders"]] == [True, False]


def test_a_direct_relation_with_a_masked_key_is_updated():
    order = stock().order
    data = OrderWithCustomer(order).data
    assert data["customer"]["id"] != bare(order.customer)
    data["customer"]["name"] = "Grace"
    assert patched(OrderWithCustomer, order, {"customer": data["customer"]}) == data
    assert Customer.objects.count() == 1


@pytest.mark.parametrize("text", ["nonsense", "ord_", "cus_1", "-1"])
def test_a_malformed_id_is_an_error_and_deletes_nothing(text):
    order = stock().order
    nested = {"id": text, "note": "new", "products": []}
    with pytest.raises(ValidationError, match="is not a valid"):
        patched(CustomerSerializer, order.customer, {"orders": [nested]})
    assert Order.objects.get() == order
