"""model_bakery, which makes rows for tests."""

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
