"""Worker numbers: suffixes of its own for each worker."""

import time
from dataclasses import replace

import pytest

from django_sortable_ids.schemes import OutOfRange, get
from django_sortable_ids.schemes.layout import Layout
from tests.combinations import in_one_case

from .generators import TINY, fresh, generator, take
from .support import NOW, NOW_NS

WORKERS = Layout(ticks=100, suffixes=100, workers=10)


def test_a_worker_has_its_own_tails_in_every_tick():
    going = generator(WORKERS, lambda: 7, worker=3)
    assert take(going, 11) == [*((7, suffix) for suffix in range(30, 40)), (8, 30)]


def test_a_worker_whose_number_stands_last_has_every_tenth_tail():
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


@in_one_case("worker", [-1, 10, 11])
def test_wrong_worker_numbers_are_refused(worker):
    with pytest.raises(ValueError, match=f"worker number {worker}: expected 0 to 9"):
        generator(WORKERS, lambda: 7, worker=worker)


def test_a_layout_without_workers_refuses_any():
    with pytest.raises(ValueError, match="this layout has no worker numbers"):
        generator(TINY, lambda: 5, worker=0)
    with pytest.raises(ValueError, match="this layout has no worker numbers"):
        get("uuid7").with_worker(0)


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
