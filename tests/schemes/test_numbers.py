"""Values, numbers and bytes: round trips, and refusals."""

import uuid

import pytest

from django_sortable_ids.schemes import InvalidID, get
from tests.combinations import in_one_case

from .support import ENCODINGS, SCHEMES, SORTING_SCHEMES, some_values


@in_one_case("scheme", SCHEMES)
def test_numbers_and_bytes_round_trip(scheme):
    for value in some_values(scheme):
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
    for wrong in range(1, 4):
        with pytest.raises(InvalidID):
            scheme.from_int(number ^ wrong << 62)


# Order: of values, numbers, bytes and texts; and of time.


KEEPING = [p for p in ENCODINGS if p.values[0].text_form(p.values[1]).keeps_order]


@in_one_case("scheme", SCHEMES)
def test_values_and_bytes_sort_as_numbers(scheme):
    made = some_values(scheme)
    in_order = sorted(made, key=scheme.to_int)
    assert sorted(made, key=scheme.to_bytes) == in_order
    # The texts of a sequence that grows sort by length first.
    if scheme.canonical.keeps_order or scheme.value_type is not str:
        assert sorted(made) == in_order


@in_one_case(("scheme", "encoding"), KEEPING)
def test_texts_that_keep_order_do(scheme, encoding):
    made = some_values(scheme)
    by_text = sorted(made, key=lambda value: scheme.format(value, encoding))
    assert by_text == sorted(made, key=scheme.to_int)


@in_one_case("scheme", SORTING_SCHEMES)
def test_values_sort_by_time(scheme):
    made = some_values(scheme, shown=True)
    assert sorted(made, reverse=scheme.descending) == made
    times = list(map(scheme.created_at, made))
    assert sorted(times) == times


def test_version_1_does_not_sort_by_time():
    uuid1 = get("uuid1")
    assert not uuid1.sorts
    earlier = uuid.UUID("ffffffff-9413-11ec-b3c8-9f6bdeced846")
    later = uuid.UUID("00000000-9414-11ec-b3c8-9f6bdeced846")
    assert uuid1.created_at(earlier) < uuid1.created_at(later)
    assert later < earlier
