"""Tests that travel in time, with freezegun or time-machine: ids are of the time that is shown."""

from datetime import UTC, datetime, timedelta

import freezegun
import pytest
import time_machine

from django_sortable_ids.schemes import get
from django_sortable_ids.schemes.generation.clock import (
    RollbackRule,
    rollback_rule,
    set_rollback_rule,
)

from .generators import fresh, increases
from .support import KINDS, each_scheme_with

PAST = datetime(2016, 5, 1, tzinfo=UTC)
FUTURE = datetime(2035, 5, 1, tzinfo=UTC)

TRAVEL = [
    pytest.param(freezegun.freeze_time, id="freezegun"),
    pytest.param(lambda at: time_machine.travel(at, tick=False), id="time-machine"),
]


@pytest.fixture(params=["advance", "wait", "raise"])
def policy(request):
    before = rollback_rule()
    set_rollback_rule(RollbackRule(request.param))
    yield request.param
    set_rollback_rule(before)


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


@pytest.mark.parametrize("travel", TRAVEL)
@pytest.mark.parametrize("scheme", [get("uuid7"), get("ulid"), get("snowflake").with_worker(5)])
def test_many_at_once_follow_too(scheme, travel):
    scheme = fresh(scheme)
    made = list(scheme.generate_many(100))
    for at in (PAST, FUTURE, PAST):
        with travel(at):
            there = scheme.generate_many(100)
            assert increases(there)
            assert {scheme.created_at(value) for value in there} == {at}
            made += there
    assert len({*made}) == 400


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
