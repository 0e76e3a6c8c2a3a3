"""Worker numbers: suffixes of its own for each worker."""

import time
import uuid
from dataclasses import replace
from datetime import timedelta

import pytest

from django_sortable_ids.schemes import OutOfRange, get
from django_sortable_ids.schemes.generation.clock import Sources
from django_sortable_ids.schemes.generation.generator import MULTICAST, Generator
from django_sortable_ids.schemes.layout import Layout

from .generators import TINY, fresh, generator, increases, take
from .support import NOW, NOW_NS
from .test_processes import child_says, needs_fork
from .test_text_forms import sort_key

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


@pytest.mark.parametrize(
    ("worker", "suffixes"), [(0, [0, 1]), (1, [2, 3]), (2, [4]), (3, []), (4, [])]
)
def test_a_worker_does_not_overrun_a_last_tick_that_is_cut(worker, suffixes):
    layout = Layout(ticks=7, suffixes=10, largest=64, workers=5)
    going = generator(layout, lambda: 6, worker=worker)
    assert take(going, len(suffixes)) == [(6, suffix) for suffix in suffixes]
    with pytest.raises(OutOfRange):
        going.next()


@pytest.mark.parametrize("worker", [-1, 10, 11])
def test_wrong_worker_numbers_are_refused(worker):
    with pytest.raises(ValueError, match=f"worker number {worker}: expected 0 to 9"):
        generator(WORKERS, lambda: 7, worker=worker)


def test_a_layout_without_workers_refuses_any():
    with pytest.raises(ValueError, match="this layout has no worker numbers"):
        generator(TINY, lambda: 5, worker=0)
    with pytest.raises(ValueError, match="this layout has no worker numbers"):
        get("uuid7").with_worker(0)


@pytest.mark.parametrize(
    ("scheme", "size"),
    [
        (get("snowflake"), 1 << 12),
        (get("snowflake", epoch_ms=0, time_bits=42, worker_bits=5), 1 << 16),
        (get("discord"), 1 << 12),
        (get("instagram"), 1 << 10),
        (get("unique_rowid"), 1),
        (get("tsid"), 1 << 12),
        (get("tsid", node_bits=20), 1 << 2),
        (get("xid", workers=1 << 40), 1 << 24),
        (get("objectid", workers=1024), 1 << 54),
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


# UUIDs of one node: they sort by time in SQL Server, too.


NODE = 0x0123456789AB
NODED = pytest.mark.parametrize("name", ["uuid6", "comb13"])


LAYOUT = get("uuid6").layout


def noded(now, slept):
    sources = Sources(clock=lambda: now[0], sleep=slept.append)
    return Generator(LAYOUT, node=NODE, epoch_ns=0, tick_ns=10_000, sources=sources)


@NODED
def test_the_ids_of_a_process_differ_in_their_times_only(name):
    scheme = get(name, node=NODE)
    ids = [scheme.generate() for _ in range(500)] + list(scheme.generate_many(500))
    ticks = [scheme.parts(value)[0] for value in ids]
    assert increases(ticks)
    assert {value.node for value in ids} == {NODE}
    assert len({value.clock_seq for value in ids}) == 1
    assert {(value.version, value.variant) for value in ids} == {
        ({"uuid6": 6, "comb13": 13}[name], uuid.RFC_4122)
    }


@pytest.mark.parametrize("node", [NODE, "random"])
def test_sql_server_sorts_the_ids_of_a_process_by_time(node):
    comb13 = get("comb13", node=node)
    texts = [comb13.format(value, "sqlserver") for value in comb13.generate_many(2_000)]
    assert increases([sort_key(text) for text in texts])
    without = get("comb13")
    times = [NOW + timedelta(seconds=second) for second in range(100)]
    texts = [without.format(without.generate(at), "sqlserver") for at in times]
    assert not increases([sort_key(text) for text in texts])


def test_ids_run_10_ms_ahead_of_a_clock_that_stands_still_and_then_wait():
    now, slept = [NOW_NS], []
    going = noded(now, slept)
    first, *_, last = (LAYOUT.split(number)[0] for number in going.take(1_001))
    assert (first, last - first, slept) == (NOW_NS // 10_000, 1_000, [])
    going.next()
    assert slept == [1e-5]


@needs_fork
@pytest.mark.parametrize("node", [NODE, "random"])
def test_each_forked_child_draws_a_clock_sequence_and_if_random_a_node(node):
    scheme = get("uuid6", node=node)

    def suffixes():
        return [scheme.parts(value)[1] for value in scheme.generate_many(2)]

    found = []
    for first, second in [suffixes(), *(child_says(suffixes) for _ in range(4))]:
        assert first == second
        found.append(first)
    nodes = {suffix & (1 << 48) - 1 for suffix in found}
    # Five equal clock sequences have a chance of 1 in 2**56.
    assert len({suffix >> 48 for suffix in found}) > 1
    if node == NODE:
        assert nodes == {NODE}
    else:
        assert len(nodes) == 5
        assert all(each & MULTICAST for each in nodes)


@pytest.mark.parametrize("name", ["uuid1", "uuid6", "comb13"])
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


@NODED
@pytest.mark.parametrize("node", [-1, 1 << 48, True, 1.0, "01:23:45:67:89:ab", [NODE]])
def test_wrong_nodes_are_refused(name, node):
    get(name, node=1)
    with pytest.raises(ValueError, match="expected a whole number of 48 bits"):
        get(name, node=node)
