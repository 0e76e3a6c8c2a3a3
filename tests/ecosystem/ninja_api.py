"""An API of django-ninja as its users write it; only ``PublicID`` is about ids."""

import uuid
from typing import Annotated

from django.shortcuts import get_object_or_404
from ninja import ModelSchema, NinjaAPI, Schema

from django_sortable_ids.packages.pydantic import PublicID

from .shop.models import Customer, Order, Ticket

api = NinjaAPI()


class OrderIn(ModelSchema):
    class Meta:
        model = Order
        fields = ["customer", "products", "note"]


class OrderOut(ModelSchema):
    class Meta:
        model = Order
        fields = ["id", "customer", "products", "note"]


class TicketOut(ModelSchema):
    class Meta:
        model = Ticket
        fields = "__all__"


class CustomerIn(Schema):
    id: Annotated[uuid.UUID, PublicID(Customer)]


@api.get("orders", response=list[OrderOut])
def orders(request):
    return Order.objects.all()


@api.post("orders", response=OrderOut)
def create_order(request, payload: OrderIn):
    data = payload.dict(by_alias=True)
    products = data.pop("products")
    order = Order.objects.create(**data)
    order.products.set(products)
    return order


@api.get("orders/{order_id}", response=OrderOut)
def order(request, order_id: str):
    return get_object_or_404(Order, pk=order_id)


@api.get("customers/{customer_id}", response=CustomerIn)
def customer(request, customer_id: Annotated[uuid.UUID, PublicID("shop.Customer")]):
    assert isinstance(customer_id, uuid.UUID)
    return get_object_or_404(Customer, pk=customer_id)


@api.get("of-customer", response=list[OrderOut])
def orders_of(request, customer: Annotated[uuid.UUID, PublicID(Customer)]):
    return Order.objects.filter(customer=customer)


@api.get("tickets", response=list[TicketOut])
def tickets(request):
    return Ticket.objects.all()
