"""Ids for rows in the order of their times, without a database."""

from dataclasses import replace

import pytest

from django_sortable_ids.backfill import batch
from django_sortable_ids.backfill.batch import Position, mint_between
from django_sortable_ids.schemes import OutOfRange, get
from tests.marks import uniform
from tests.schemes.odds import is_far, uneven_bits
from tests.schemes.support import NOW, SORTING_KINDS

from .support import SECOND

TINY = get("snowflake", time_bits=60, worker_bits=0)
"""Has room for 8 ids in a millisecond."""


def mint(scheme, times, position, beyond):
    numbers, last = batch.mint(scheme, [*map(scheme.tick, times)], position, beyond)
    return [*map(scheme.from_int, numbers)], last


def numbers(scheme, ids):
    sign = -1 if scheme.descending else 1
    return [sign * scheme.to_int(value) for value in ids]


def suffixes(ids):
    return [TINY.parts(value)[1] for value in ids]


@uniform
@pytest.mark.parametrize("scheme", SORTING_KINDS)
def test_a_row_alone_in_its_tick_gets_an_id_from_anywhere_in_it(scheme):
    suffixes = []
    for _ in range(2000):
        ids, _ = mint(scheme, [NOW, NOW + 2 * SECOND], None, 0)
        suffixes += [scheme.layout.new_below(scheme.parts(value)[1]) for value in ids]
    size = scheme.layout.new.suffixes
    upper = sum(2 * suffix >= size for suffix in suffixes)
    assert not is_far(upper, 1 / 2, len(suffixes))
    if size.bit_count() == 1:
        assert uneven_bits(suffixes, size.bit_length() - 1) == []


def test_each_row_gets_an_id_of_its_own_tick_where_a_clock_change_disorders_them():
    """A local time in the hour that a clock change skips is a later instant than the next row's."""
    times = [NOW, NOW - SECOND, NOW]
    ids, _ = mint(TINY, times, None, 0)
    assert [TINY.parts(value)[0] for value in ids] == [*map(TINY.tick, times)]


def eighth(suffix):
    return TINY.from_int(TINY.layout.join(TINY.tick(NOW), suffix))


WITH_BIT = replace(TINY, layout=replace(TINY.layout, set_bit=1))
"""Its new ids have the suffixes 2, 3, 6 and 7."""


@pytest.mark.parametrize(
    ("before", "expected"),
    [(None, [2, 3, 6, 7]), (0, [2, 3, 6, 7]), (2, [3, 6, 7]), (4, [6, 7]), (6, [7])],
)
def test_ids_with_a_set_bit_resume_after_any_id(before, expected):
    position = None if before is None else Position(TINY.tick(NOW), before)
    ids, last = mint(WITH_BIT, [NOW] * len(expected), position, 0)
    assert suffixes(ids) == expected
    assert last == Position(TINY.tick(NOW), 7)
    with pytest.raises(OutOfRange, match=f"room for {len(expected)}"):
        mint(WITH_BIT, [NOW] * (len(expected) + 1), position, 0)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(None, None, [2, 3, 6, 7]), (2, 6, [3]), (1, 4, [2, 3]), (None, 7, [2, 3, 6]), (3, 5, [])],
)
def test_ids_with_a_set_bit_are_between_any_two(before, after, expected):
    bounds = [[] if suffix is None else [eighth(suffix)] for suffix in (before, after)]
    count = len(expected)
    if count:
        assert suffixes(mint_between(WITH_BIT, NOW, *bounds, None, count, count)) == expected
    with pytest.raises(OutOfRange, match=f"room for {count}"):
        mint_between(WITH_BIT, NOW, *bounds, None, count + 1, count + 1)


def test_ids_for_rows_that_are_still_to_come_are_left_free():
    for _ in range(20):
        assert suffixes(mint_between(TINY, NOW, [], [], None, 2, 4))[-1] < 4


@pytest.mark.parametrize(
    ("before", "after", "last", "expected"),
    [
        ([5], [2], None, [6, 7]),
        ([7], [2], None, [0, 1]),
        ([0], [6, 3, 4], None, [1, 2]),
        ([6, 0], [3, 4], None, [1, 2]),
        ([7, 1], [4], 5, [2, 3]),
        ([5], [2], 4, [0, 1]),
        ([3], [2], 6, [4, 5]),
    ],
)
def test_ids_contradict_the_fewest_of_those_around_them(before, after, last, expected):
    sides = [[*map(eighth, suffixes)] for suffixes in (before, after)]
    last = None if last is None else eighth(last)
    assert suffixes(mint_between(TINY, NOW, *sides, last, 2, 2)) == expected
