"""The generator: its ids increase, whatever the clock does."""

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import OutOfRange, get
from django_sortable_ids.schemes.layout import Layout
from tests.combinations import in_one_case

from .generators import MANY, TINY, decreases, fresh, generator, generator_of, increases, take
from .support import KINDS, NOW, NOW_NS, TIME_SCHEMES, examples, floored


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


def test_an_id_is_of_the_tick_that_the_clock_shows():
    """To its last nanosecond, although more ids of the tick are finished than were asked for."""
    now = [20]
    going = generator(Layout(ticks=10, suffixes=1 << 40), lambda: now[0], tick_ns=10)
    for now[0], tick in ((20, 2), (29, 2), (30, 3), (39, 3), (40, 4)):
        assert {pair[0] for pair in take(going, 5)} == {tick}


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


def largest(size):
    return size - 1


@in_one_case(
    ("suffixes", "headroom"), [(1 << 74, 1 << 64), (1 << 22, 4096), (10**5, 97), (1024, 1), (8, 0)]
)
def test_the_first_suffix_is_drawn_from_all_but_a_1024th_of_the_tick(suffixes, headroom):
    layout = Layout(ticks=10, suffixes=suffixes)
    assert generator(layout, lambda: 5, below=largest).next() == (5, suffixes - headroom - 1)
    assert generator(layout, lambda: 5, below=lambda size: 0).next() == (5, 0)


def test_a_first_suffix_at_the_end_of_the_tick_goes_on_in_the_next_tick():
    going = generator(TINY, lambda: 5, below=largest, sleep=pytest.fail)
    assert take(going, 4) == [(5, 3), (6, 3), (7, 3), (8, 3)]


@in_one_case(
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


# ``generate`` and ``generate_many``: values of now, and of a given time.


@in_one_case("scheme", KINDS)
def test_values_increase(scheme):
    scheme = fresh(scheme)
    made = [scheme.generate() for _ in range(MANY)]
    assert len(set(made)) == MANY
    if not scheme.sorts:
        assert increases([scheme.parts(value) for value in made])
    else:
        assert decreases(made) if scheme.descending else increases(made)
    # ``generate_many`` resumes where ``generate`` ended.
    made = [scheme.generate(), *scheme.generate_many(100), scheme.generate()]
    assert len(made) == 102
    assert increases([scheme.parts(value) for value in made])
    assert list(scheme.generate_many(0)) == []


@pytest.mark.parametrize("scheme", KINDS)
def test_generated_values_are_of_now(scheme, monkeypatch):
    before = datetime.now(UTC)
    made = scheme.created_at(fresh(scheme).generate())
    after = datetime.now(UTC)
    assert floored(scheme, before) <= made <= after
    # A frozen clock is seen.
    scheme = fresh(scheme)
    monkeypatch.setattr(time, "time_ns", lambda: NOW_NS)
    assert scheme.created_at(scheme.generate()) == floored(scheme, NOW)
    monkeypatch.setattr(time, "time_ns", lambda: NOW_NS + 10**10)
    later = NOW + timedelta(seconds=10)
    assert scheme.created_at(scheme.generate()) == floored(scheme, later)


# A given time


@in_one_case("scheme", TIME_SCHEMES)
def test_ids_of_a_given_time(scheme):
    for at in (
        NOW,
        scheme.earliest,
        scheme.latest,
        max(scheme.earliest, datetime(2015, 6, 30, 23, 59, 59, 999_999, UTC)),
    ):
        assert scheme.created_at(scheme.generate(at)) == floored(scheme, at)


@in_one_case("scheme", TIME_SCHEMES)
def test_many_ids_of_one_time_increase(scheme):
    made = scheme.generate_many(1000, NOW)
    parts = [scheme.parts(value) for value in made]
    assert {tick for tick, _ in parts} == {scheme.tick(NOW)}
    assert increases(parts)
    if scheme.sorts:
        assert decreases(made) if scheme.descending else increases(made)
    assert list(scheme.generate_many(0, NOW)) == []


def test_a_tick_can_be_filled_and_not_more():
    scheme = get("snowflake", epoch_ms=0, time_bits=60, worker_bits=0)
    assert [scheme.parts(v)[1] for v in scheme.generate_many(8, NOW)] == list(range(8))
    with pytest.raises(OutOfRange, match="has room for 8 ids of one tick, not for 9"):
        scheme.generate_many(9, NOW)


def test_a_given_time_leaves_the_generator_alone():
    scheme = fresh(get("uuid7"))
    before = scheme.generate()
    scheme.generate(NOW + timedelta(days=40_000))
    after = scheme.generate()
    assert before < after
    assert scheme.created_at(after) < NOW + timedelta(days=40_000)
