"""The generator: its ids increase, whatever the clock does."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import OutOfRange, get
from django_sortable_ids.schemes.layout import Layout
from tests.combinations import in_one_case

from .generators import MANY, TINY, generator, generator_of, increases, take
from .support import KINDS, NOW_NS, TIME_SCHEMES, examples


@pytest.mark.parametrize("scheme", KINDS)
@pytest.mark.parametrize("back_ns", [10**9, 10 * 366 * 86_400 * 10**9], ids=["1 s", "10 years"])
def test_a_clock_that_steps_back(scheme, back_ns):
    now = [NOW_NS]
    going = generator_of(scheme, lambda: now[0])
    before = take(going, 100)
    now[0] -= back_ns
    during = take(going, MANY)
    now[0] += back_ns + 10**9
    after = take(going, 100)
    assert increases(before + during + after)
    assert after[-1][0] >= before[0][0] + 10**9 // scheme.tick_ns


@in_one_case("scheme", TIME_SCHEMES)
def test_a_clock_outside_of_the_range_is_refused(scheme):
    for ns in (
        scheme.epoch_ns + (scheme.layout.last_tick + 1) * scheme.tick_ns,
        scheme.epoch_ns + scheme.layout.first_tick * scheme.tick_ns - 1,
        scheme.epoch_ns - 10**18,
    ):
        going = generator_of(scheme, lambda ns=ns: ns)
        for _ in range(2):
            with pytest.raises(OutOfRange):
                going.next()


@in_one_case(
    "scheme", [param for param in TIME_SCHEMES if param.values[0].layout.suffixes > 1 << 16]
)
def test_one_id_does_not_tell_the_next(scheme):
    pairs = take(generator_of(scheme, lambda: NOW_NS), 50)
    same_tick = [b[1] - a[1] for a, b in pairwise(pairs) if a[0] == b[0]]
    assert len(set(same_tick)) > 1


# Small layouts, number by number


@examples
@given(times=st.lists(st.integers(0, 30), max_size=60), worker=st.none() | st.integers(0, 3))
def test_any_clock_gives_increasing_ids(times, worker):
    layout = Layout(ticks=100, suffixes=8, workers=4)
    shown = []

    def clock():
        shown.append(times.pop() if times else 30)
        return shown[-1]

    going = generator(layout, clock, worker=worker)
    pairs = []
    while times:
        pairs.append(going.next())
        tick, suffix = pairs[-1]
        assert shown[-1] <= tick < layout.ticks
        assert 0 <= suffix < layout.suffixes
        assert worker is None or suffix // 2 == worker
    assert increases(pairs)


def test_a_full_tick_goes_on_into_the_next():
    going = generator(TINY, lambda: 5, below=lambda size: 0)
    assert take(going, 9) == [
        (5, 0),
        (5, 1),
        (5, 2),
        (5, 3),
        (6, 0),
        (6, 1),
        (6, 2),
        (6, 3),
        (7, 0),
    ]


def test_a_tick_used_early_goes_on_when_it_comes():
    now = [5]
    going = generator(TINY, lambda: now[0], below=lambda size: 0)
    take(going, 5)
    now[0] = 6
    assert take(going, 2) == [(6, 1), (6, 2)]
    now[0] = 8
    assert take(going, 1) == [(8, 0)]


def largest(size):
    return size - 1


def least_then_largest():
    """The first id gets the least suffix, all steps are the largest ones."""
    drawn = []
    return lambda size: drawn.append(size) or (size - 1 if len(drawn) > 1 else 0)


@pytest.mark.parametrize(
    ("suffixes", "headroom"), [(1 << 74, 1 << 64), (1 << 22, 4096), (10**5, 97), (1024, 1), (8, 0)]
)
def test_the_first_suffix_is_drawn_from_all_but_a_1024th_of_the_tick(suffixes, headroom):
    layout = Layout(ticks=10, suffixes=suffixes)
    assert generator(layout, lambda: 5, below=largest).next() == (5, suffixes - headroom - 1)
    assert generator(layout, lambda: 5, below=lambda size: 0).next() == (5, 0)


def test_a_last_tick_that_is_cut_has_its_own_headroom():
    layout = Layout(ticks=7, suffixes=1 << 20, largest=(6 << 20) + 2047)
    assert generator(layout, lambda: 6, below=largest).next() == (6, 2048 - 2 - 1)


def test_a_first_suffix_at_the_end_of_the_tick_goes_on_in_the_next_tick():
    going = generator(TINY, lambda: 5, below=largest, sleep=pytest.fail)
    assert take(going, 4) == [(5, 3), (6, 3), (7, 3), (8, 3)]


@pytest.mark.parametrize(
    ("suffixes", "tick_ns", "room"),
    [(1 << 74, 10**6, 16_384), (1 << 62, 100, 4096), (1 << 64, 10**9, 1 << 24)],
)
def test_ids_keep_far_from_the_end_of_a_tick_wherever_it_starts(suffixes, tick_ns, room):
    """Each step is the largest one, and not even half of the headroom is used."""
    layout = Layout(ticks=10, suffixes=suffixes)
    going = generator(layout, lambda: 0, tick_ns=tick_ns, below=largest)
    pairs = take(going, 1001)
    steps = [after[1] - before[1] for before, after in pairwise(pairs)]
    assert all(step & step - 1 == 0 for step in steps)
    assert steps == sorted(steps, reverse=True)
    assert steps[0] * room <= suffixes >> 10 < 2 * steps[0] * room
    assert pairs[-1][0] == 0


@pytest.mark.parametrize("name", ["snowflake", "tsid", "sonyflake", "time64", "mastodon"])
def test_steps_of_64_bit_ids_do_not_get_smaller(name):
    scheme = get(name)
    pairs = take(generator_of(scheme, lambda: NOW_NS, below=largest), 1000)
    same_tick = [b[1] - a[1] for a, b in pairwise(pairs) if a[0] == b[0]]
    going = generator_of(scheme, lambda: NOW_NS)
    assert {*same_tick} == {going.largest_step}


def test_steps_leave_room_for_4096_ids_of_a_tick():
    layout = Layout(ticks=10, suffixes=1 << 20)
    going = generator(layout, lambda: 5, below=least_then_largest())
    pairs = take(going, 4096)
    assert {tick for tick, _ in pairs} == {5}
    assert pairs[1][1] - pairs[0][1] == 2**19 // 4096


def test_steps_leave_room_for_16_ids_a_microsecond():
    layout = Layout(ticks=10, suffixes=1 << 40)
    going = generator(layout, lambda: 0, tick_ns=10**9, below=least_then_largest())
    first, second = take(going, 2)
    assert second[1] - first[1] == 2**15 <= 2**39 // 16_000_000


def test_the_last_tick_ends_the_scheme():
    going = generator(TINY, lambda: 9, below=lambda size: 0)
    assert take(going, 4) == [(9, 0), (9, 1), (9, 2), (9, 3)]
    for _ in range(3):
        with pytest.raises(OutOfRange, match="outside the range of the scheme; correct the clock"):
            going.next()


def test_a_last_tick_that_is_cut_is_not_overrun():
    layout = Layout(ticks=7, suffixes=10, largest=64)
    going = generator(layout, lambda: 6, below=lambda size: 0)
    assert take(going, 5) == [(6, 0), (6, 1), (6, 2), (6, 3), (6, 4)]
    with pytest.raises(OutOfRange):
        going.next()
