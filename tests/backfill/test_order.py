"""The order of the ids: that of (creation time, key), strictly, whatever the batches."""

import pytest

from tests.combinations import each_with

from .support import (
    FIELDS,
    MICROSECOND,
    MILLISECOND,
    SECOND,
    START,
    TIMED,
    each_kind,
    field_of,
    fill,
    ids,
    insert_orders,
    is_strict,
    rows,
    sorts_in_database,
    times_are_right,
)

pytestmark = pytest.mark.django_db

CASES = {
    "one tick": ([START] * 20, [1, 7, 20, 5000]),
    "ties of 7": ([START + i // 7 * SECOND for i in range(21)], [7, 10]),
    "ties of 2 and 3": ([START + i * 2 // 5 * SECOND for i in range(20)], [1, 7]),
    "microseconds of a tick": ([START + i * 7 % 20 * MICROSECOND for i in range(20)], [6, 5000]),
    "milliseconds": ([START + i * 7 % 20 * MILLISECOND for i in range(20)], [7]),
    "keys the other way": ([START - i * SECOND for i in range(20)], [1, 5000]),
    "two ticks, keys mixed": ([START + i % 2 * SECOND for i in range(20)], [7, 10]),
}
"""Creation times in the order of keys, and sizes of batches."""


CASES_AND_SIZES = [(case, size) for case, (_, sizes) in CASES.items() for size in sizes]


@pytest.mark.parametrize(
    ("name", "case"),
    each_with(FIELDS, CASES_AND_SIZES),
    ids=str,
)
def test_ids_sort_strictly_as_the_rows_and_have_their_times(name, case):
    described, size = case
    times, _ = CASES[described]
    insert_orders(times)
    result = fill(name, size)
    assert (result.filled, result.remaining) == (len(times), 0)
    assert is_strict(name)
    assert sorts_in_database(name)
    if name in TIMED:
        assert times_are_right(name)


def test_a_sequence_counts_in_the_order_of_the_rows():
    insert_orders([START - i // 2 * SECOND for i in range(6)])
    fill("number", 4)
    assert ids("number") == ["1000", "1007", "1014", "1021", "1028", "1035"]


@each_kind
def test_ids_that_are_there_stay(name):
    insert_orders([START] * 10)
    given = field_of(name).scheme.generate(START) if name in TIMED else "0999"
    kept = rows(name)[4].pk
    rows(name).filter(pk=kept).update(**{name: given})
    result = fill(name, 3)
    assert rows(name).values_list(name, flat=True).get(pk=kept) == given
    assert result.filled == 9
    assert len(set(ids(name))) == 10
