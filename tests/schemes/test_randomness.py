"""Randomness: uniform, and never used twice."""

from collections import Counter
from itertools import pairwise
from math import isqrt

import pytest

from django_sortable_ids.schemes import get
from django_sortable_ids.schemes.clock_and_randomness import Randomness, drawn_below
from tests.combinations import in_one_case
from tests.marks import uniform

from .generators import generator_of
from .odds import equal_pairs, first_suffixes, is_far, uneven_bits
from .support import KINDS, NOW, NOW_NS, TIME_SCHEMES

pytestmark = uniform


@in_one_case("name", ["uuid7", "ulid", "ksuid", "xid"])
def test_steps_are_all_over_their_range(name):
    scheme = get(name)
    suffixes = [scheme.layout.suffixes]
    while suffixes[0] > scheme.layout.suffixes // 4:
        going = generator_of(scheme, lambda: NOW_NS)
        suffixes = [going.next()[1] for _ in range(1001)]
    steps = [after - before for before, after in pairwise(suffixes)]
    quarters = Counter((step - 1) * 4 >> going.step_bits for step in steps)
    assert all(150 < quarters[quarter] < 350 for quarter in range(4))
    # One repeat among 1000 of 2**39 steps is as likely as 1 in a million, three of them never come.
    assert len(set(steps)) > 997


@in_one_case("scheme", TIME_SCHEMES)
def test_suffixes_of_a_given_time_are_from_the_whole_tick(scheme):
    capacity = scheme.layout.capacity(scheme.tick(NOW))
    suffixes = [scheme.parts(scheme.generate(NOW))[1] for _ in range(64)]
    assert min(suffixes) < capacity // 2 < max(suffixes)


@pytest.mark.parametrize("drawn", [lambda sizes: map(Randomness().below, sizes), drawn_below])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 256, 257])
def test_numbers_below_another_are_uniform(n, drawn):
    found = Counter(drawn([n] * n * 400))
    assert set(found) == set(range(n))
    assert all(250 < count < 550 or n == 1 for count in found.values())


@in_one_case("bits", [8, 22, 74, 80, 128])
def test_each_number_is_drawn_below_its_own_size(bits):
    sizes = [1, 1 << bits] * 300
    small, large = drawn_below(sizes)[::2], drawn_below(sizes)[1::2]
    assert set(small) == {0}
    assert max(large) >> bits - 1 == 1
    assert all(sum(number >> bit & 1 for number in large) > 75 for bit in range(bits))


@in_one_case("bits", [64, 128])
def test_no_byte_is_used_twice(bits):
    asked = []

    def source(size):
        first, width = sum(asked), bits // 8
        asked.append(size)
        return b"".join(number.to_bytes(width, "big") for number in range(first, first + size))[
            :size
        ]

    below = Randomness(source).below
    numbers = [below(1 << bits) for _ in range(5000)]
    assert len(set(numbers)) == 5000


# The first id of a tick: drawn from the whole tick, but for a small headroom.


TICKS = 2000
CELLS = 1 << 14
PAIRS = 400
"""A Poisson count of this mean is outside of 0.6 to 1.45 times the mean with a chance below 1e-15
(Chernoff's bound)."""

RANDOM = [param for param in KINDS if param.values[0].layout.suffixes >= 1 << 12]


def suffixes_of_ticks(scheme):
    """The suffix of the first id of each of many ticks, one generator's."""
    now = [NOW_NS]
    going = generator_of(scheme, lambda: now[0])
    found = []
    for _ in range(TICKS):
        found.append(going.next()[1])
        now[0] += scheme.tick_ns
    return found


@in_one_case("scheme", RANDOM)
def test_first_ids_are_spread_evenly_over_the_tick(scheme):
    suffixes, size = suffixes_of_ticks(scheme), scheme.layout.new.suffixes
    found = Counter(each * 4 // size for each in suffixes)
    assert [part for part in range(4) if is_far(found[part], 1 / 4, TICKS)] == []
    # Every random bit is 1 in half of them.
    if size.bit_count() == 1:
        assert uneven_bits(suffixes, size.bit_length() - 1) == []


@in_one_case("scheme", RANDOM)
def test_processes_that_start_in_one_tick_collide_as_seldom_as_the_full_range_allows(scheme):
    """The birthday bound: n processes have n * (n - 1) / 2 pairs, each equal by 1 in the range."""
    size = scheme.layout.new.suffixes
    cells = min(size, CELLS)
    processes = isqrt(2 * PAIRS * cells)
    found = equal_pairs(each * cells // size for each in first_suffixes(scheme, processes))
    expected = processes * (processes - 1) / 2 / cells
    assert 0.6 * expected < found < 1.45 * expected
