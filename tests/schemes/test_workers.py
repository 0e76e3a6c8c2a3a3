"""Worker numbers: suffixes of its own for each worker."""

import time
from contextlib import suppress
from dataclasses import replace

import pytest
import time_machine

from django_sortable_ids.schemes import LeaseLost, OutOfRange, get
from django_sortable_ids.schemes.clock_and_randomness import Sources
from django_sortable_ids.schemes.layout import Layout
from django_sortable_ids.schemes.leased_generator import LeasedGenerator
from tests.combinations import in_one_case

from .generators import TINY, fresh, generator, take
from .support import NOW, NOW_NS

WORKERS = Layout(ticks=100, suffixes=100, workers=10)


def test_a_worker_whose_number_stands_last_has_every_tenth_suffix():
    layout = replace(WORKERS, worker_last=True)
    going = generator(layout, lambda: 7, worker=3)
    assert take(going, 11) == [*((7, suffix) for suffix in range(3, 100, 10)), (8, 3)]
    cut = replace(layout, largest=725)
    assert take(generator(cut, lambda: 7, worker=6), 2) == [(7, 6), (7, 16)]
    with pytest.raises(OutOfRange):
        take(generator(cut, lambda: 7, worker=6), 3)


@in_one_case(("worker", "suffixes"), [(0, [0, 1]), (1, [2, 3]), (2, [4]), (3, []), (4, [])])
def test_a_worker_does_not_overrun_a_last_tick_that_is_cut(worker, suffixes):
    layout = Layout(ticks=7, suffixes=10, largest=64, workers=5)
    going = generator(layout, lambda: 6, worker=worker)
    assert take(going, len(suffixes)) == [(6, suffix) for suffix in suffixes]
    with pytest.raises(OutOfRange):
        going.next()


@in_one_case(
    ("scheme", "size"),
    [
        (get("snowflake"), 1 << 12),
        (get("snowflake", epoch_ms=0, time_bits=42, worker_bits=5), 1 << 16),
        (get("discord"), 1 << 12),
        (get("instagram"), 1 << 10),
        (get("unique_rowid"), 1),
        (get("tsid"), 1 << 12),
        (get("tsid", node_bits=20), 1 << 2),
        (get("time64", workers=100), 1000),
        (get("time64", layout="3+6", workers=1000), 1000),
    ],
)
def test_workers_of_a_scheme_never_meet(scheme, size, monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: NOW_NS)
    made = {}
    for worker in (0, 1, 31):
        made[worker] = fresh(scheme.with_worker(worker)).generate_many(500)
        assert {scheme.parts(value)[1] // size for value in made[worker]} == {worker}
    assert len(set().union(*made.values())) == 1500


MULTICAST = 1 << 40
"""The bit of a node that is no MAC address (RFC 9562, section 6.10)."""


@in_one_case("name", ["uuid1", "uuid6", "comb13"])
def test_random_nodes_are_multicast_and_others_are_valid(name):
    scheme = get(name)
    ids = [
        *(scheme.generate() for _ in range(200)),
        *scheme.generate_many(200),
        *scheme.generate_many(200, NOW),
    ]
    assert all(value.node & MULTICAST for value in ids)
    assert len({value.node for value in ids}) == 600
    unicast = scheme.from_int(ids[0].int & ~MULTICAST)
    assert scheme.parse(str(unicast)) == unicast
    if scheme.sorts:
        assert scheme.lower_bound(NOW) == scheme.from_trusted(
            scheme.layout.join(scheme.tick(NOW), 0)
        )


# Leased worker numbers: no ids of a time that isn't the lease's


TEN_WORKERS = Layout(ticks=10**6, suffixes=100, workers=10)
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


class LeasedPairs(LeasedGenerator):
    """Says tick and suffix in the place of each number."""

    def next(self):
        return self._layout.split(super().next())


def leased(lease, clock, *, layout=TEN_WORKERS, epoch_ns=0, **sources):
    return LeasedPairs(
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


def test_many_at_once():
    lease = FakeLease(extensions=[OSError("no database")] * 2 + [2500, 5000])
    going = leased(lease, lambda: 1990, travels=lambda: False, sleep=lambda _: None)
    assert going.take(0) == []
    assert [TEN_WORKERS.split(number) for number in going.take(10)] == [
        (199, suffix) for suffix in range(30, 40)
    ]
    for count in (5, 20):
        with pytest.raises(OSError, match="no database"):
            going.take(count)
    assert lease.asked == [2000, 2020]
    assert [TEN_WORKERS.split(number)[0] for number in going.take(6)] == [202] * 5 + [203]
    assert lease.asked == [2000, 2020, 2030]
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
        leased(FakeLease(), lambda: 1500, layout=replace(TEN_WORKERS, descending=True))
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
