"""UUIDs of one node: they sort by time in SQL Server, too."""

import uuid
from datetime import timedelta
from threading import Thread

import pytest

from django_sortable_ids.schemes import get
from django_sortable_ids.schemes.generation.clock import Sources
from django_sortable_ids.schemes.generation.generator import MULTICAST, Generator
from django_sortable_ids.testing import deterministic_ids

from .generators import MANY, fresh, increases
from .support import NOW, NOW_NS
from .test_processes import child_says, needs_fork
from .test_text_forms import sort_key

NODE = 0x0123456789AB
NODED = pytest.mark.parametrize("name", ["uuid6", "comb13"])


LAYOUT = get("uuid6").layout


def generator(now, slept):
    sources = Sources(clock=lambda: now[0], sleep=slept.append)
    return Generator(LAYOUT, node=NODE, epoch_ns=0, tick_ns=100, sources=sources)


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
    texts = [comb13.format(value, "sqlserver") for value in comb13.generate_many(MANY)]
    assert increases([sort_key(text) for text in texts])
    without = get("comb13")
    times = [NOW + timedelta(seconds=second) for second in range(100)]
    texts = [without.format(without.generate(at), "sqlserver") for at in times]
    assert not increases([sort_key(text) for text in texts])


def test_ids_run_10_ms_ahead_of_a_clock_that_stands_still_and_then_wait():
    now, slept = [NOW_NS], []
    going = generator(now, slept)
    first, *_, last = (LAYOUT.split(number)[0] for number in going.take(100_001))
    assert (first, last - first, slept) == (NOW_NS // 100, 100_000, [])
    going.next()
    assert slept == [1e-7]


@pytest.mark.parametrize("node", [NODE, "random"])
def test_a_seed_repeats_clock_sequence_and_node(node):
    scheme = get("uuid6", node=node)
    with deterministic_ids(seed=5):
        first = scheme.parts(scheme.generate())[1]
    with deterministic_ids(seed=5):
        assert scheme.parts(scheme.generate())[1] == first
    with deterministic_ids(seed=6):
        assert scheme.parts(scheme.generate())[1] != first


def test_threads_share_the_ticks():
    scheme, taken = fresh(get("uuid6", node=NODE)), []
    threads = [
        Thread(target=lambda: taken.append(list(scheme.generate_many(2000)))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(map(increases, taken))
    assert len({value.time_low << 28 | value.int >> 64 for ids in taken for value in ids}) == 8000


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


@NODED
def test_ids_of_other_nodes_are_valid_and_in_the_same_ranges(name):
    scheme, without = get(name, node=NODE), get(name)
    other = without.generate()
    assert scheme.parse(str(other)) == other
    assert scheme.created_at(other) == without.created_at(other)
    assert scheme.lower_bound(NOW) == without.lower_bound(NOW)
    assert without.convert(scheme.generate(), to=get("uuid1")).lossless


def test_ids_of_a_given_time_have_random_nodes():
    ids = get("uuid6", node=NODE).generate_many(20, NOW)
    assert increases(ids)
    assert len({value.node for value in ids}) == 20


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
