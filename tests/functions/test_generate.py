"""``GenerateID``: ids that the database makes, of now and of a given time."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, models
from django.test.utils import isolate_apps
from django.utils import timezone

from django_sortable_ids.fields import (
    CombV13UUIDField,
    HexULIDField,
    KUUIDField,
    SnowflakeField,
    Time64Field,
    ULIDField,
    UUIDv6Field,
    UUIDv7Field,
)
from django_sortable_ids.functions import GenerateID
from tests.marks import own_tables

FIELDS = {
    "uuid7": UUIDv7Field(),
    "uuid7 in 16 bytes": UUIDv7Field(storage="binary"),
    "uuid7 in 32 characters": UUIDv7Field(storage="char32"),
    "uuid7 in 36 characters": UUIDv7Field(storage="char36"),
    "uuid6": UUIDv6Field(),
    "uuid6 in 16 bytes": UUIDv6Field(storage="binary"),
    "comb13": CombV13UUIDField(),
    "comb13 in 36 characters": CombV13UUIDField(storage="char36"),
    "ulid": ULIDField(),
    "ulid as text": ULIDField(storage="char"),
    "hexulid": HexULIDField(),
    "kuuid": KUUIDField(),
    "kuuid in ms": KUUIDField(precision="ms"),
    "short kuuid": KUUIDField(short=True),
    "reversed kuuid": KUUIDField(reverse=True),
    "reversed kuuid in bytes": KUUIDField(reverse=True, storage="binary"),
    "snowflake": SnowflakeField(),
    "snowflake of another epoch": SnowflakeField(epoch_ms=0, time_bits=45, worker_bits=2),
    "time64": Time64Field(),
    "time64 3+6": Time64Field(layout="3+6"),
}
ROWS = 500


def expression_of(field, **arguments):
    return GenerateID(field.scheme_name, storage=field.storage, **field._options, **arguments)


@pytest.fixture(params=FIELDS.values(), ids=FIELDS)
def field(request):
    return request.param


@pytest.fixture
def model(field):
    """A table whose id has a default in the database, and another id to be filled."""
    with isolate_apps("tests.testapp"):

        class Made(models.Model):
            name = models.CharField(max_length=9)
            at = models.DateTimeField()
            made = field.clone()
            public = type(field)(
                storage=field.storage,
                db_default=GenerateID(field.scheme_name, **field._options),
                **field._options,
            )

            class Meta:
                app_label = "testapp"

            def __str__(self):
                return self.name

        Made._meta.get_field("made").null = True
        with connection.schema_editor() as editor:
            editor.create_model(Made)
        yield Made
        with connection.schema_editor() as editor:
            editor.delete_model(Made)


MOMENTS = [
    datetime(2026, 1, 1, 23, 59, 59, 999_999, UTC) + n * timedelta(hours=7, microseconds=1)
    for n in range(ROWS)
]


@own_tables
def test_makes_ids(model, field):
    """In a column's default and in an update, of now and of a column's time, all at once."""
    scheme = field.scheme
    before = timezone.now()
    model.objects.bulk_create(model(name=f"{n}", at=at) for n, at in enumerate(MOMENTS))
    model.objects.update(made=expression_of(field))
    after = timezone.now()
    for column in ("public", "made"):
        values = list(model.objects.values_list(column, flat=True))
        assert_unlike(values, scheme)
        for value in values:
            assert scheme.from_int(scheme.to_int(value)) == value
            created_at = scheme.created_at(value)
            assert before - timedelta(seconds=1.001) < created_at <= after + timedelta(seconds=0.01)
    model.objects.update(made=expression_of(field, at="at"))
    for at, value in model.objects.values_list("at", "made"):
        assert scheme.parts(value)[0] == scheme.tick(at)
    assert_unlike(model.objects.values_list("made", flat=True), scheme)


def assert_unlike(values, scheme):
    """Distinct; some of an integer's may collide, because so few bits of them are random."""
    assert len(set(values)) > 0.97 * ROWS if scheme.bits == 64 else len(set(values)) == ROWS


@own_tables
def test_every_bit_of_the_tail_is_random(model, field):
    scheme = field.scheme
    model.objects.bulk_create(model(name=f"{n}", at=MOMENTS[0]) for n in range(ROWS))
    model.objects.update(made=expression_of(field, at="at"))
    tails = [scheme.parts(value)[1] for value in model.objects.values_list("made", flat=True)]
    if scheme.layout.tails & (scheme.layout.tails - 1):
        assert max(tails) > 0.97 * scheme.layout.tails
        assert min(tails) < 0.03 * scheme.layout.tails
        return
    ones = [
        sum(tail >> bit & 1 for tail in tails)
        for bit in range(scheme.layout.tails.bit_length() - 1)
    ]
    # The first digit of a kuuid's group is one of 0 to 3, so that the group fits into 32 bits.
    rare = {bit for bit, count in enumerate(ones) if not 0.3 * ROWS < count < 0.7 * ROWS}
    assert not rare
