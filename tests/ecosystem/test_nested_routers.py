"""drf-nested-routers: nested URLs take public texts; links show them by a property of the model."""

import pytest
from django.urls import include, path
from rest_framework.test import APIClient
from rest_framework.viewsets import ModelViewSet
from rest_framework_nested.routers import NestedSimpleRouter, SimpleRouter
from rest_framework_nested.serializers import NestedHyperlinkedModelSerializer
from rest_framework_nested.viewsets import NestedViewSetMixin

from django_sortable_ids.ids import public_id

from .shop.data import bare, public, stock
from .shop.models import Customer, Order

pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]


class BareOrders(NestedHyperlinkedModelSerializer):
    parent_lookup_kwargs = {"customer_pk": "customer__pk"}

    class Meta:
        model = Order
        fields = ["url", "note"]


class PublicOrders(BareOrders):
    parent_lookup_kwargs = {"customer_pk": "customer__public"}

    class Meta(BareOrders.Meta):
        extra_kwargs = {"url": {"lookup_field": "public", "lookup_url_kwarg": "pk"}}


class Orders(NestedViewSetMixin, ModelViewSet):
    queryset = Order.objects.all()
    serializer_class = PublicOrders
    parent_lookup_kwargs = {"customer_pk": "customer__pk"}


class Customers(ModelViewSet):
    queryset = Customer.objects.all()


customers = SimpleRouter()
customers.register("customers", Customers)
orders = NestedSimpleRouter(customers, "customers", lookup="customer")
orders.register("orders", Orders)
urlpatterns = [path("", include(customers.urls)), path("", include(orders.urls))]


@pytest.fixture
def order(monkeypatch):
    for model in (Customer, Order):
        monkeypatch.setattr(model, "public", property(public_id), raising=False)
    return stock().order


def test_links_by_a_property(order):
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


def test_links_by_the_key_are_bare(order, monkeypatch):
    monkeypatch.setattr(Orders, "serializer_class", BareOrders)
    (shown,) = APIClient().get(f"/customers/{public(order.customer)}/orders/").json()
    assert shown["url"].endswith(f"/customers/{bare(order.customer)}/orders/{bare(order)}/")
