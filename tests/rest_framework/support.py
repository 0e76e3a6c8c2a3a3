"""What the tests of REST share: rows, their public texts, and texts that are no ids."""

from typing import Any

from django.db.models import Model
from django.urls import reverse

from django_sortable_ids.fields import SortableIDField
from tests.combinations import in_one_case
from tests.store.models import PRODUCTS, Basket, Order, id_column

each_scheme = in_one_case("scheme", PRODUCTS)

WRONG_TYPES = (
    *(0, 1, -1, 2**63, 10**30, 1.5, 1e300, True, False),
    *([], [[]], [None], {}, {"id": "x"}, [1, "x"], {"": {}}),
)
"""What JSON has beside text and null."""


def text_of(instance: Model, column: str = "id") -> str:
    """The public text, made of its parts and not by the code under test."""
    field = id_column(type(instance), column)
    encoded = field.scheme.format(getattr(instance, column), field.public_text.encoding)
    prefix = field.public_text.prefix
    return f"{prefix}{field.public_text.separator}{encoded}" if prefix else encoded


def bare_text_of(instance: Model, column: str = "id") -> str:
    """What the id is in the database and in Python, as text."""
    return str(getattr(instance, column))


def example_of(field: SortableIDField) -> str:
    """The id that messages show."""
    return field.public_text.format(field.scheme.example)


def malformed(field: SortableIDField) -> list[str]:
    """Texts that are no public text of the field; none of them is empty."""
    right = example_of(field)
    bare = str(field.scheme.example)
    lead = field.public_text.full_prefix
    texts = [
        *("x", "None", "null", "-1", "+1", "1.5", "1e5", "0x10", "1_0", "é", "१२३", "🦄", "%"),
        *("'; DROP TABLE store_order; --", "<script>alert(1)</script>", "../../admin", "\\", '"'),
        *("\x00", "\n", " ", "\u2028", "{}", "[]", "x" * 10_000, "1" * 5_000, "🦄" * 1_000),
        *(f"{right}\n", f"\n{right}", f" {right}", f"{right} ", f"{right}\x00", f"{right}x"),
        *(f"{right}{right}", f"other_{right}", f"_{right}", f":{right}", f"{right},{right}"),
        *(f"wrong_{bare}", f"wrong:{bare}", f"prod_{bare}x", f"ord_{bare}x", f"१{right[1:]}"),
    ]
    if right != bare:
        texts.append(bare)
    if lead:
        texts += [right.upper(), right.replace(lead, f"{lead}x")]
    if (field.scheme.name, field.public_text.encoding) != ("snowflake", None):
        # Decimal snowflakes have any number of digits.
        texts.append(right[:-1])
    return texts


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
