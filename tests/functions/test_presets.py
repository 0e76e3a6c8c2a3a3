"""Schemes that have no key among the test app's: every preset and option decodes as Python does."""

from contextlib import contextmanager

import pytest
from django.db import connection, models
from django.test.utils import isolate_apps

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


@contextmanager
def table_with(field):
    """A model with an id of that field."""
    with isolate_apps("tests.testapp"):

        class Preset(models.Model):
            made = field.clone()

            class Meta:
                app_label = "testapp"

            def __str__(self):
                return f"{self.made}"

        with connection.schema_editor() as editor:
            editor.create_model(Preset)
        try:
            yield Preset
        finally:
            with connection.schema_editor() as editor:
                editor.delete_model(Preset)


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
