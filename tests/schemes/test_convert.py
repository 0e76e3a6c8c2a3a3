"""Ids of one scheme as ids of another."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import InvalidID, NotTimeOrdered, OutOfRange, get

from .support import KINDS, NOW, ROWS, examples, floored, value_of, values

NAMES = [p.values[0].name for p in ROWS if p.values[0].time_ordered]

LOSSLESS = {
    *product(("uuid1", "uuid6", "comb13"), repeat=2),
    *product(("ulid", "hexulid", "timeflake", "scru128"), repeat=2),
    *product(("uuid7",), ("ulid", "hexulid", "timeflake", "scru128")),
    *product(("xid", "objectid"), repeat=2),
    *((name, name) for name in NAMES),
}


@pytest.mark.parametrize("target", KINDS)
@examples
@given(data=st.data())
def test_the_time_comes_along(target, data):
    source = get(data.draw(st.sampled_from(NAMES)))
    value = data.draw(values(source, shown=True))
    made = source.created_at(value)
    if not target.can_hold(made):
        with pytest.raises(OutOfRange):
            source.convert(value, to=target)
        return
    result = source.convert(value, to=target)
    assert target.created_at(result.value) == floored(target, made)
    if result.lossless:
        assert target.convert(result.value, to=source) == (value, True)


def test_lossy_conversions_draw_a_fresh_tail():
    kuuid, ulid = get("kuuid"), get("ulid")
    results = {kuuid.convert(kuuid.example, to=ulid) for _ in range(10)}
    assert len(results) == 10
    assert not any(result.lossless for result in results)


@pytest.mark.parametrize("name", ["ulid", "hexulid"])
def test_128_bits_that_happen_to_be_a_uuid7_are_lossless(name):
    scheme, uuid7 = get(name), get("uuid7")
    number = uuid7.to_int(uuid7.example)
    assert scheme.convert(scheme.from_int(number), to=uuid7) == (uuid7.example, True)
    changed = scheme.convert(scheme.from_int(number ^ 1 << 76), to=uuid7)
    assert not changed.lossless
    assert uuid7.created_at(changed.value) == uuid7.created_at(uuid7.example)


def test_a_kuuid_reversed_keeps_its_time_and_its_distinctness():
    kuuid, backwards = get("kuuid"), get("kuuid", reverse=True)
    ids = kuuid.generate_many(100, NOW)
    results = [kuuid.convert(value, to=backwards) for value in ids]
    assert all(result.lossless for result in results)
    converted = [result.value for result in results]
    assert sorted(set(converted), reverse=True) == converted


def test_a_worker_layout_of_the_same_bits_is_lossless():
    plain, workers = get("time64"), get("time64", workers=100)
    assert plain.convert(plain.example, to=workers) == (plain.example, True)


def test_the_same_bits_split_otherwise_are_another_time():
    twitter, longer = get("snowflake"), get("snowflake", time_bits=43)
    result = twitter.convert(twitter.example, to=longer)
    assert not result.lossless
    assert longer.created_at(result.value) == twitter.created_at(twitter.example)


@pytest.mark.parametrize(
    ("source", "target"),
    [("uuid1", "uuid7"), ("uuid6", "ulid"), ("comb13", "snowflake"), ("ulid", "time64")],
)
def test_times_before_the_other_scheme_are_out_of_range(source, target):
    source = get(source)
    with pytest.raises(OutOfRange, match="can't hold"):
        source.convert(value_of(source, 0, 0), to=get(target))


@pytest.mark.parametrize(("source", "target"), [("ulid", "uuid6"), ("uuid7", "kuuid")])
def test_years_past_9999_are_out_of_range_unless_the_bits_come_along(source, target):
    source = get(source)
    value = value_of(source, source.layout.last_tick, 0)
    with pytest.raises(OutOfRange):
        source.convert(value, to=get(target))
    assert source.convert(value, to=get("hexulid")).lossless


def test_a_sequence_has_no_time_to_bring_along():
    with pytest.raises(NotTimeOrdered):
        get("uuid7").convert(get("uuid7").example, to=get("lexical_sequence"))


def test_what_is_no_id_is_refused():
    with pytest.raises(InvalidID):
        get("uuid7").convert(get("uuid6").example, to=get("ulid"))
