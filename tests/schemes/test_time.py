"""The time of an id, and the times that a scheme can hold."""

from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from django_sortable_ids.schemes import InvalidID, NotTimeOrdered, OutOfRange, get
from tests.combinations import in_one_case

from .support import (
    KINDS,
    MICROSECOND,
    NOW,
    SEQUENCES,
    TIME_SCHEMES,
    each_scheme_with,
    floored,
    times_about,
)

RANGES = {
    "uuid1": ("1582-10-15T00:00:00", "5236-03-31T21:21:00.684697"),
    "uuid6": ("1582-10-15T00:00:00", "5236-03-31T21:21:00.684697"),
    "comb13": ("1582-10-15T00:00:00", "5236-03-31T21:21:00.684697"),
    "uuid7": ("1970-01-01T00:00:00", "9999-12-31T23:59:59.999000"),
    "ulid": ("1970-01-01T00:00:00", "9999-12-31T23:59:59.999000"),
    "hexulid": ("1970-01-01T00:00:00", "9999-12-31T23:59:59.999000"),
    "snowflake": ("2010-11-04T01:42:54.657000", "2080-07-10T17:30:30.208000"),
    "time64": ("2001-09-09T01:46:40", "2262-04-11T23:47:16.854700"),
    "kuuid": ("1970-01-01T00:00:00", "9999-12-31T23:59:59"),
    "kuuid_ms": ("1970-01-01T00:00:00", "8888-12-02T13:19:44.895000"),
}

NAIVE = NOW.replace(tzinfo=None)


@in_one_case("name", RANGES)
def test_earliest_and_latest(name):
    scheme = get(name)
    earliest, latest = (datetime.fromisoformat(f"{text}Z") for text in RANGES[name])
    assert (scheme.earliest, scheme.latest) == (earliest, latest)


@in_one_case("scheme", TIME_SCHEMES)
def test_earliest_and_latest_are_held_and_what_lies_outside_is_not(scheme):
    assert scheme.can_hold(scheme.earliest)
    assert scheme.can_hold(scheme.latest)
    for at in (scheme.earliest, scheme.latest):
        assert scheme.created_at(scheme.generate(at)) == at
    if scheme.earliest.year > 1:
        before = scheme.earliest - MICROSECOND
        assert not scheme.can_hold(before)
        with pytest.raises(OutOfRange):
            scheme.generate(before)
    with pytest.raises(InvalidID):
        scheme.created_at(None)
    with pytest.raises(InvalidID):
        scheme.created_at("nonsense")


@in_one_case(
    "scheme", [p for p in TIME_SCHEMES if p.values[0].latest < datetime(9000, 1, 1, tzinfo=UTC)]
)
def test_what_lies_after_the_last_tick_is_not_held(scheme):
    after = scheme.latest + max(MICROSECOND, timedelta(microseconds=scheme.tick_ns // 1000))
    assert not scheme.can_hold(after)
    with pytest.raises(OutOfRange, match=r"can't hold .* it holds .* to "):
        scheme.generate(after)
    with pytest.raises(OutOfRange):
        scheme.generate_many(3, after)
    if scheme.sorts:
        with pytest.raises(OutOfRange):
            scheme.lower_bound(after)


@in_one_case("scheme", KINDS)
def test_created_at_is_the_floor_of_the_time(scheme):
    for at in times_about(scheme, scheme.example):
        if not scheme.earliest <= at <= scheme.latest:
            continue
        made = scheme.created_at(scheme.generate(at))
        assert made == floored(scheme, at)
        assert made.tzinfo is UTC
        # Its tick encloses it.
        at = min(at, scheme.latest - timedelta(seconds=1))
        start, end = scheme.tick_span(at)
        assert start <= at < end
        assert start == floored(scheme, at)
        assert end - start == max(MICROSECOND, timedelta(microseconds=scheme.tick_ns // 1000))


def test_tick_span_at_the_ends():
    ulid, uuid6 = get("ulid"), get("uuid6")
    with pytest.raises(OutOfRange):
        ulid.tick_span(ulid.earliest - MICROSECOND)
    with pytest.raises(OutOfRange):
        ulid.tick_span(ulid.latest)
    assert uuid6.tick_span(uuid6.latest) == (uuid6.latest, uuid6.latest + MICROSECOND)


# Refusals


class NoZone(tzinfo):
    """Such a time has a ``tzinfo``, and is naive all the same."""

    def utcoffset(self, at):
        return None


@in_one_case(
    ("scheme", "at"), each_scheme_with(TIME_SCHEMES, [NAIVE, NOW.replace(tzinfo=NoZone())])
)
def test_naive_times_are_refused(scheme, at):
    refusal = pytest.raises(ValueError, match="is a naive time; give an aware one")
    with refusal:
        scheme.generate(at)
    with refusal:
        scheme.generate_many(2, at)
    with refusal:
        scheme.tick(at)
    with refusal:
        scheme.can_hold(at)
    if scheme.sorts:
        for bounds in (
            lambda: scheme.number_range(at, None),
            lambda: scheme.number_range(None, at),
        ):
            with refusal:
                bounds()
        with refusal:
            scheme.lower_bound(at)


@in_one_case("scheme", SEQUENCES)
def test_sequences_have_no_time(scheme):
    assert not scheme.time_ordered
    with pytest.raises(NotTimeOrdered, match="carries no creation time"):
        scheme.created_at(scheme.example)
