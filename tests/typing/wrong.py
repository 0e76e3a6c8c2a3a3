"""What every type checker must find: each line with ``# error`` is one, and no other line is."""

import uuid

from django_sortable_ids import fields
from tests.typing.models import Every, Nullable, Order


def assigned(row: Every, null: Nullable, order: Order) -> None:
    row.ulid = 1  # error
    row.ulid = uuid.uuid4()  # error
    row.ulid = None  # error
    row.lexical = 1  # error
    row.lexical = None  # error
    row.uuid7 = 1  # error
    row.uuid7 = None  # error
    row.snowflake = 1.5  # error
    row.snowflake = uuid.uuid4()  # error
    row.snowflake = None  # error
    null.ulid = 1  # error
    null.lexical = 1  # error
    null.uuid7 = 1  # error
    null.snowflake = 1.5  # error
    order.customer = row  # error


def read(row: Every, null: Nullable) -> None:
    row.ulid.hex  # error
    row.uuid7.upper()  # error
    row.tsid.upper()  # error
    null.ulid.upper()  # error
    null.uuid7.hex  # error
    null.tsid.bit_length()  # error


def queries() -> None:
    Every.objects.filter(ulid=1)  # error: mypy
    Every.objects.filter(uuid7=1)  # error: mypy
    Every.objects.filter(tsid=uuid.uuid4())  # error: mypy
    Every.objects.create(ulid=1)  # error: mypy
    Order(customer_id=1)  # error: mypy


def relations(order: Order) -> None:
    order.replaces_id = uuid.uuid4()  # error
    order.sent_to_id = 1  # error


fields.ULIDField(prefix=1)  # error
fields.LexicalSequenceField(block="1")  # error
fields.UUIDv7Field(accept_other_versions="no")  # error
fields.TSIDField(null="no")  # error
