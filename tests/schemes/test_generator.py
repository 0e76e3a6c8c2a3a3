"""The generator: its ids increase, whatever the clock does."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import freezegun
import pytest
import time_machine
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import ClockRollback, OutOfRange, get
from django_sortable_ids.schemes.clock_and_randomness import RollbackRule
from django_sortable_ids.schemes.generator import Generator
from django_sortable_ids.schemes.layout import Layout
from tests.combinations import in_one_case

from .generators import MANY, TINY, decreases, fresh, generator, generator_of, increases, take
from .support import KINDS, NOW, NOW_NS, TIME_SCHEMES, each_scheme_with, examples


@in_one_case("scheme", KINDS)
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
    assert take(going, 9) == [divmod(5 * 4 + n, 4) for n in range(9)]


def largest(size):
    return size - 1


@in_one_case(
    ("suffixes", "headroom"), [(1 << 74, 1 << 64), (1 << 22, 4096), (10**5, 97), (1024, 1), (8, 0)]
)
def test_the_first_suffix_is_drawn_from_all_but_a_1024th_of_the_tick(suffixes, headroom):
    layout = Layout(ticks=10, suffixes=suffixes)
    assert generator(layout, lambda: 5, below=largest).next() == (5, suffixes - headroom - 1)
    assert generator(layout, lambda: 5, below=lambda size: 0).next() == (5, 0)


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


# A given time


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


# The clock goes back, stands still, or ids run ahead of it


SECOND = 1_000_000_000
MILLISECOND = 1_000_000
FEW = Layout(ticks=1 << 50, suffixes=4, workers=1)
"""A worker has four ids of a tick."""


@pytest.fixture
def rule(monkeypatch):
    """Set the rule of the process."""
    return lambda policy, limit_ns=10 * SECOND: monkeypatch.setattr(
        Generator, "rule", RollbackRule(policy, limit_ns)
    )


class Clock:
    """A clock that moves only while somebody sleeps; with ``stopped`` not even then."""

    def __init__(self, now=NOW_NS, stopped=False):
        self.now = now
        self.stopped = stopped
        self.slept = []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        if not self.stopped:
            self.now += round(seconds * SECOND)


@in_one_case(("scheme", "policy"), each_scheme_with(KINDS, ["advance", "wait", "raise"]))
def test_a_step_back_within_the_limit_is_absorbed(scheme, policy, rule):
    rule(policy)
    clock = Clock()
    # From the start of the tick on, so that it has room for all of them.
    going = generator_of(scheme, clock, sleep=clock.sleep, below=lambda _: 0)
    before = going.next()
    clock.now -= 10 * SECOND
    during = take(going, 100)
    assert increases([before, *during])
    assert during[-1][0] == before[0]
    assert not clock.slept


def test_a_large_step_back_is_refused_until_the_clock_has_caught_up(rule):
    rule("raise")
    clock = Clock()
    going = generator_of(get("uuid7"), clock)
    before = going.next()
    clock.now -= 3600 * SECOND
    for _ in range(2):
        with pytest.raises(ClockRollback) as refusal:
            going.next()
    assert str(refusal.value) == (
        "the clock is 3600.0 s before the last id, more than the allowed 10 s; "
        "correct it, or wait until it has caught up"
    )
    clock.now += 3590 * SECOND
    assert increases([before, *take(going, 100)])


@in_one_case("scheme", [get("uuid6"), get("uuid7")])
def test_a_step_back_is_counted_from_the_last_id_of_many_ticks(scheme, rule):
    rule("raise")
    clock = Clock()
    going = generator_of(scheme, clock)
    for _ in range(8):
        going.next()
        clock.now += SECOND
    clock.now -= 18 * SECOND
    with pytest.raises(ClockRollback, match=r"the clock is 17\.0 s before"):
        going.next()


@in_one_case("scheme", [get("uuid6"), get("uuid7")])
def test_the_last_tick_is_reached_and_not_passed(scheme):
    last, clock = scheme.layout.last_tick, Clock()
    clock.now = scheme.epoch_ns + (last - 3) * scheme.tick_ns
    going = generator_of(scheme, clock)
    for tick in range(last - 3, last + 1):
        assert going.next()[0] == tick
        clock.now += scheme.tick_ns
    with pytest.raises(OutOfRange):
        going.next()


def test_a_large_step_back_is_waited_for(rule):
    rule("wait")
    clock = Clock()
    going = generator_of(get("uuid7"), clock, sleep=clock.sleep)
    before = going.next()
    clock.now -= 3600 * SECOND
    assert increases([before, *take(going, 100)])
    assert sum(clock.slept) == pytest.approx(3590)
    assert max(clock.slept) <= 1


# Ahead of the clock


@in_one_case(
    "scheme",
    [
        get("sonyflake"),
        get("unique_rowid"),
        get("tsid", node_bits=20),
        get("time64", workers=10_000),
        get("snowflake"),
    ],
)
def test_schemes_with_few_ids_of_a_worker_stay_near_the_clock(scheme):
    scheme = scheme.with_worker(1)
    clock = Clock()
    going = generator_of(scheme, clock, sleep=clock.sleep)
    made = take(going, MANY)
    assert increases(made)
    behind = made[-1][0] - (clock.now - scheme.epoch_ns) // scheme.tick_ns
    assert behind * scheme.tick_ns <= max(10 * MILLISECOND, scheme.tick_ns)


def test_a_clock_that_stands_still_is_not_waited_for_twice():
    clock = Clock(stopped=True)
    going = generator(FEW, clock, tick_ns=MILLISECOND, worker=0, sleep=clock.sleep)
    assert increases(take(going, 1000))
    assert len(clock.slept) == 1000 // 4 - 11


def test_a_step_back_is_noticed_while_ids_run_ahead(rule):
    rule("raise")
    clock = Clock()
    going = generator(FEW, clock, tick_ns=SECOND, worker=0, sleep=clock.sleep)
    take(going, 400)
    clock.now -= 20 * SECOND
    with pytest.raises(ClockRollback):
        going.next()


# Tests that travel in time, with freezegun or time-machine: ids are of the time that is shown.


PAST = datetime(2016, 5, 1, tzinfo=UTC)
FUTURE = datetime(2035, 5, 1, tzinfo=UTC)

TRAVEL = [
    pytest.param(freezegun.freeze_time, id="freezegun"),
    pytest.param(lambda at: time_machine.travel(at, tick=False), id="time-machine"),
]


LATELY = timedelta(hours=1)


def now():
    return datetime.now(UTC)


@pytest.mark.parametrize(
    ("scheme", "travel"), each_scheme_with(KINDS, [param.values[0] for param in TRAVEL])
)
def test_ids_follow_jumps_of_years(scheme, travel):
    scheme = fresh(scheme)
    past = max(PAST, scheme.earliest)
    real = [scheme.generate()]
    there = []
    for at in (FUTURE, past, FUTURE, past):
        with travel(at):
            there += [*(scheme.generate() for _ in range(5)), *scheme.generate_many(5)]
            # A tick of few ids may be full, and the next one is used early.
            assert scheme.parts(there[-1])[0] - scheme.tick(at) in (0, 1)
        real.append(scheme.generate())
    assert all(timedelta(0) <= now() - scheme.created_at(each) < LATELY for each in real)
    assert len({*real, *there}) == 45


@pytest.mark.parametrize("policy", ["advance", "wait", "raise"])
@pytest.mark.parametrize("travel", TRAVEL)
def test_no_policy_gets_in_the_way(travel, policy, rule):
    rule(policy)
    scheme = fresh(get("uuid7"))
    scheme.generate()
    with travel(FUTURE):
        scheme.generate()
    scheme.generate()
    with travel(PAST):
        assert scheme.created_at(scheme.generate()) == PAST
    assert now() - scheme.created_at(scheme.generate()) < LATELY


@pytest.mark.parametrize("travel", TRAVEL)
@pytest.mark.parametrize("scheme", [get("sonyflake"), get("snowflake", worker_bits=14)])
def test_ids_of_a_worker_are_not_repeated_at_a_time_that_was_visited(scheme, travel):
    scheme = fresh(scheme.with_worker(7))
    made = []
    # What a tick has no room for goes to the next ones, which are visited as well.
    for ticks in (0, 1, 0):
        with travel(PAST + timedelta(days=365 * 10, microseconds=ticks * scheme.tick_ns // 1000)):
            made += [scheme.generate() for _ in range(600)]
        made.append(scheme.generate())
    assert len(set(made)) == 1803
    assert {scheme.parts(each)[1] for each in made} <= {*scheme.layout.suffixes_of(7)}


def test_ids_of_a_test_with_a_frozen_clock_increase():
    """Also after a step that was too large for the rest of a tick."""
    now = [NOW_NS]
    random = {"below": Random(0).randrange, "travels": lambda: True}
    going = generator_of(get("time64"), lambda: now[0], **random)
    going.next()
    now[0] -= 10**17
    assert increases(take(going, 30_000))


@pytest.mark.parametrize("travel", TRAVEL)
def test_a_frozen_clock_is_not_waited_for(travel):
    scheme = fresh(get("unique_rowid").with_worker(7))
    with travel(now()):
        began = datetime.now(UTC)
        made = [scheme.generate() for _ in range(1500)]
        assert datetime.now(UTC) == began
    assert len(set(made)) == 1500
