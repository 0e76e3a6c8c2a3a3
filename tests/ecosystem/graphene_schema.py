"""A schema of graphene as its users write it; nothing in it is about ids."""

import graphene
from django import forms
from django.utils.functional import SimpleLazyObject
from graphene import relay
from graphene_django import DjangoObjectType
from graphene_django.filter import DjangoFilterConnectionField
from graphene_django.forms.mutation import DjangoModelFormMutation

from .shop import models


class Customer(DjangoObjectType):
    class Meta:
        model = models.Customer
        fields = "__all__"


class Product(DjangoObjectType):
    class Meta:
        model = models.Product
        fields = "__all__"


class Order(DjangoObjectType):
    class Meta:
        model = models.Order
        fields = "__all__"


class Ticket(DjangoObjectType):
    class Meta:
        model = models.Ticket
        fields = "__all__"


class CustomerNode(DjangoObjectType):
    class Meta:
        model = models.Customer
        fields = ["name"]
        interfaces = [relay.Node]
        skip_registry = True


class OrderNode(DjangoObjectType):
    class Meta:
        model = models.Order
        fields = ["note"]
        filter_fields = {"id": ["in"], "customer": ["exact"]}
        interfaces = [relay.Node]
        skip_registry = True


class OrderForm(forms.ModelForm):
    class Meta:
        model = models.Order
        fields = ["customer", "products", "note"]


class SaveOrder(DjangoModelFormMutation):
    class Meta:
        form_class = OrderForm


class Query(graphene.ObjectType):
    orders = graphene.List(Order)
    order = graphene.Field(Order, id=graphene.ID(required=True))
    lazy_order = graphene.Field(Order)
    tickets = graphene.List(Ticket)
    node = relay.Node.Field()
    order_nodes = DjangoFilterConnectionField(OrderNode)

    def resolve_orders(self, info):
        return models.Order.objects.all()

    def resolve_order(self, info, id):
        return models.Order.objects.filter(pk=id).first()

    def resolve_lazy_order(self, info):
        return SimpleLazyObject(models.Order.objects.get)

    def resolve_tickets(self, info):
        return models.Ticket.objects.all()


class Mutation(graphene.ObjectType):
    save_order = SaveOrder.Field()


schema = graphene.Schema(query=Query, mutation=Mutation, types=[CustomerNode])
