"""Tables with keys of any type and pairs, with parents, and with managers that hide rows."""

import uuid

import pytest
from django.db import connection

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.sources.base import Given
from django_sortable_ids.backfill.sources.find import find as find_target
from django_sortable_ids.backfill.verify import verify
from django_sortable_ids.models import BackfillRun
from tests.support import execute

from .shop.models import (
    Document,
    OwnedKey,
    PairKey,
    SortableKey,
    SortableTextKey,
    TextKey,
    UUIDKey,
)
from .support import (
    MILLISECOND,
    START,
    Stop,
    ascends,
    field_of,
    fill,
    in_python,
    insert,
    saved_run,
    stop_after,
    times_are_right,
)

pytestmark = pytest.mark.django_db

IS_SQLITE = connection.vendor == "sqlite"
"""Which generates no ids itself."""
KEYS = {
    UUIDKey: [uuid.uuid5(uuid.NAMESPACE_URL, str(n)) for n in range(40)],
    TextKey: [f"{'aBcDé'[n % 5]}{n * 7 % 40}" for n in range(40)],
    SortableKey: SortableKey._meta.pk.scheme.generate_many(40)[::-1],
    SortableTextKey: SortableTextKey._meta.pk.scheme.generate_many(40)[::-1],
    # Pairs whose order is neither that of one half nor that in which they come.
    PairKey: [(n * 7 % 5, n * 11 % 40) for n in range(40)],
    OwnedKey: [(n * 7 % 5, f"{'aBcDé'[n * 11 % 5]}{n * 11 % 40}") for n in range(40)],
}


def insert_keys(model, keys, times):
    """Rows with these keys; the owners of pairs are rows themselves."""
    if model is OwnedKey:
        owners = KEYS[SortableKey][:5]
        insert(SortableKey, [{"id": owner, "created_at": START} for owner in owners])
        keys = [(owners[half], other) for half, other in keys]
    names = [field.name for field in model._meta.pk_fields]
    rows = [dict(zip(names, key if len(names) > 1 else [key], strict=True)) for key in keys]
    insert(model, [{**row, "created_at": at} for row, at in zip(rows, times, strict=True)])


@pytest.mark.parametrize("where", ["database", "Python"][IS_SQLITE:])
@pytest.mark.parametrize("source", ["created_from=created_at", "created_at=now"])
@pytest.mark.parametrize("model", KEYS, ids=lambda model: model.__name__)
def test_keys_of_any_type_break_ties(monkeypatch, model, source, where):
    """All rows of the time of the run are in the order of their keys."""
    if where == "Python":
        in_python(monkeypatch)
    insert_keys(model, KEYS[model], [START + n // 20 * MILLISECOND for n in range(40)])
    label, (name, value) = f"{model._meta.label}.public_id", source.split("=")
    target = find_target(label, Given(**{name: value}), "default")
    with pytest.raises(Stop):
        run.execute(plan.build(target, 7), stop_after(1))
    assert run.execute(plan.build(target, 7)).filled == 33
    by_time = ["created_at"] * (name == "created_from")
    found = model.objects.order_by(*by_time, "pk").values_list("public_id", flat=True)
    assert ascends(list(map(field_of(label).scheme.to_int, found)))
    assert not by_time or times_are_right(label)
    assert verify(target).failures == []


def test_the_key_zero_of_a_parent():
    """Django refuses it on MariaDB and MySQL."""
    insert(Document, [{"created_at": START}])
    execute(
        "UPDATE shop_document SET id = 0", "INSERT INTO shop_invoice (document_ptr_id) VALUES (0)"
    )
    assert fill("shop.Invoice.number").filled == 1


def test_a_key_that_was_moved_after_a_run_whose_last_row_lost_its_id():
    """The cursor has the old key of that row."""
    insert_keys(UUIDKey, KEYS[UUIDKey], [START + n // 20 * MILLISECOND for n in range(40)])
    name = "shop.UUIDKey.public_id"
    fill(name)
    BackfillRun.objects.update(cursor={**saved_run(name).cursor, "pk": "17"})
    keys = list(UUIDKey.objects.order_by("created_at", "pk").values_list("pk", flat=True))
    UUIDKey.objects.filter(pk__in=[keys[3], keys[25], keys[39]]).update(public_id=None)
    assert fill(name).filled == 3
    assert times_are_right(name)
