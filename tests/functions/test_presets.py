"""Schemes that have no key among the test app's: every preset and option decodes as Python does."""

import pytest

from django_sortable_ids.fields import (
    KSUIDField,
    KUUIDField,
    PushIDField,
    SnowflakeField,
    SonyflakeField,
    Time64Field,
    TSIDField,
    UUIDv6Field,
    UUIDv7Field,
)
from django_sortable_ids.functions import CreatedAt
from tests.marks import own_tables
from tests.own_tables import table_with

from .test_created_at import numbers_of, time_of

FIELDS = {
    "discord": SnowflakeField(layout="discord"),
    "instagram": SnowflakeField(layout="instagram"),
    "mastodon": SnowflakeField(layout="mastodon"),
    "unique_rowid": SnowflakeField(layout="unique_rowid"),
    "snowflake of 50 bits of time": SnowflakeField(epoch_ms=1, time_bits=50, worker_bits=3),
    "sonyflake 1": SonyflakeField(version=1),
    "sonyflake of an odd epoch": SonyflakeField(epoch_ms=1_700_000_000_123),
    "tsid without nodes": TSIDField(node_bits=0),
    "tsid with 20 bits of node": TSIDField(node_bits=20),
    "time64 3+6": Time64Field(layout="3+6"),
    "ksuid in ms": KSUIDField(precision="ms"),
    "kuuid in ms": KUUIDField(precision="ms"),
    "kuuid in bytes": KUUIDField(storage="binary", reverse=True, short=True),
    "pushid in bytes": PushIDField(storage="binary"),
    "uuid6 in 16 bytes": UUIDv6Field(storage="binary"),
    "uuid6 in 32 characters": UUIDv6Field(storage="char32"),
    "uuid7 in 36 characters": UUIDv7Field(storage="char36"),
}


@own_tables
@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_equals_python(field):
    scheme = field.scheme
    numbers = [n for n in numbers_of(scheme, 2000) if scheme.value_type is not int or n < 2**63]
    with table_with(field) as model:
        values = {scheme.from_int(number) for number in numbers}
        model.objects.bulk_create([model(made=value) for value in values], batch_size=900)
        found = dict(model.objects.values_list("made", CreatedAt("made")))
    assert found == {value: time_of(scheme, value) for value in values}
