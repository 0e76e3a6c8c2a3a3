"""Which conversions are lossless for every id, by the data of the two schemes alone."""

import uuid
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import get, is_lossless
from django_sortable_ids.schemes.catalog import scheme_of_uuid
from tests.combinations import in_one_case

from .support import TIME_SCHEMES, evenly_spaced, examples, values
from .test_convert import LOSSLESS, NAMES

ALL = [param.values[0] for param in TIME_SCHEMES]
PAIRS = [pair for pair in product(ALL, repeat=2) if is_lossless(*pair)]


def label(value):
    return f"{value.name} {value.layout.ticks} {value.layout.descending}"


def test_the_pairs_of_the_catalogue():
    found = {pair for pair in product(NAMES, repeat=2) if is_lossless(*map(get, pair))}
    assert found == LOSSLESS


def test_a_sequence_has_no_bits_to_bring_along():
    sequence, uuid7 = get("lexical_sequence"), get("uuid7")
    assert not is_lossless(sequence, uuid7)
    assert not is_lossless(uuid7, sequence)
    assert not is_lossless(sequence, sequence)


@in_one_case(("source", "to"), PAIRS)
@examples
@given(data=st.data())
def test_every_id_of_a_lossless_pair_comes_back(source, to, data):
    value = data.draw(values(source))
    there = source.convert(value, to=to)
    assert there.lossless
    assert to.parts(there.value)[0] == source.parts(value)[0]
    assert to.convert(there.value, to=source) == (value, True)


@in_one_case("source", TIME_SCHEMES)
def test_the_order_comes_along(source):
    found = sorted(evenly_spaced(source), key=source.parts)
    for to in [target for one, target in PAIRS if one == source]:
        converted = [source.convert(value, to=to).value for value in found]
        assert [to.parts(value)[0] for value in converted] == [source.parts(v)[0] for v in found]
        assert sorted(set(converted), key=to.parts) == converted


@pytest.mark.parametrize("name", ["uuid1", "uuid6", "uuid7", "comb13"])
def test_the_scheme_of_a_uuid(name):
    assert scheme_of_uuid(get(name).example) is get(name)


NAMED = uuid.uuid5(uuid.NAMESPACE_DNS, "a")
OTHER_VARIANT = uuid.UUID(int=get("uuid7").example.int & ~(0b11 << 62))


@pytest.mark.parametrize(
    "value", [uuid.UUID(int=4 << 76 | 1 << 63), NAMED, OTHER_VARIANT, uuid.UUID(int=0)], ids=str
)
def test_a_uuid_without_a_time_has_none(value):
    assert scheme_of_uuid(value) is None


def test_a_real_uuid1_keeps_its_time_as_uuid6():
    made = uuid.uuid1(node=0x123456789ABC, clock_seq=5)
    converted = get("uuid1").convert(made, to=get("uuid6"))
    assert converted.lossless
    assert converted.value.version == 6
    assert get("uuid6").parts(converted.value) == (made.time, made.int & (1 << 62) - 1)
