"""What is known of the new keys of rows: the old ones, the order, the times and the bits."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from .content import Dump, moved_models
from .database import state
from .rows import EPOCH

_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_SOURCES: dict[str, Callable[[Any], Any]] = {
    "User": lambda row: row.date_joined,
    "Customer": lambda row: row.created_at,
    "Club": lambda row: 0,
    "Order": lambda row: row.customer.created_at,
    "Parcel": lambda row: row.sent_at,
    "Event": lambda row: _ulid(row.old_id),
    "Scan": lambda row: int(row.old_id, 16),
}
"""What the new keys are in the order of; of equal ones, in the order of the old keys."""


def problems(before: Dump, after: Dump) -> Iterator[str]:
    models = state()
    for each in moved_models():
        name, table = each.__name__, each._meta.db_table
        old = {row["mark"]: row["id"] for row in before[table]}
        if {row["mark"]: row["old_id"] for row in after[table]} != old:
            yield f"{table}: its old keys are others"
        found = models.get_model("graph", name).objects.select_related()
        rows = list(found.order_by("pk"))
        source = _SOURCES[name]
        # Sorting is stable. MariaDB has an order of its own of UUIDs.
        wanted = sorted(found.order_by("old_id"), key=source)
        if [row.mark for row in rows] != [row.mark for row in wanted]:
            yield f"{table}: its new keys are in another order"
        yield from (f"{table}: {row.pk} of {source(row)}" for row in rows if _differs(name, row))


def _differs(name: str, row: Any) -> bool:
    """Whether the time in the key, or all of its bits, are not those of the row."""
    match name:
        case "User" | "Customer" | "Parcel":
            return bool(row.pk.int >> 80 != _milliseconds(_SOURCES[name](row)))
        case "Event":
            return bool(row.pk.int >> 80 != _ulid(row.old_id) >> 80)
        case "Scan":
            return _ulid(row.pk) != int(row.old_id, 16)
    return False


def _milliseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(milliseconds=1)


def _ulid(text: str) -> int:
    number = 0
    for digit in text:
        number = number * 32 + _DIGITS.index(digit)
    return number
