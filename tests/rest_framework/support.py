"""What the tests of REST share: rows and their public texts."""

from typing import Any

from django.db.models import Model
from django.urls import reverse

from tests.combinations import in_one_case
from tests.store.models import PRODUCTS, Basket, Order, id_column

each_scheme = in_one_case("scheme", PRODUCTS)


def text_of(instance: Model, column: str = "id") -> str:
    """The public text, made of its parts and not by the code under test."""
    field = id_column(type(instance), column)
    encoded = field.scheme.format(getattr(instance, column), field.public_text.encoding)
    return f"{field.prefix}{field.separator}{encoded}" if field.prefix else encoded


def bare_text_of(instance: Model, column: str = "id") -> str:
    """What the id is in the database and in Python, as text."""
    return str(getattr(instance, column))


def url(name: str, key: str | None = None) -> str:
    """The URL of a list, or of a row by the text in it."""
    return reverse(f"{name}-list") if key is None else f"{reverse(f'{name}-list')}{key}/"


def full_order() -> Order:
    """An order that has an id of every scheme."""
    return Order.objects.create(name="full")


def full_basket() -> Basket:
    """A basket with one product of every scheme, alone and among others."""
    products = {name: product.objects.create(name=name) for name, product in PRODUCTS.items()}
    basket = Basket.objects.create(name="full", **products)
    for name, product in products.items():
        second: Any = PRODUCTS[name].objects.create(name=f"second {name}")
        getattr(basket, f"all_{name}").set([product, second])
    return basket
