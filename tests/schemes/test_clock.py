"""The clock goes back, stands still, or ids run ahead of it."""

import pytest

from django_sortable_ids.schemes import ClockRollback, get
from django_sortable_ids.schemes.generation.clock import (
    RollbackRule,
    rollback_rule,
    set_rollback_rule,
)
from django_sortable_ids.schemes.layout import Layout

from .generators import MANY, generator, generator_of, increases, take
from .support import KINDS, NOW_NS, each_scheme_with

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
FEW = Layout(ticks=1 << 50, suffixes=4, workers=1)
"""A worker has four ids of a tick."""


@pytest.fixture
def rule():
    """Set the rule of the process."""
    before = rollback_rule()
    yield lambda policy, limit_ns=10 * SECOND: set_rollback_rule(RollbackRule(policy, limit_ns))
    set_rollback_rule(before)


class Clock:
    """A clock that goes on only while somebody sleeps; with ``stopped`` not even then."""

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


@pytest.mark.parametrize(
    ("scheme", "policy"), each_scheme_with(KINDS, ["advance", "wait", "raise"])
)
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
        "the clock is 3600.0 s behind the last id, more than the allowed 10 s; "
        "correct it, or wait until it has caught up"
    )
    clock.now += 3590 * SECOND
    assert increases([before, *take(going, 100)])


def test_a_large_step_back_is_waited_for(rule):
    rule("wait")
    clock = Clock()
    going = generator_of(get("uuid7"), clock, sleep=clock.sleep)
    before = going.next()
    clock.now -= 3600 * SECOND
    assert increases([before, *take(going, 100)])
    assert sum(clock.slept) == pytest.approx(3590)
    assert max(clock.slept) <= 1


def test_another_limit(rule):
    rule("raise", limit_ns=0)
    clock = Clock()
    going = generator_of(get("uuid7"), clock)
    going.next()
    clock.now -= MILLISECOND
    with pytest.raises(ClockRollback, match=r"the clock is 0\.0 s behind .* the allowed 0 s"):
        going.next()


# Ahead of the clock


def test_ids_run_ahead_by_ten_ms_at_most():
    clock = Clock()
    going = generator(FEW, clock, tick_ns=MILLISECOND, worker=0, sleep=clock.sleep)
    made = []
    for _ in range(1000):
        made.append(going.next())
        assert made[-1][0] - clock.now // MILLISECOND <= 10
    assert increases(made)
    assert len(clock.slept) == 1000 // 4 - 11
    assert set(clock.slept) == {0.001}


def test_ids_of_long_ticks_run_ahead_by_one_of_them():
    clock = Clock()
    going = generator(FEW, clock, tick_ns=SECOND, worker=0, sleep=clock.sleep)
    made = take(going, 40)
    assert made[-1][0] - clock.now // SECOND == 1
    assert len(clock.slept) == 8


@pytest.mark.parametrize(
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


def test_a_full_tick_while_the_clock_is_behind_waits_for_one_tick_only():
    clock = Clock()
    going = generator(FEW, clock, tick_ns=MILLISECOND, worker=0, sleep=clock.sleep)
    before = going.next()
    clock.now -= 3600 * SECOND
    made = take(going, 1000)
    assert increases([before, *made])
    assert sum(clock.slept) < 1


def test_a_step_back_is_noticed_while_ids_run_ahead(rule):
    rule("raise")
    clock = Clock()
    going = generator(FEW, clock, tick_ns=SECOND, worker=0, sleep=clock.sleep)
    take(going, 400)
    clock.now -= 20 * SECOND
    with pytest.raises(ClockRollback):
        going.next()


def test_after_a_wait_ids_are_of_the_time_that_the_clock_shows():
    clock = Clock()

    def oversleep(seconds):
        clock.now += 5 * SECOND

    going = generator(FEW, clock, tick_ns=MILLISECOND, worker=0, sleep=oversleep)
    take(going, 4 * 11)
    assert going.next() == (clock.now // MILLISECOND, 0)
