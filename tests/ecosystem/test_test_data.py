"""Packages that make rows for tests: model_bakery and factory_boy."""

import factory
import pytest
from model_bakery import baker

from django_sortable_ids.ids import created_at, public_id

from .shop.models import KEYS, Customer, Order, Ticket

pytestmark = pytest.mark.django_db

IDS = ["uuid", "text", "number"]


def is_id(instance, name):
    field = instance._meta.get_field(name)
    return field.scheme.to_int(getattr(instance, name)) > 0


@pytest.mark.parametrize("fill", [False, True])
def test_bakery_makes_ids_of_each_scheme(fill):
    first, second = baker.make(Ticket, 2, _fill_optional=fill)
    for name in IDS:
        assert is_id(first, name)
        assert getattr(first, name) < getattr(second, name)
    assert first.order.pk
    assert Ticket.objects.get(text=public_id(first, "text")) == first


@pytest.mark.parametrize("model", KEYS)
@pytest.mark.parametrize("fill", [False, True])
def test_bakery_makes_keys(model, fill):
    made = baker.make(model, _fill_optional=fill)
    assert model.objects.get() == made
    assert created_at(made)


def test_bakery_prepares_and_takes_ids():
    assert is_id(baker.prepare(Ticket), "text")
    customer = Customer()
    assert baker.make(Customer, id=public_id(customer)).pk == customer.pk
    orders = baker.make(Order, _quantity=2, _bulk_create=True)
    assert orders[0].pk < orders[1].pk


class OrderFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Order


class TicketFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Ticket

    order = factory.SubFactory(OrderFactory)


class CustomerFactory(factory.django.DjangoModelFactory):
    class Meta:
        model = Customer
        django_get_or_create = ["id"]


def test_factories_leave_ids_to_the_fields():
    first, second = TicketFactory.create_batch(2)
    for name in IDS:
        assert getattr(first, name) < getattr(second, name)
    assert first.order != second.order
    assert TicketFactory.build(order=first.order).pk is None


def test_factories_take_ids():
    customer = CustomerFactory(id=Customer().pk, name="Ada")
    assert CustomerFactory(id=public_id(customer)) == customer
    assert Customer.objects.count() == 1
