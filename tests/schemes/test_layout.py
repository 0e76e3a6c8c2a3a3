"""Layouts, tried number by number where they are small."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from django_sortable_ids.schemes import OutOfRange, get
from django_sortable_ids.schemes.generation.clock import MICROSECOND, UNIX_EPOCH
from django_sortable_ids.schemes.layout import (
    PLAIN,
    ByteFractionTemplate,
    Layout,
    UUIDTemplate,
)
from tests.combinations import in_one_case

from .support import NOW, TIME_SCHEMES

SMALL = [
    Layout(ticks=5, suffixes=4),
    Layout(ticks=5, suffixes=3, descending=True),
    Layout(ticks=7, suffixes=10, smallest=20, largest=64),
    Layout(ticks=7, suffixes=10, smallest=20, largest=64, descending=False, workers=5),
    Layout(ticks=1, suffixes=1),
]
EIGHTS = Layout(ticks=3, suffixes=8, workers=4)


def pairs_of(layout):
    return [
        (tick, suffix)
        for tick in range(layout.first_tick, layout.last_tick + 1)
        for suffix in range(layout.capacity(tick))
    ]


@pytest.mark.parametrize("layout", SMALL)
def test_every_number_has_one_tick_and_tail(layout):
    numbers = [layout.join(*pair) for pair in pairs_of(layout)]
    assert [layout.split(number) for number in numbers] == pairs_of(layout)
    assert sorted(numbers, reverse=layout.descending) == numbers
    assert sorted(numbers) == list(range(layout.smallest, layout.last + 1))


@pytest.mark.parametrize("layout", SMALL)
def test_numbers_outside_do_not_split(layout):
    assert layout.split(layout.smallest - 1) is None
    assert layout.split(layout.last + 1) is None


@pytest.mark.parametrize("layout", SMALL)
def test_between(layout):
    for first in range(layout.first_tick, layout.last_tick + 1):
        for last in range(first, layout.last_tick + 1):
            numbers = [layout.join(*pair) for pair in pairs_of(layout) if first <= pair[0] <= last]
            assert layout.between(first, last) == (min(numbers), max(numbers))


def test_a_last_tick_that_is_cut_has_less_room():
    layout = Layout(ticks=7, suffixes=10, smallest=20, largest=64)
    assert [layout.capacity(tick) for tick in (2, 5, 6)] == [10, 10, 5]
    assert (layout.first_tick, layout.last_tick) == (2, 6)


def test_a_smallest_payload_inside_a_tick_leaves_that_tick_out():
    assert Layout(ticks=7, suffixes=10, smallest=21).first_tick == 3


def test_the_tails_of_a_worker():
    assert [list(EIGHTS.suffixes_of(worker)) for worker in range(4)] == [
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7],
    ]
    last = replace(EIGHTS, worker_last=True)
    assert [list(last.suffixes_of(worker)) for worker in range(4)] == [
        [0, 4],
        [1, 5],
        [2, 6],
        [3, 7],
    ]


@pytest.mark.parametrize("set_bit", [0, 2, 4])
@pytest.mark.parametrize("template", [PLAIN, UUIDTemplate(6)])
def test_new_ids_are_those_with_the_set_bit_in_order(set_bit, template):
    layout = Layout(ticks=2, suffixes=32, set_bit=set_bit, template=template)
    suffixes = [suffix for suffix in range(32) if suffix >> set_bit & 1]
    assert layout.new.suffixes == 16
    for tick in range(2):
        wanted = [layout.join(tick, suffix) for suffix in suffixes]
        assert layout.new.join_all(tick, range(16)) == wanted
        assert (
            layout.new.join_payloads([tick * layout.new.suffixes + each for each in range(16)])
            == wanted
        )
        assert [layout.new.split(number) for number in wanted] == [(tick, n) for n in range(16)]
        others = [layout.join(tick, suffix) for suffix in set(range(32)) - set(suffixes)]
        assert {layout.new.split(number) for number in others} == {None}
    for suffix in range(33):
        assert layout.new_below(suffix) == sum(each < suffix for each in suffixes)


def test_a_layout_without_a_set_bit_is_that_of_its_new_ids():
    assert EIGHTS.new is EIGHTS
    assert [EIGHTS.new_below(suffix) for suffix in range(9)] == list(range(9))


def test_byte_fraction_frame():
    template = ByteFractionTemplate(250, suffix_bits=16)
    numbers = [template.wrap(tick << 16 | 0xABCD) for tick in (0, 249, 250, 499, 500)]
    assert numbers == [0x00_00_ABCD, 0x00_F9_ABCD, 0x01_00_ABCD, 0x01_F9_ABCD, 0x02_00_ABCD]
    for tick in range(600):
        assert template.unwrap(template.wrap(tick << 16 | tick)) == tick << 16 | tick
    assert [template.unwrap(0x01_00_0000 | byte << 16) is None for byte in (249, 250, 255)] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize("name", ["uuid1", "uuid6", "uuid7", "comb4"])
def test_templates_give_back_what_they_got_and_refuse_other_fixed_bits(name):
    template = get(name).layout.template
    for bit in range(122):
        assert template.unwrap(template.wrap(1 << bit)) == 1 << bit
    number = template.wrap(0x1234_5678_9ABC_DEF0)
    for bit in (*range(62, 64), *range(76, 80)):
        assert template.unwrap(number ^ 1 << bit) is None


@in_one_case("scheme", TIME_SCHEMES)
def test_ticks_of_many_times(scheme):
    times = [NOW + i * timedelta(microseconds=777_777) for i in range(5)]
    microseconds = [(at - UNIX_EPOCH) // MICROSECOND for at in times]
    assert scheme.ticks(microseconds) == [*map(scheme.tick, times)]
    assert scheme.ticks([]) == []


@pytest.mark.parametrize("year", [1600, 2200])
def test_many_times_of_which_one_is_out_of_range(year):
    scheme, other = get("snowflake"), datetime(year, 1, 1, tzinfo=UTC)
    times = [NOW, other, NOW]
    with pytest.raises(OutOfRange) as caught:
        scheme.ticks([(at - UNIX_EPOCH) // MICROSECOND for at in times])
    with pytest.raises(OutOfRange) as expected:
        scheme.tick(other)
    assert str(caught.value) == str(expected.value)


@in_one_case("scheme", TIME_SCHEMES)
def test_many_numbers_are_joined_as_single_ones(scheme):
    layout = scheme.layout
    tick = scheme.tick(NOW)
    last = layout.capacity(tick) - 1
    suffixes = sorted({0, 1, 5, last // 7, last // 3, last // 3 + 1, last // 2, last - 1, last})
    single = [layout.join(tick, suffix) for suffix in suffixes]
    assert layout.join_all(tick, suffixes) == single
    payloads = [tick * layout.suffixes + suffix for suffix in suffixes]
    assert layout.join_payloads(payloads) == single
