"""Values, numbers and bytes: round trips, and refusals."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from django_sortable_ids.schemes import InvalidID
from tests.combinations import in_one_case

from .support import SCHEMES, examples, values


@in_one_case("scheme", SCHEMES)
@examples
@given(data=st.data())
def test_numbers_and_bytes_round_trip(scheme, data):
    value = data.draw(values(scheme))
    assert type(value) is scheme.value_type
    assert scheme.from_int(scheme.to_int(value)) == value
    packed = scheme.to_bytes(value)
    assert len(packed) == scheme.byte_length
    assert int.from_bytes(packed, "big") == scheme.to_int(value)
    assert scheme.from_bytes(packed) == value


@in_one_case("scheme", SCHEMES)
def test_from_int_refuses_what_is_no_number_of_the_scheme(scheme):
    for wrong in (-1, 1 << 1000, True, False, None, 1.0, "1", b"1"):
        with pytest.raises(InvalidID):
            scheme.from_int(wrong)
    # A right number with bits above, and one that is too long to print.
    for shift in range(scheme.bits, scheme.bits + 40):
        with pytest.raises(InvalidID):
            scheme.from_int(scheme.to_int(scheme.example) | 1 << shift)
    with pytest.raises(InvalidID):
        scheme.from_int(1 << 100_000)


@in_one_case("scheme", SCHEMES)
def test_what_is_no_value_is_refused(scheme):
    for wrong in (None, True, 1.5, b"1", object(), [], -1, 1 << 64, "", "!", uuid.UUID(int=0)):
        with pytest.raises(InvalidID):
            scheme.to_int(wrong)
    with pytest.raises(InvalidID):
        scheme.format(None)
    with pytest.raises(InvalidID):
        scheme.to_bytes(None)


@in_one_case("scheme", SCHEMES)
def test_bytes(scheme):
    """Of another length are refused, as what is no bytes; a database may give another kind."""
    assert scheme.byte_length * 8 - 8 < scheme.bits <= scheme.byte_length * 8
    packed = scheme.to_bytes(scheme.example)
    for wrong in (b"", packed[1:], packed + b"\0", b"\0" + packed):
        with pytest.raises(InvalidID, match=f"has {scheme.byte_length} bytes, found {len(wrong)}"):
            scheme.from_bytes(wrong)
    for wrong in (None, "x" * scheme.byte_length, [0] * scheme.byte_length, 1):
        with pytest.raises(InvalidID):
            scheme.from_bytes(wrong)
    assert scheme.from_bytes(bytearray(packed)) == scheme.example
    assert scheme.from_bytes(memoryview(packed)) == scheme.example


@in_one_case("scheme", [s for s in SCHEMES if s.values[0].value_type is uuid.UUID])
def test_every_wrong_version_and_variant_is_refused(scheme):
    number = scheme.to_int(scheme.example)
    for wrong in range(1, 16):
        with pytest.raises(InvalidID):
            scheme.from_int(number ^ wrong << 76)
    # The time of EF Core is where the variant is.
    for wrong in range(1, 4) if scheme.name != "comb4_efcore" else ():
        with pytest.raises(InvalidID):
            scheme.from_int(number ^ wrong << 62)


@in_one_case("scheme", [s for s in SCHEMES if s.values[0].value_type is uuid.UUID])
def test_the_standard_library_sees_the_version(scheme):
    version = {"uuid1": 1, "uuid6": 6, "uuid7": 7, "comb13": 13}.get(scheme.name, 4)
    if scheme.name == "comb4_efcore":
        return  # Its time is where the variant is.
    for value in (scheme.example, scheme.generate()):
        assert value.version == version
        assert value.variant == uuid.RFC_4122
