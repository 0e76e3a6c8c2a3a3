"""Rows of the shop."""

import base64

from django_sortable_ids.ids import public_id

from .models import Customer, Order, Product, Ticket

MALFORMED_WORDS = ["-1", "1.5", "nonsense", "ord_", "ord_nonsense", "x" * 5000, "٣"]
MALFORMED = [*MALFORMED_WORDS, "", " ", "\0", "\ud800"]


def stock():
    """A ticket, whose order has two products and a customer."""
    customer = Customer.objects.create(name="Ada")
    order = Order.objects.create(customer=customer, note="first")
    order.products.set([Product.objects.create(name=name) for name in ("pen", "ink")])
    return Ticket.objects.create(order=order, note="late")


def bare(instance, name="pk"):
    """The text of an id without prefix, encoding and mask: what must not leave."""
    return str(getattr(instance, name))


def public(instance, name=None):
    return public_id(instance, name)


def global_id(instance, text):
    """An id of Relay, where ``CustomerNode`` is the type of a ``Customer``."""
    return base64.b64encode(f"{type(instance).__name__}Node:{text}".encode()).decode()
