"""Tables whose primary key is a pair of columns."""

import pytest

from django_sortable_ids.backfill.verifying.verify import verify

from .shop.models import OwnedKey, PairKey, SortableKey
from .support import (
    MILLISECOND,
    START,
    Stop,
    fill,
    find,
    ids,
    insert,
    is_strict,
    rows,
    saved_run,
    stop_after,
    times_are_right,
)

pytestmark = pytest.mark.django_db

ROWS = 40


@pytest.fixture(params=[PairKey, OwnedKey])
def name(request):
    """The label of an empty column, in rows of which twenty share each time."""
    times = [START + n // 20 * MILLISECOND for n in range(ROWS)]
    insert_pairs(request.param, pairs(request.param), times)
    return f"{request.param._meta.label}.public_id"


def pairs(model):
    """Keys whose order is neither that of one half nor that in which they come."""
    numbers = [(n * 7 % 5, n * 11 % ROWS) for n in range(ROWS)]
    if model is PairKey:
        return numbers
    owners = SortableKey._meta.pk.scheme.generate_many(5)
    insert(SortableKey, [{"id": owner, "created_at": START} for owner in owners])
    return [(owners[half], f"{'aBcDé'[other % 5]}{other}") for half, other in numbers]


def insert_pairs(model, keys, times):
    one, other = model._meta.pk_fields
    insert(
        model,
        [
            {one.name: key[0], other.name: key[1], "created_at": at}
            for key, at in zip(keys, times, strict=True)
        ],
    )


@pytest.mark.parametrize("size", [1, 7, 5000])
def test_pairs_break_ties(name, size):
    assert fill(name, size).filled == ROWS
    assert is_strict(name)
    assert times_are_right(name)
    assert verify(find(name)).failures == []


@pytest.mark.parametrize("stop", [1, 3])
def test_a_run_that_stopped_goes_on_behind_a_pair(name, stop):
    with pytest.raises(Stop):
        fill(name, 7, stop_after(stop))
    given = [value for value in ids(name) if value is not None]
    assert len(given) == 7 * stop
    assert saved_run(name).cursor["pk"] == [str(part) for part in rows(name)[7 * stop - 1].pk]
    assert fill(name, 7).filled == ROWS - 7 * stop
    assert ids(name)[: 7 * stop] == given
    assert is_strict(name)


def test_verify_names_both_halves():
    insert_pairs(PairKey, [(1, 2), (3, 4)], [START, START])
    name = "shop.PairKey.public_id"
    fill(name)
    one, other = ids(name)
    PairKey.objects.update(public_id=None)
    PairKey.objects.filter(pk=(1, 2)).update(public_id=other)
    PairKey.objects.filter(pk=(3, 4)).update(public_id=one)
    found = verify(find(name))
    assert len(found.failures) == 1
    assert found.examples_of["unordered"] == ["(3, 4) comes after (1, 2), but its id does not"]
