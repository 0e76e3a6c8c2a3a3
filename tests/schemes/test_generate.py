"""``generate`` and ``generate_many``: values of now, and of a given time."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from django_sortable_ids.schemes import OutOfRange, get
from tests.combinations import in_one_case

from .generators import MANY, decreases, fresh, increases
from .support import KINDS, NOW, NOW_NS, TIME_SCHEMES, floored


@pytest.mark.parametrize("scheme", KINDS)
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


def test_the_last_tick_of_time64_has_less_room():
    scheme = get("time64")
    assert scheme.generate_many(75_808, scheme.latest)[-1] == 2**63 - 1
    with pytest.raises(OutOfRange, match="has room for 75808 ids"):
        scheme.generate_many(75_809, scheme.latest)


def test_a_given_time_leaves_the_generator_alone():
    scheme = fresh(get("uuid7"))
    before = scheme.generate()
    scheme.generate(NOW + timedelta(days=40_000))
    after = scheme.generate()
    assert before < after
    assert scheme.created_at(after) < NOW + timedelta(days=40_000)
