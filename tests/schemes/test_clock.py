"""The clock goes back, stands still, or ids run ahead of it."""

from datetime import UTC, datetime, timedelta

import freezegun
import pytest
import time_machine

from django_sortable_ids.schemes import ClockRollback, get
from django_sortable_ids.schemes.clock_and_randomness import RollbackRule
from django_sortable_ids.schemes.generator import Generator
from django_sortable_ids.schemes.layout import Layout
from tests.combinations import in_one_case

from .generators import MANY, fresh, generator, generator_of, increases, take
from .support import KINDS, NOW_NS, each_scheme_with

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


@pytest.fixture(params=["advance", "wait", "raise"])
def policy(request, monkeypatch):
    monkeypatch.setattr(Generator, "rule", RollbackRule(request.param))
    return request.param


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
            there += [scheme.generate() for _ in range(10)]
            # A tick of few ids may be full, and the next one is used early.
            assert scheme.parts(there[-1])[0] - scheme.tick(at) in (0, 1)
        real.append(scheme.generate())
    assert all(timedelta(0) <= now() - scheme.created_at(each) < LATELY for each in real)
    assert len({*real, *there}) == 45


@pytest.mark.usefixtures("policy")
@pytest.mark.parametrize("travel", TRAVEL)
def test_no_policy_gets_in_the_way(travel):
    scheme = fresh(get("uuid7"))
    scheme.generate()
    with travel(FUTURE):
        scheme.generate()
    scheme.generate()
    with travel(PAST):
        assert scheme.created_at(scheme.generate()) == PAST
    assert now() - scheme.created_at(scheme.generate()) < LATELY


@pytest.mark.parametrize("travel", TRAVEL)
def test_ids_of_a_worker_are_not_repeated_at_a_time_that_was_visited(travel):
    scheme = fresh(get("sonyflake").with_worker(7))
    made = []
    # What a tick has no room for goes to the next ones, which are visited as well.
    for ticks in (0, 1, 0):
        with travel(PAST + timedelta(days=365 * 10, milliseconds=10 * ticks)):
            made += [scheme.generate() for _ in range(600)]
        made.append(scheme.generate())
    assert len(set(made)) == 1803


@pytest.mark.parametrize("travel", TRAVEL)
def test_a_frozen_clock_is_not_waited_for(travel):
    scheme = fresh(get("unique_rowid").with_worker(7))
    with travel(now()):
        began = datetime.now(UTC)
        made = [scheme.generate() for _ in range(1500)]
        assert datetime.now(UTC) == began
    assert len(set(made)) == 1500
