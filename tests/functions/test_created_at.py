"""``CreatedAt``: the database reads the time of an id as Python does, whatever the column."""

import random

import pytest
from django.core.exceptions import FieldError
from django.db import NotSupportedError, connection
from django.db.models import Value

from django_sortable_ids.functions import CreatedAt
from django_sortable_ids.schemes import OutOfRange
from tests.testapp.models import Order, SequenceKey, around

from .conftest import LONG_TEXTS

pytestmark = pytest.mark.django_db

COUNT = 10_000


def numbers_of(scheme, count):
    """Numbers of ids: of the ends, of both sides of tick borders, and random ones of all times."""
    layout = scheme.layout
    first, last = layout.first_tick, layout.last_tick
    now = scheme.tick(scheme.created_at(scheme.example))
    latest = scheme.tick(scheme.latest)
    for tick in {first, first + 1, now, now + 1, latest - 1, latest, min(latest + 1, last), last}:
        yield layout.join(tick, 0)
        yield layout.join(tick, layout.capacity(tick) - 1)
    chance = random.Random(9562)
    for n in range(count):
        # Half of them anywhere, which is mostly the far future, half of them up to now.
        tick = chance.randint(first, last if n % 2 else now)
        yield layout.join(tick, chance.randrange(layout.capacity(tick)))


def time_of(scheme, value):
    try:
        return scheme.created_at(value)
    except OutOfRange:
        return None


def test_equals_python(decoded_key):
    scheme = decoded_key._meta.pk.scheme
    numbers = numbers_of(scheme, COUNT)
    if scheme.value_type is int:
        numbers = (number for number in numbers if number < 2**63)
    values = {scheme.from_int(number) for number in numbers}
    decoded_key.objects.bulk_create([decoded_key(pk=value) for value in values], batch_size=1000)
    found = dict(decoded_key.objects.values_list("pk", CreatedAt("pk")))
    assert found == {value: time_of(scheme, value) for value in values}
    assert len(found) > COUNT / 2


def test_null(decoded_key):
    field = decoded_key._meta.pk
    name = decoded_key.__name__.removesuffix("Key")
    optional = around(decoded_key, "Public")
    optional.objects.create(name=name)
    optional.objects.update(optional=None)
    optional.objects.create(name=name, optional=field.scheme.example)
    times = set(optional.objects.values_list(CreatedAt("optional"), flat=True))
    assert times == {None, field.scheme.created_at(field.scheme.example)}


def test_through_a_foreign_key(decoded_key):
    """The foreign key's own column is read: no join."""
    parent = decoded_key.objects.create()
    around(decoded_key, "Child").objects.create(parent=parent)
    children = around(decoded_key, "Child").objects.annotate(at=CreatedAt("parent"))
    assert children.get().at == decoded_key._meta.pk.scheme.created_at(parent.pk)
    assert "JOIN" not in str(children.query)


@pytest.mark.parametrize(
    ("model", "column", "message"),
    [
        (
            SequenceKey,
            "id",
            r"testapp\.SequenceKey\.id is a lexical sequence: its ids carry no time",
        ),
        (Order, "created_at", r"takes a sortable id, found testapp\.Order\.created_at"),
        (Order, "id", r"takes a sortable id, found testapp\.Order\.id"),
        (Order, Value(7), r"takes a sortable id, found"),
    ],
)
def test_refuses_what_has_no_time(model, column, message):
    with pytest.raises(FieldError, match=message):
        list(model.objects.annotate(at=CreatedAt(column)))


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the others have large decimals")
@pytest.mark.parametrize("model", LONG_TEXTS)
def test_sqlite_refuses_long_texts(model):
    advice = (
        r"SQLite can't read the time of a .* in base \d+: keep it as bytes, with storage='binary'"
    )
    with pytest.raises(NotSupportedError, match=advice):
        list(model.objects.annotate(at=CreatedAt("id")))
    assert not model.objects.filter(id__created_at__year=2026).exists()
