"""Ids of a leased worker number: none of a time that isn't the lease's."""

import time
from contextlib import suppress
from dataclasses import replace

import pytest
import time_machine

from django_sortable_ids.schemes import LeaseLost, get
from django_sortable_ids.schemes.clock_and_randomness import Sources
from django_sortable_ids.schemes.layout import Layout
from django_sortable_ids.schemes.leased_generator import LeasedGenerator
from tests.combinations import in_one_case

from .generators import TINY, fresh, increases, take

WORKERS = Layout(ticks=10**6, suffixes=100, workers=10)
TICK = 10
HOUR_NS = 3600 * 10**9


class FakeLease:
    """A lease of the test's own: ``extensions`` are the ends that it gets, one after the other."""

    def __init__(self, number=3, starts_ns=1000, ends_ns=2000, extensions=()):
        self.number = number
        self.starts_ns = starts_ns
        self.ends_ns = ends_ns
        self.ended = False
        self.asked = []
        self.latest = []
        self._extensions = list(extensions)

    def extend(self, to_ns):
        self.asked.append(to_ns)
        if self.ended:
            raise LeaseLost("it has ended")
        if to_ns >= self.ends_ns:
            found = self._extensions.pop(0)
            if isinstance(found, Exception):
                raise found
            self.ends_ns = found

    def used_by(self, latest_ns):
        self.latest.append(latest_ns)


class Pairs(LeasedGenerator):
    """Says tick and suffix in the place of each number."""

    def next(self):
        return self._layout.split(super().next())


def leased(lease, clock, *, layout=WORKERS, epoch_ns=0, **sources):
    return Pairs(
        layout,
        lambda places: lease,
        epoch_ns=epoch_ns,
        tick_ns=TICK,
        sources=Sources(clock=clock, **sources),
    )


@in_one_case(("starts_ns", "epoch_ns", "first"), [(1000, 0, 100), (1001, 0, 101), (1009, 5, 101)])
def test_no_id_is_of_a_tick_that_begins_before_the_lease(starts_ns, epoch_ns, first):
    lease = FakeLease(starts_ns=starts_ns)
    for now in (0, 999, starts_ns):
        going = leased(lease, lambda now=now: now, epoch_ns=epoch_ns, sleep=lambda _: None)
        assert going.next() == (first, 30)


@in_one_case(("ends_ns", "last"), [(2000, 199), (2001, 200), (2010, 200), (1999, 199), (1991, 199)])
def test_no_id_is_of_a_tick_that_begins_at_its_end(ends_ns, last):
    lease = FakeLease(ends_ns=ends_ns, extensions=[OSError("no database")] * 3)
    now = [1500]
    going = leased(lease, lambda: now[0])
    made = []
    with suppress(OSError):
        while now[0] < 3000:
            made.append(going.next())
            now[0] += 1
    assert made[-1][0] == last
    assert lease.asked == [(last + 1) * TICK]
    # Nor later, by the clock that goes back to where the lease ends.
    now[0] -= 30
    with pytest.raises(OSError, match="no database"):
        going.next()


def test_it_is_extended_at_its_end_only():
    lease = FakeLease(extensions=[OSError("no database"), 3000, 5000])
    now = [1990]
    going = leased(lease, lambda: now[0])
    before = take(going, 5)
    assert lease.asked == []
    now[0] = 2500
    with pytest.raises(OSError, match="no database"):
        going.next()
    made = take(going, 5)
    assert lease.asked == [2500, 2500]
    now[0] = 3000
    after = take(going, 5)
    assert lease.asked == [2500, 2500, 3000]
    assert increases(before + made + after)


def test_many_at_once():
    lease = FakeLease(extensions=[OSError("no database"), 2500, 5000])
    going = leased(lease, lambda: 1990, travels=lambda: False, sleep=lambda _: None)
    assert going.take(0) == []
    assert [WORKERS.split(number) for number in going.take(10)] == [
        (199, suffix) for suffix in range(30, 40)
    ]
    with pytest.raises(OSError, match="no database"):
        going.take(25)
    assert lease.asked == [2020]
    assert [WORKERS.split(number)[0] for number in going.take(6)] == [202] * 5 + [203]
    assert lease.asked == [2020, 2030]
    lease.ended = True
    with pytest.raises(LeaseLost):
        going.take(1)


def test_a_number_that_the_layout_has_no_place_for():
    going = leased(FakeLease(number=10), lambda: 1500)
    with pytest.raises(ValueError, match="worker number 10: expected 0 to 9"):
        going.next()
    with pytest.raises(ValueError, match="this layout has no worker numbers"):
        leased(FakeLease(), lambda: 1500, layout=TINY)
    with pytest.raises(ValueError, match="leases need a layout whose numbers sort by time"):
        leased(FakeLease(), lambda: 1500, layout=replace(WORKERS, descending=True))
    with pytest.raises(ValueError, match="this layout has no worker numbers"):
        get("uuid7").with_worker(lambda places: FakeLease())


def test_tests_that_travel_leave_the_lease_alone():
    now = time.time_ns()
    lease = FakeLease(starts_ns=now, ends_ns=now + HOUR_NS)
    scheme = fresh(get("snowflake").with_worker(lambda places: lease))
    made = [scheme.generate()]
    for year in (2016, 2040, 2016):
        with time_machine.travel(f"{year}-05-01T00:00Z", tick=False):
            made += [scheme.generate() for _ in range(10)]
            assert scheme.created_at(made[-1]).year == year
    made.append(scheme.generate())
    assert lease.asked == []
    assert lease.latest[0]() - now < HOUR_NS
    assert len(set(made)) == 32
    with time_machine.travel("2016-05-01T00:00Z"):
        lease.ended = True
        with pytest.raises(LeaseLost):
            scheme.generate()


def test_a_scheme_keeps_its_source():
    def source(places):
        return FakeLease(starts_ns=0, ends_ns=10**30)

    scheme = get("snowflake").with_worker(source)
    assert scheme.with_worker(source) is scheme
    assert get("snowflake").with_worker(source) is scheme
    assert {value >> 12 & 1023 for value in scheme.generate_many(10)} == {3}
    assert scheme.with_worker(None) == get("snowflake")
