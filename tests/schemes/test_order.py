"""Order: of values, numbers, bytes and texts; and of time."""

import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from django_sortable_ids.schemes import get
from tests.combinations import in_one_case

from .support import (
    ENCODINGS,
    SCHEMES,
    SORTING_KINDS,
    SORTING_SCHEMES,
    evenly_spaced,
    examples,
    last_shown_tick,
    pairs,
    ticks,
    value_of,
)

few_examples = settings(examples, max_examples=6)
SNOWFLAKES = ("snowflake", "discord", "instagram", "mastodon", "unique_rowid")
KEEPING = [p for p in ENCODINGS if p.values[0].text_form(p.values[1]).keeps_order]
OTHERS = [p for p in ENCODINGS if p not in KEEPING]


@in_one_case("scheme", SCHEMES)
@few_examples
@given(data=st.data())
def test_values_and_bytes_sort_as_numbers(scheme, data):
    one, other = data.draw(pairs(scheme))
    numbers = scheme.to_int(one) < scheme.to_int(other)
    assert (scheme.to_bytes(one) < scheme.to_bytes(other)) == numbers
    # The texts of a sequence that grows sort by length first.
    if scheme.canonical.keeps_order or scheme.value_type is not str:
        assert (one < other) == numbers


@in_one_case(("scheme", "encoding"), KEEPING)
@few_examples
@given(data=st.data())
def test_texts_that_keep_order_do(scheme, encoding, data):
    one, other = data.draw(pairs(scheme))
    texts = scheme.format(one, encoding) < scheme.format(other, encoding)
    assert texts == (scheme.to_int(one) < scheme.to_int(other))


@in_one_case(("scheme", "encoding"), OTHERS)
def test_texts_that_keep_no_order_do_not(scheme, encoding):
    texts = [scheme.format(value, encoding) for value in evenly_spaced(scheme)]
    assert texts != sorted(texts)


def test_which_texts_keep_no_order():
    assert [p.id for p in OTHERS if len(p.id.split()) == 2] == [
        "comb13 sqlserver",
        *(f"{name} {form}" for name in SNOWFLAKES for form in ("decimal", "base64url")),
        "sonyflake decimal",
        "sonyflake base64url",
        "tsid decimal",
        "tsid base64url",
        "time64 base64url",
        "lexical_sequence canonical",
    ]


@pytest.mark.parametrize("scheme", SORTING_KINDS)
@few_examples
@given(data=st.data())
def test_values_sort_by_time(scheme, data):
    one, other = data.draw(pairs(scheme, shown=True))
    earlier, later = sorted((one, other), key=scheme.created_at)
    if scheme.created_at(earlier) < scheme.created_at(later):
        assert (later < earlier) if scheme.descending else (earlier < later)
    # The last id of a tick sorts before the first of the next.
    tick = data.draw(ticks(scheme, scheme.layout.last_tick - 1))
    last = value_of(scheme, tick, scheme.layout.capacity(tick) - 1)
    following = value_of(scheme, tick + 1, 0)
    assert (following < last) if scheme.descending else (last < following)


@in_one_case("scheme", SORTING_SCHEMES)
def test_the_first_and_the_last_id(scheme):
    layout = scheme.layout
    oldest = value_of(scheme, layout.first_tick, 0)
    newest = value_of(scheme, layout.last_tick, layout.capacity(layout.last_tick) - 1)
    assert scheme.created_at(oldest) == scheme.earliest
    assert (newest < oldest) if scheme.descending else (oldest < newest)
    assert last_shown_tick(scheme) <= layout.last_tick


def test_version_1_does_not_sort_by_time():
    uuid1 = get("uuid1")
    assert not uuid1.sorts
    earlier = uuid.UUID("ffffffff-9413-11ec-b3c8-9f6bdeced846")
    later = uuid.UUID("00000000-9414-11ec-b3c8-9f6bdeced846")
    assert uuid1.created_at(earlier) < uuid1.created_at(later)
    assert later < earlier


def test_every_other_scheme_with_time_sorts():
    unsorted = {p.values[0].name for p in SCHEMES if not getattr(p.values[0], "sorts", False)}
    assert unsorted == {"uuid1", "comb4_efcore", "lexical_sequence"}
