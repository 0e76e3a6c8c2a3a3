"""``CreatedAt``: the database reads the time of an id as Python does, whatever the column."""

import json
import random

import pytest
from django.core.exceptions import FieldError
from django.db import NotSupportedError, connection
from django.db.models import Value

from django_sortable_ids.functions import CreatedAt
from django_sortable_ids.schemes import OutOfRange, get
from tests.capabilities import label
from tests.marks import own_tables
from tests.own_tables import table_with
from tests.schemes.support import VECTORS
from tests.testapp.models import Order, SequenceKey, around

from .columns import COLUMNS, LABELS, LONG_TEXTS

pytestmark = pytest.mark.django_db

COUNT = 300


def numbers_of(scheme, count):
    """Numbers of ids: of the ends, of both sides of tick borders, and random ones of all times."""
    layout = scheme.layout
    first, last = layout.first_tick, layout.last_tick
    now = scheme.tick(scheme.created_at(scheme.example))
    latest = scheme.tick(scheme.latest)
    near = {first, first + 1, now, now + 1, latest - 1, latest, latest + 1, last}
    for tick in (each for each in near if each <= last):
        yield layout.join(tick, 0)
        yield layout.join(tick, layout.capacity(tick) - 1)
    chance = random.Random(9562)
    for n in range(count):
        # Half of them anywhere, which is mostly the far future, half of them up to now.
        tick = chance.randint(first, last if n % 2 else now)
        yield layout.join(tick, chance.randrange(layout.capacity(tick)))


def vectors_of(scheme):
    """Numbers of the published ids of the scheme."""
    for file in VECTORS.glob("*.json"):
        vectors = json.loads(file.read_text())
        if (
            vectors.get("scheme") == scheme.name
            and get(scheme.name, **vectors["options"]) == scheme
        ):
            for vector in vectors["valid"]:
                yield scheme.to_int(scheme.parse(vector["text"]))


def time_of(scheme, value):
    try:
        return scheme.created_at(value)
    except OutOfRange:
        return None


@own_tables
@pytest.mark.parametrize("field", COLUMNS, ids=LABELS)
def test_equals_python(field, shows):
    scheme = field.scheme
    numbers = [*numbers_of(scheme, COUNT), *vectors_of(scheme)]
    if scheme.value_type is int:
        numbers = [number for number in numbers if number < 2**63]
    values = {scheme.from_int(number) for number in numbers}
    with table_with(field) as model:
        model.objects.bulk_create([model(made=value) for value in values], batch_size=900)
        assert set(model.objects.values_list("made", flat=True)) == values
        shows("keeps", field)
        assert_found(model, values, scheme)
        shows("finds", field)
        found = model.objects.values_list("made", CreatedAt("made"))
        if connection.vendor == "sqlite" and label(field) in map(label, LONG_TEXTS):
            advice = "SQLite can't read the time of a .* in base .*, with storage='binary'"
            with pytest.raises(NotSupportedError, match=advice):
                list(found)
            shows("reads", field, has=False)
            return
        assert dict(found) == {value: time_of(scheme, value) for value in values}
    shows("reads", field)


def assert_found(model, values, scheme):
    """A range of creation times finds those of its times, at its ends as well."""
    times = {value: time for value in values if (time := time_of(scheme, value)) is not None}
    first, last = (sorted(times.values())[len(times) * n // 3] for n in (1, 2))
    found = model.objects.filter(made__created_at__range=(first, last))
    expected = {value for value, time in times.items() if first <= time <= last}
    assert set(found.values_list("made", flat=True)) == expected


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
