"""Suffixes for ids that share a tick."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes.generation.randomness import spread

from .support import examples


def first(size):
    return 0


def last(size):
    return size - 1


@examples
@given(data=st.data())
def test_tails_increase_within_the_range(data):
    count = data.draw(st.integers(1, 50))
    start = data.draw(st.integers(0, 1 << 80))
    stop = start + count + data.draw(st.integers(0, 100) | st.integers(0, 1 << 80))
    suffixes = list(spread(count, start, stop))
    assert len(suffixes) == count
    assert suffixes == sorted(set(suffixes))
    assert start <= suffixes[0]
    assert suffixes[-1] < stop


@examples
@given(data=st.data())
def test_batches_go_on_behind_the_last_tail(data):
    batches = data.draw(st.lists(st.integers(1, 20), min_size=1, max_size=8))
    left, start = sum(batches), 0
    stop = left + data.draw(st.integers(0, 1000))
    suffixes = []
    for count in batches:
        suffixes += spread(count, start, stop, among=left)
        left -= count
        start = suffixes[-1] + 1
    assert len(suffixes) == sum(batches)
    assert suffixes == sorted(set(suffixes))
    assert suffixes[-1] < stop


@pytest.mark.parametrize("below", [first, last])
def test_a_range_as_large_as_the_count_is_used_up(below):
    assert list(spread(5, 10, 15, below=below)) == [10, 11, 12, 13, 14]


def test_one_tail_is_drawn_from_each_slot():
    assert list(spread(3, 100, 400, below=first)) == [100, 200, 300]
    assert list(spread(3, 100, 400, below=last)) == [199, 299, 399]


def test_slots_are_as_many_as_ids_still_to_come():
    assert list(spread(2, 0, 400, among=4, below=first)) == [0, 100]
    assert list(spread(2, 0, 400, among=4, below=last)) == [99, 199]


def test_none_are_drawn_for_a_count_of_0():
    assert list(spread(0, 0, 10, among=3)) == []
