"""What is huge is refused at the cost of what is small, and in a short message.

The cost is counted in memory: a time would depend on the machine.
"""

import sys
import tracemalloc

import pytest
from django.core.exceptions import ValidationError

from django_sortable_ids.ids import resolve
from django_sortable_ids.schemes import InvalidID, all_schemes
from tests.store.models import PRODUCTS, Order, id_column

pytestmark = pytest.mark.django_db

SIZE = 10_000_000
LITTLE = 1_000_000
"""Bytes that a refusal may take: a few thousand, and a pattern that Python compiles again."""
MANY = 100_000


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.fixture(scope="module", params=["text", "digits", "lead", "numbers", "bytes", "containers"])
def huge(request):
    """Values of a kind. They are made once, and are no parameters: pytest would write them out."""
    match request.param:
        case "text":
            return ["x" * SIZE, "\x00" * SIZE, "🦄" * SIZE, "-" * SIZE, " " * SIZE, "\n" * SIZE]
        case "digits":
            return ["9" * SIZE, "0" * SIZE, "a" * SIZE, "A" * SIZE, "१" * SIZE]
        case "lead":
            return [lead + "0" * SIZE for lead in ("prod_", "prod:", "ord_", "ord:", "_", ":")]
        case "numbers":
            return [10**5000, -(10**5000), 1 << MANY, -(1 << MANY), 1e308]
        case "bytes":
            return [kind(b"7" * SIZE) for kind in (bytes, bytearray, memoryview)]
    some = dict.fromkeys(range(MANY), "x" * SIZE)
    return [nested(MANY), ["x" * SIZE], some, set(some), frozenset(some), [some], tuple(some)]


@pytest.fixture(autouse=True)
def no_limit_of_digits():
    """A project may have switched off what keeps Python from writing out huge integers."""
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    yield
    sys.set_int_max_str_digits(limit)


def refuse(function, *arguments, error=(ValidationError, LookupError, InvalidID)):
    """The message; asserts that it is short and that making it takes little memory."""
    with pytest.raises(error):
        function(*arguments)  # caches are filled
    tracemalloc.start()
    try:
        function(*arguments)
    except error as refusal:
        message = str(refusal)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < LITTLE, function
    assert len(message) < 700, function
    return message


def test_to_resolve(huge):
    for value in huge:
        refuse(resolve, value)


def test_for_fields(huge):
    fields = [id_column(model) for model in PRODUCTS.values()]
    fields += [id_column(Order, name) for name in PRODUCTS]
    for value in huge:
        for field in fields:
            refuse(field.to_python, value, error=ValidationError)
            refuse(field.parse_public, value, error=ValidationError)


def test_for_schemes(huge):
    for scheme in all_schemes():
        for value in huge:
            for encoding in (None, *scheme.encodings):
                refuse(scheme.parse, value, encoding, error=InvalidID)
            for function in (scheme.to_int, scheme.from_int, scheme.from_bytes, scheme.format):
                refuse(function, value, error=InvalidID)
