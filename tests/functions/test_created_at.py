"""``CreatedAt``: the database reads the time of an id as Python does, whatever the column."""

import random

import pytest

from django_sortable_ids.functions import CreatedAt
from django_sortable_ids.schemes import OutOfRange

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


@pytest.fixture
def time_column(stored_key):
    """A model whose key carries a time that the database can read."""
    if stored_key.__name__ == "SequenceKey":
        pytest.skip("a sequence carries no time")
    return stored_key


def test_equals_python(time_column):
    scheme = time_column._meta.pk.scheme
    values = {scheme.from_int(number) for number in numbers_of(scheme, COUNT)}
    time_column.objects.bulk_create([time_column(pk=value) for value in values], batch_size=1000)
    found = dict(time_column.objects.values_list("pk", CreatedAt("pk")))
    assert found == {value: time_of(scheme, value) for value in values}
    assert len(found) > COUNT / 2
