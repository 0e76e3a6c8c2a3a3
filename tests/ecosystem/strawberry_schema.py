"""A schema of strawberry as its users write it; nothing in it is about ids."""

import strawberry
import strawberry_django
from django.utils.functional import SimpleLazyObject
from strawberry import auto, relay

from .shop import models


@strawberry_django.filter_type(models.Order, lookups=True)
class OrderFilter:
    id: auto
    customer_id: auto


@strawberry_django.type(models.Customer)
class Customer:
    id: auto
    name: auto
    orders: list["Order"]


@strawberry_django.type(models.Product)
class Product:
    id: strawberry.ID
    pk: strawberry.ID
    name: auto


@strawberry_django.type(models.Order, filters=OrderFilter)
class Order:
    id: auto
    customer: Customer | None
    customer_id: auto
    products: list[Product]
    note: auto


@strawberry_django.type(models.Ticket)
class Ticket:
    uuid: auto
    text: auto
    number: auto
    order: auto
    note: auto


@strawberry_django.type(models.Customer)
class CustomerNode(relay.Node):
    name: auto


@strawberry_django.input(models.Order)
class OrderInput:
    customer: auto
    customer_id: auto
    products: auto
    note: auto


@strawberry.type
class Query:
    orders: list[Order] = strawberry_django.field()
    order: Order = strawberry_django.field()
    customer: Customer | None = strawberry_django.field()
    lazy_order: Order = strawberry_django.field(
        resolver=lambda: SimpleLazyObject(models.Order.objects.get)
    )
    tickets: list[Ticket] = strawberry_django.field()
    tickets_without_number: list[Ticket] = strawberry_django.field(
        resolver=lambda: models.Ticket.objects.defer("number")
    )
    node: relay.Node = strawberry_django.node()
    nodes: list[CustomerNode] = strawberry_django.node()
    customer_nodes: relay.ListConnection[CustomerNode] = strawberry_django.connection()


@strawberry.type
class Mutation:
    create_order: Order = strawberry_django.mutations.create(OrderInput, handle_django_errors=True)


schema = strawberry.Schema(query=Query, mutation=Mutation, types=[CustomerNode])
