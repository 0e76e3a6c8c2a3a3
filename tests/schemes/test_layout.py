"""Layouts, tried number by number where they are small."""

from datetime import timedelta
from itertools import pairwise

import pytest

from django_sortable_ids.schemes import NotTimeOrdered, OutOfRange, get
from django_sortable_ids.schemes.clock_and_randomness import MICROSECOND, UNIX_EPOCH
from django_sortable_ids.schemes.layout import (
    PLAIN,
    ByteFractionTemplate,
    Layout,
    UUIDTemplate,
)
from tests.combinations import in_one_case

from .support import (
    NOW,
    SORTING_KINDS,
    TIME_SCHEMES,
    some_values,
    times_about,
)

SMALL = [
    Layout(ticks=5, suffixes=4),
    Layout(ticks=5, suffixes=3, descending=True),
    Layout(ticks=7, suffixes=10, smallest=20, largest=64),
    Layout(ticks=7, suffixes=10, smallest=20, largest=64, descending=False, workers=5),
    Layout(ticks=1, suffixes=1),
]


def pairs_of(layout):
    return [
        (tick, suffix)
        for tick in range(layout.first_tick, layout.last_tick + 1)
        for suffix in range(layout.capacity(tick))
    ]


@in_one_case("layout", SMALL)
def test_every_number_has_one_tick_and_suffix(layout):
    numbers = [layout.join(*pair) for pair in pairs_of(layout)]
    assert [layout.split(number) for number in numbers] == pairs_of(layout)
    assert sorted(numbers, reverse=layout.descending) == numbers
    assert sorted(numbers) == list(range(layout.smallest, layout.last + 1))
    assert layout.split(layout.smallest - 1) is None
    assert layout.split(layout.last + 1) is None


@pytest.mark.parametrize("set_bit", [0, 2, 4])
@pytest.mark.parametrize("template", [PLAIN, UUIDTemplate(6)])
def test_new_ids_are_those_with_the_set_bit_in_order(set_bit, template):
    layout = Layout(ticks=2, suffixes=32, set_bit=set_bit, template=template)
    suffixes = [suffix for suffix in range(32) if suffix >> set_bit & 1]
    assert layout.new.suffixes == 16
    for tick in range(2):
        wanted = [layout.join(tick, suffix) for suffix in suffixes]
        assert layout.new.joiner.join_all(tick, range(16)) == wanted
        assert (
            layout.new.join_payloads([tick * layout.new.suffixes + each for each in range(16)])
            == wanted
        )
        assert [layout.new.split(number) for number in wanted] == [(tick, n) for n in range(16)]
        others = [layout.join(tick, suffix) for suffix in set(range(32)) - set(suffixes)]
        assert {layout.new.split(number) for number in others} == {None}
    for suffix in range(33):
        assert layout.new_below(suffix) == sum(each < suffix for each in suffixes)


@in_one_case("scheme", TIME_SCHEMES)
def test_ticks_of_many_times(scheme):
    times = [NOW + i * timedelta(microseconds=777_777) for i in range(5)]
    microseconds = [(at - UNIX_EPOCH) // MICROSECOND for at in times]
    assert scheme.ticks(microseconds) == [*map(scheme.tick, times)]
    assert scheme.ticks([]) == []


@in_one_case("scheme", TIME_SCHEMES)
def test_many_numbers_are_joined_as_single_ones(scheme):
    layout = scheme.layout
    tick = scheme.tick(NOW)
    last = layout.capacity(tick) - 1
    suffixes = sorted({0, 1, 5, last // 7, last // 3, last // 3 + 1, last // 2, last - 1, last})
    single = [layout.join(tick, suffix) for suffix in suffixes]
    assert layout.joiner.join_all(tick, suffixes) == single
    payloads = [tick * layout.suffixes + suffix for suffix in suffixes]
    assert layout.join_payloads(payloads) == single


# Times as bounds: the ids made at or after a time, and those of a range of times.


def made_at_or_after(scheme, value, bound):
    return value <= bound if scheme.descending else bound <= value


@in_one_case("scheme", SORTING_KINDS)
def test_lower_bounds_divide_the_values(scheme):
    for value in some_values(scheme, shown=True):
        made, times = scheme.created_at(value), times_about(scheme, value)
        for at in times:
            try:
                bound = scheme.lower_bound(at)
            except OutOfRange:
                assert max(scheme.latest, made) < at
            else:
                assert made_at_or_after(scheme, value, bound) == (at <= made)
        # Two of them enclose what lies between.
        for a, b in pairwise(at for at in times if at <= scheme.latest):
            low, high = scheme.lower_bound(a), scheme.lower_bound(b)
            inside = high < value <= low if scheme.descending else low <= value < high
            assert inside == (a <= made < b)


@in_one_case("scheme", SORTING_KINDS)
def test_number_ranges_agree_with_the_times(scheme):
    outer, inner = (1, 0) if scheme.descending else (0, 1)
    for value in some_values(scheme, shown=True):
        made, number = scheme.created_at(value), scheme.to_int(value)
        bounds = [None, *times_about(scheme, value), None]
        for start, stop in [*pairwise(bounds), *pairwise(bounds[::-3])]:
            found = scheme.number_range(start, stop)
            inside = (start is None or start <= made) and (stop is None or made < stop)
            assert inside == (found is not None and found[0] <= number <= found[1])
            # And with the lower bounds.
            if found and start and stop and stop <= scheme.latest:
                assert found[outer] == scheme.to_int(scheme.lower_bound(start))
                last = scheme.from_int(found[inner])
                assert not made_at_or_after(scheme, last, scheme.lower_bound(stop))


def test_version_1_has_no_bounds():
    uuid1 = get("uuid1")
    refusal = pytest.raises(NotTimeOrdered, match="do not sort by their times")
    with refusal:
        uuid1.lower_bound(NOW)
    with refusal:
        uuid1.number_range(None, None)


def test_a_fraction_of_a_second_that_no_id_has():
    template = ByteFractionTemplate(250, suffix_bits=16)
    assert template.unwrap(0x01_F9_0000) == 499 << 16
    assert template.unwrap(0x01_FA_0000) is None
