"""Threads and forked processes: no id is lost, none is made twice."""

import json
import os
import signal
import time
from dataclasses import replace
from threading import Barrier, Event, Thread, current_thread

import pytest

from django_sortable_ids.schemes import get
from django_sortable_ids.schemes.catalog import _built
from django_sortable_ids.schemes.layout import Layout
from django_sortable_ids.schemes.support import cached_property
from django_sortable_ids.schemes.time_scheme import accepting_other_versions
from tests.patience import PATIENCE
from tests.stress.__main__ import SCHEMES
from tests.stress.processes import ROUND, Load, stress

from .generators import TINY, fresh, generator, increases, take
from .support import NOW_NS


def in_threads(work, count=16):
    results = [[] for _ in range(count)]
    start = Barrier(count)

    def begin(result):
        start.wait()
        work(result)

    threads = [Thread(target=begin, args=(result,)) for result in results]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


class YieldingLayout:
    """A layout that lets other threads run whenever it is asked for anything."""

    def __init__(self, layout):
        self._layout = layout

    def __getattr__(self, name):
        time.sleep(1e-5)
        return getattr(self._layout, name)


def test_threads_share_the_generator_that_the_first_id_makes(monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: NOW_NS)
    ulid = get("ulid")
    for _ in range(5):
        scheme = replace(ulid, layout=YieldingLayout(ulid.layout))
        results = in_threads(lambda result, scheme=scheme: result.extend(scheme.generate_many(3)))
        assert all(increases(result) for result in results)
        assert len({value for result in results for value in result}) == 48


@pytest.mark.parametrize("how", ["worker", "versions", "options"])
def test_threads_share_the_scheme_that_is_built_at_the_first_id(monkeypatch, how):
    """Each of several would count from the same number."""
    monkeypatch.setattr(time, "time_ns", lambda: NOW_NS)
    tsid = get("tsid")
    layout = YieldingLayout(tsid.layout)
    scheme = replace(tsid, layout=layout)

    def built(*, pause):
        time.sleep(pause)
        return replace(tsid, layout=layout, worker=7)

    build = {
        "worker": lambda: scheme.with_worker(7),
        "versions": lambda: accepting_other_versions(replace(scheme, worker=7)),
        "options": lambda: _built(built, pause=0.001),
    }[how]
    results = in_threads(lambda result: result.extend(build().generate_many(3)))
    assert len({value for result in results for value in result}) == 48


def child_says(work):
    """What ``work`` gives in a forked process."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)
        try:
            os.write(writer, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    os.waitpid(pid, 0)
    return json.loads(said)


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no os.fork")


@needs_fork
def test_a_forked_child_does_not_continue_its_parents_ids():
    # Suffixes so many, in ticks so long, that every step is 1.
    layout = Layout(ticks=10, suffixes=1 << 52)
    going = generator(layout, lambda: 1, tick_ns=10**18)
    first = going.next()
    child = {tuple(pair) for pair in child_says(lambda: take(going, 100))}
    parent = {first, *take(going, 100)}
    assert parent == {(0, first[1] + step) for step in range(101)}
    assert len(child) == 100
    assert not child & parent


@needs_fork
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_child_forked_while_another_thread_holds_the_lock_is_not_locked_out():
    asked, locked, forked = [], Event(), Event()

    def clock():
        asked.append(current_thread())
        # The generator's lock is held while it asks for the time again.
        if current_thread() is holder and asked.count(holder) == 2:
            locked.set()
            forked.wait(PATIENCE)
        return 5

    going = generator(TINY, clock, below=lambda size: 0)
    holder = Thread(target=going.next)
    holder.start()
    assert locked.wait(PATIENCE)
    try:
        assert child_says(lambda: take(going, 2)) == [[5, 0], [5, 1]]
    finally:
        forked.set()
        holder.join()


@needs_fork
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_child_forked_while_another_thread_computes_an_attribute_has_it():
    computing, forked, parent = Event(), Event(), os.getpid()

    class Slow:
        @cached_property
        def attribute(self):
            computing.set()
            return os.getpid() == parent and forked.wait(PATIENCE)

    slow = Slow()
    thread = Thread(target=lambda: slow.attribute)
    thread.start()
    assert computing.wait(PATIENCE)
    assert child_says(lambda: [slow.attribute, Slow().attribute]) == [False, False]
    forked.set()
    thread.join()
    assert slow.attribute is True


# The stress command, in short: it finds nothing in the schemes, and what is wrong elsewhere.


SHORT = Load(ids=20_000, processes=3, threads=4, seconds=PATIENCE)


@needs_fork
@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=SCHEMES.keys())
def test_no_id_is_repeated_and_none_goes_back(scheme):
    result = stress(fresh(scheme), SHORT)
    assert result.failures == []
    assert (result.repeats, result.steps_back) == (0, 0)
    assert (result.ids, result.forks) == (20_016, 3)
    assert result.clock_steps > 6 * len(ROUND)
