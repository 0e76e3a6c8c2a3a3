"""drf-writable-nested: a nested row with the id that the API gave is updated, and remains."""

import json

import pytest
from django.urls import include, path
from django.utils.functional import SimpleLazyObject
from drf_writable_nested import WritableNestedModelSerializer
from rest_framework.exceptions import ValidationError
from rest_framework.test import APIClient, APIRequestFactory
from rest_framework.viewsets import ModelViewSet
from rest_framework_json_api import renderers, serializers, views
from rest_framework_json_api.parsers import JSONParser
from rest_framework_json_api.renderers import JSONRenderer
from rest_framework_json_api.serializers import ResourceIdentifierObjectSerializer
from rest_framework_nested.routers import NestedSimpleRouter, SimpleRouter
from rest_framework_nested.serializers import NestedHyperlinkedModelSerializer
from rest_framework_nested.viewsets import NestedViewSetMixin

from .shop.data import bare, public, stock
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


# drf-nested-routers: nested URLs take public texts, and links have them


class NestedOrder(NestedHyperlinkedModelSerializer):
    parent_lookup_kwargs = {"customer_pk": "customer__pk"}

    class Meta:
        model = Order
        fields = ["url", "note"]


class Orders(NestedViewSetMixin, ModelViewSet):
    queryset = Order.objects.all()
    serializer_class = NestedOrder
    parent_lookup_kwargs = {"customer_pk": "customer__pk"}


class Customers(ModelViewSet):
    queryset = Customer.objects.all()


customers = SimpleRouter()
customers.register("customers", Customers)
orders = NestedSimpleRouter(customers, "customers", lookup="customer")
orders.register("orders", Orders)
urlpatterns = [path("", include(customers.urls)), path("", include(orders.urls))]


@pytest.mark.urls(__name__)
@pytest.mark.parametrize("parent", ["customer__pk", "customer_id"])
def test_links_have_public_texts(parent, monkeypatch):
    monkeypatch.setattr(NestedOrder, "parent_lookup_kwargs", {"customer_pk": parent})
    order = stock().order
    below = f"/customers/{public(order.customer)}/orders/"
    link = f"http://testserver{below}{public(order)}/"
    for url in (below, link):
        answer = APIClient().get(url)
        assert answer.status_code == 200
        (shown,) = answer.json() if url == below else [answer.json()]
        assert shown == {"url": link, "note": "first"}
    assert APIClient().patch(link, {"note": "second"}).json()["note"] == "second"
    for word in ("nonsense", "ord_nonsense", bare(order)[:-1]):
        assert APIClient().get(f"/customers/{word}/orders/").json() == []
        assert APIClient().get(f"{below}{word}/").status_code == 404


# djangorestframework-jsonapi: a resource has one id, in its own document and in relations


class CustomerResource(serializers.ModelSerializer):
    class Meta:
        model = Customer
        fields = ["name", "orders"]


class OrderResource(serializers.ModelSerializer):
    included_serializers = {"customer": CustomerResource}

    class Meta:
        model = Order
        fields = ["note", "customer", "products"]


class Options:
    queryset = Order.objects.all()
    renderer_classes = [JSONRenderer]
    parser_classes = [JSONParser]


class OrderResources(Options, views.ModelViewSet):
    serializer_class = OrderResource


class NamedOrderResource(OrderResource):
    id = serializers.CharField(source="note", read_only=True)

    class Meta(OrderResource.Meta):
        fields = ["id", *OrderResource.Meta.fields]


class NamedOrderResources(OrderResources):
    serializer_class = NamedOrderResource


class Relationships(Options, views.RelationshipView):
    pass


def answer(view, method, order, data, **names):
    request = APIRequestFactory().generic(
        method, "/?include=customer", json.dumps(data), content_type="application/vnd.api+json"
    )
    response = view(request, pk=public(order), **names).render()
    return response.status_code, json.loads(response.content)


def test_the_id_of_a_resource_is_that_of_its_relations():
    order = stock().order
    view = OrderResources.as_view({"get": "retrieve", "patch": "partial_update"})
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


def test_the_id_of_a_row_that_is_lazy():
    """As ``request.user``."""
    customer = stock().order.customer
    lazy = SimpleLazyObject(lambda: customer)
    assert renderers.get_resource_id(lazy, {}) == public(customer)
    assert ResourceIdentifierObjectSerializer(lazy).data["id"] == public(customer)


def test_an_id_of_the_serializer_itself_stays():
    order = stock().order
    order.note = "named"
    order.save()
    _, found = answer(NamedOrderResources.as_view({"get": "retrieve"}), "GET", order, {})
    assert found["data"]["id"] == "named"


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
