"""drf-nested-routers: nested URLs take public texts, and links have them."""

import pytest
from django.urls import include, path
from rest_framework.test import APIClient
from rest_framework.viewsets import ModelViewSet
from rest_framework_nested.routers import NestedSimpleRouter, SimpleRouter
from rest_framework_nested.serializers import NestedHyperlinkedModelSerializer
from rest_framework_nested.viewsets import NestedViewSetMixin

from .shop.data import bare, public, stock
from .shop.models import Customer, Order

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


class OrderSerializer(NestedHyperlinkedModelSerializer):
    parent_lookup_kwargs = {"customer_pk": "customer__pk"}

    class Meta:
        model = Order
        fields = ["url", "note"]


class Orders(NestedViewSetMixin, ModelViewSet):
    queryset = Order.objects.all()
    serializer_class = OrderSerializer
    parent_lookup_kwargs = {"customer_pk": "customer__pk"}


class Customers(ModelViewSet):
    queryset = Customer.objects.all()


customers = SimpleRouter()
customers.register("customers", Customers)
orders = NestedSimpleRouter(customers, "customers", lookup="customer")
orders.register("orders", Orders)
urlpatterns = [path("", include(customers.urls)), path("", include(orders.urls))]


@pytest.mark.parametrize("parent", ["customer__pk", "customer_id"])
def test_links_have_public_texts(parent, monkeypatch):
    monkeypatch.setattr(OrderSerializer, "parent_lookup_kwargs", {"customer_pk": parent})
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
