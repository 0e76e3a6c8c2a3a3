"""The time of an id, and the times that a scheme can hold."""

import uuid
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import product

import pytest

from django_sortable_ids.schemes import (
    InvalidID,
    NotTimeOrdered,
    OutOfRange,
    TimeScheme,
    get,
    is_lossless,
)
from django_sortable_ids.schemes.catalog import scheme_of_uuid
from tests.combinations import in_one_case

from .support import (
    KINDS,
    MICROSECOND,
    NOW,
    ROWS,
    TIME_SCHEMES,
    each_scheme_with,
    floored,
    some_values,
    times_about,
    value_of,
)

NAIVE = NOW.replace(tzinfo=None)


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


# Ids of one scheme as ids of another: the time comes along, and all bits if the schemes allow


NAMES = [p.values[0].name for p in ROWS if isinstance(p.values[0], TimeScheme)]
LOSSLESS = {
    *product(("uuid1", "uuid6", "comb13"), repeat=2),
    *product(("ulid", "hexulid", "timeflake", "scru128"), repeat=2),
    *product(("uuid7",), ("ulid", "hexulid", "timeflake", "scru128")),
    *product(("xid", "objectid"), repeat=2),
    *((name, name) for name in NAMES),
}


def test_which_schemes_bring_all_bits_along():
    found = {pair for pair in product(NAMES, repeat=2) if is_lossless(*map(get, pair))}
    assert found == LOSSLESS
    # Otherwise ordered, or with workers in the same bits; but not split otherwise, which is time.
    assert is_lossless(get("kuuid"), get("kuuid", reverse=True))
    assert is_lossless(get("time64"), get("time64", workers=100))
    assert not is_lossless(get("snowflake"), get("snowflake", time_bits=43))
    sequence, uuid7 = get("lexical_sequence"), get("uuid7")
    for pair in ((sequence, uuid7), (uuid7, sequence), (sequence, sequence)):
        assert not is_lossless(*pair)


@in_one_case("target", KINDS)
def test_the_time_comes_along_or_is_out_of_range(target):
    values = ((each, value) for each in map(get, NAMES) for value in some_values(each, shown=True))
    for source, value in values:
        made = source.created_at(value)
        if made < target.earliest or floored(target, made) > target.latest:
            with pytest.raises(OutOfRange, match="can't hold"):
                source.convert(value, to=target)
            continue
        result = source.convert(value, to=target)
        assert target.created_at(result.value) == floored(target, made)
        if result.lossless:
            assert target.convert(result.value, to=source) == (value, True)


def test_lossy_conversions_draw_fresh_random_bits():
    kuuid, ulid = get("kuuid"), get("ulid")
    results = {kuuid.convert(kuuid.example, to=ulid) for _ in range(10)}
    assert len(results) == 10
    assert not any(result.lossless for result in results)


@in_one_case(
    ("source", "target", "is_last"),
    [
        *(("uuid1", "uuid7", False), ("uuid6", "ulid", False), ("comb13", "snowflake", False)),
        *(("ulid", "time64", False), ("ulid", "uuid6", True), ("uuid7", "kuuid", True)),
    ],
)
def test_the_first_and_the_last_times_are_out_of_range_unless_the_bits_come_along(
    source, target, is_last
):
    source = get(source)
    value = value_of(source, source.layout.last_tick if is_last else 0, 0)
    with pytest.raises(OutOfRange):
        source.convert(value, to=get(target))
    assert not is_last or source.convert(value, to=get("hexulid")).lossless


def test_a_sequence_has_no_time_to_bring_along_and_what_is_no_id_is_refused():
    uuid7 = get("uuid7")
    with pytest.raises(NotTimeOrdered):
        uuid7.convert(uuid7.example, to=get("lexical_sequence"))
    with pytest.raises(InvalidID):
        uuid7.convert(get("uuid6").example, to=get("ulid"))


def test_the_scheme_of_a_uuid():
    for name in ("uuid1", "uuid6", "uuid7", "comb13"):
        assert scheme_of_uuid(get(name).example) is get(name)
    of_another_variant = uuid.UUID(int=get("uuid7").example.int & ~(0b11 << 62))
    named = uuid.uuid5(uuid.NAMESPACE_DNS, "a")
    for value in (uuid.UUID(int=4 << 76 | 1 << 63), named, of_another_variant, uuid.UUID(int=0)):
        assert scheme_of_uuid(value) is None
