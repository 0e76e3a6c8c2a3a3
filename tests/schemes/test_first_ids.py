"""The first id of a tick: drawn from the whole tick, but for a small headroom."""

from collections import Counter
from math import isqrt

import pytest

from .generators import generator_of
from .odds import equal_pairs, first_suffixes, is_far, uneven_bits
from .support import KINDS, NOW_NS

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


@pytest.mark.parametrize("scheme", RANDOM)
def test_first_ids_are_spread_evenly_over_the_tick(scheme):
    suffixes, size = suffixes_of_ticks(scheme), scheme.layout.new.suffixes
    found = Counter(each * 4 // size for each in suffixes)
    assert [part for part in range(4) if is_far(found[part], 1 / 4, TICKS)] == []
    # Every random bit is 1 in half of them.
    if size.bit_count() == 1:
        assert uneven_bits(suffixes, size.bit_length() - 1) == []


@pytest.mark.parametrize("scheme", RANDOM)
def test_processes_that_start_in_one_tick_collide_as_seldom_as_the_full_range_allows(scheme):
    """The birthday bound: n processes have n * (n - 1) / 2 pairs, each equal by 1 in the range."""
    size = scheme.layout.new.suffixes
    cells = min(size, CELLS)
    processes = isqrt(2 * PAIRS * cells)
    found = equal_pairs(each * cells // size for each in first_suffixes(scheme, processes))
    expected = processes * (processes - 1) / 2 / cells
    assert 0.6 * expected < found < 1.45 * expected
