"""Tables with keys that are not integers, with parents, and with managers that hide rows."""

import uuid

import pytest

from .shop.models import Document, Hiding, Invoice, SortableKey, SortableTextKey, TextKey, UUIDKey
from .support import (
    MILLISECOND,
    SECOND,
    START,
    build,
    fill,
    in_python,
    insert,
    is_strict,
    times_are_right,
)

pytestmark = pytest.mark.django_db

KEYS = {
    UUIDKey: [uuid.uuid5(uuid.NAMESPACE_URL, str(n)) for n in range(40)],
    TextKey: [f"{'aBcDé'[n % 5]}{n * 7 % 40}" for n in range(40)],
    SortableKey: SortableKey._meta.pk.scheme.generate_many(40)[::-1],
    SortableTextKey: SortableTextKey._meta.pk.scheme.generate_many(40)[::-1],
}


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize(("model", "keys"), KEYS.items(), ids=lambda v: getattr(v, "__name__", ""))
def test_keys_of_any_type_break_ties(model, keys, size):
    column = model._meta.pk.name
    times = [START + n // 20 * MILLISECOND for n in range(40)]
    insert(model, [{column: key, "created_at": at} for key, at in zip(keys, times, strict=True)])
    label = f"{model._meta.label}.public_id"
    assert fill(label, size).filled == 40
    assert is_strict(label)
    assert times_are_right(label)


def test_ids_of_python_for_keys_of_another_character_set(monkeypatch):
    in_python(monkeypatch)
    keys = KEYS[SortableTextKey]
    insert(SortableTextKey, [{"id": key, "created_at": START} for key in keys])
    assert fill("shop.SortableTextKey.public_id", 7).filled == len(keys)
    assert is_strict("shop.SortableTextKey.public_id")


def test_the_index_may_be_in_the_table_of_a_parent():
    invoices(3)
    assert build("shop.Invoice.number").warnings == ()


def test_the_table_of_a_parent_is_filled_by_its_own_name():
    invoices(4)
    insert(Document, [{"id": 9, "created_at": START}])
    assert fill("shop.Document.public_id", 2).filled == 5
    assert is_strict("shop.Document.public_id")


def test_rows_that_managers_hide_are_filled_too():
    insert(Hiding, [{"hidden": n % 2 == 0, "created_at": START} for n in range(10)])
    assert fill("shop.Hiding.public_id", 3).filled == 10


def invoices(count):
    insert(Document, [{"id": 10 + n, "created_at": START + n // 3 * SECOND} for n in range(count)])
    insert(Invoice, [{"document_ptr": 10 + n} for n in range(count)])
