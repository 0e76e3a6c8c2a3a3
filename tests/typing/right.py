"""What every type checker must know: each line here is true, and none of them is an error."""

import uuid
from typing import Any, assert_type

from django.db.models import F

from django_sortable_ids import fields
from tests.typing.models import Automatic, Customer, Every, Nullable, Numbered, Order, Parcel


def every(row: Every) -> None:
    assert_type(row.uuid7, uuid.UUID)
    assert_type(row.lexical, str)
    assert_type(row.ulid, str)
    assert_type(row.xid, str)
    assert_type(row.snowflake, int)
    assert_type(row.tsid, int)


def automatic(row: Automatic, numbered: Numbered) -> None:
    assert_type(row.id, uuid.UUID)
    assert_type(numbered.id, int)


def nullable(row: Nullable) -> None:
    assert_type(row.uuid7, uuid.UUID | None)
    assert_type(row.lexical, str | None)
    assert_type(row.ulid, str | None)
    assert_type(row.xid, str | None)
    assert_type(row.snowflake, int | None)
    assert_type(row.tsid, int | None)


def relations(order: Order) -> None:
    assert_type(order.id, int)
    assert_type(order.invoice, str | None)
    assert_type(order.customer, Customer)
    assert_type(order.customer.id, uuid.UUID)
    if order.replaces is not None:
        assert_type(order.replaces.public_id, str)


def subclasses(parcel: Parcel) -> None:
    assert_type(parcel.id, str)
    assert_type(parcel.loose, Any)


def assigned(order: Order, row: Every, null: Nullable) -> None:
    row.ulid = order.public_id
    row.ulid = F("xid")
    row.uuid7 = uuid.uuid4()
    row.uuid7 = "01890a5d-ac96-774b-bcce-b302099a8057"
    row.snowflake = 1
    row.snowflake = "1541815603606036480"
    null.ulid = None
    null.uuid7 = None
    null.snowflake = None
    order.pk = None


def of_the_field(known: fields.SortableIDField, flag: bool) -> None:
    """An annotation without types takes every field, and ``null`` need not be a literal."""
    of_the_field(fields.ULIDField(null=flag), flag)
    of_the_field(fields.TSIDField("number"), flag)
    assert_type(known.parse_public("ord_1"), uuid.UUID | str | int)
