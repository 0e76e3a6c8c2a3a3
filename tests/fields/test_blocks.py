"""Sequences whose numbers are reserved in blocks: never a repeat, gaps where something ends."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from threading import Barrier

import pytest
from django.db import IntegrityError, connection, connections, transaction

from django_sortable_ids.fields import LexicalSequenceField
from django_sortable_ids.models import SequenceCounter
from django_sortable_ids.workers import counters
from tests.backfill.command import ROOT, environment
from tests.combinations import in_one_case
from tests.fields.refused import assert_refused
from tests.marks import own_tables
from tests.patience import PATIENCE
from tests.schemes.test_processes import child_says, needs_fork

from .test_sequences import numbers

pytestmark = own_tables
NUMERIC = {"charset": "numeric", "width": 6}
one_writer = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="inside a transaction, SQLite counts as with block=1"
)


def taken():
    return SequenceCounter.objects.get().taken


def roll_back_after(model, count):
    """The numbers of ``count`` rows in a transaction that rolls back."""
    made = []
    with suppress(IntegrityError), transaction.atomic():
        made += numbers(model, count)
        raise IntegrityError
    return made


def test_a_block_is_reserved_at_once(sequence):
    model = sequence(**NUMERIC, block=5)
    assert numbers(model, 1) == ["000000"]
    assert taken() == 5
    with_memory = numbers(model, 5)
    assert with_memory == [f"00000{n}" for n in range(1, 6)]
    assert taken() == 10


def test_more_than_a_block(sequence):
    field = sequence(**NUMERIC, block=5)._meta.get_field("number")
    assert field.take(1, "default") == ["000000"]
    assert field.take(11, "default") == [f"{n:06}" for n in range(1, 12)]
    assert field.take(0, "default") == []
    assert taken() == 12


@in_one_case("block", [0, -1, True, 1.0, "2", None])
def test_wrong_blocks(block):
    message = "expected how many numbers to reserve, 1 or more"
    assert_refused(LexicalSequenceField(block=block), "E012", message)


def test_a_rollback_leaves_a_gap(sequence):
    model = sequence(**NUMERIC, block=5)
    assert numbers(model, 1) == ["000000"]
    rolled_back = roll_back_after(model, 3)
    later = numbers(model, 9)
    assert "000000" not in later
    assert len({*later}) == 9
    if connection.vendor != "sqlite":
        assert not {*rolled_back} & {*later}


def test_a_block_that_a_rollback_reserved_is_not_given_twice(sequence):
    """The process goes on with it, and so must all others behind it."""
    model = sequence(**NUMERIC, block=5)
    roll_back_after(model, 2)
    ours = numbers(model, 2)
    counters.drop_blocks()  # as another process would begin
    assert not {*ours} & {*numbers(model, 7)}


@one_writer
def test_others_do_not_wait_for_an_open_transaction(sequence):
    model = sequence(**NUMERIC, block=2)
    callers = connection.connection

    def insert():
        try:
            return numbers(model, 3)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        assert numbers(model, 1) == ["000000"]
        assert pool.submit(insert).result(PATIENCE) == ["000001", "000002", "000003"]
        assert connection.connection is callers or callers is None
    assert numbers(model, 1) == ["000004"]


def test_threads_take_turns(sequence):
    """What one of them takes is not mixed with what another takes at the same time."""
    field = sequence(**NUMERIC, block=81_000)._meta.get_field("number")
    field.take(1000, "default")

    together = Barrier(8)

    def take_runs(_):
        connection.ensure_connection()
        together.wait()
        try:
            return [field.take(500, "default") for _ in range(20)]
        finally:
            connection.close()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            runs = list(chain(*pool.map(take_runs, range(8))))
    finally:
        sys.setswitchinterval(interval)
    assert sorted(int(run[0]) for run in runs) == list(range(1000, 81_000, 500))
    assert all(int(run[-1]) == int(run[0]) + 499 for run in runs)


@needs_fork
def test_a_forked_child_does_not_go_on_with_its_parents_block(sequence):
    field = sequence(**NUMERIC, block=9)._meta.get_field("number")
    assert field.take(1, "default") == ["000000"]
    connections.close_all()
    child = child_says(lambda: field.take(3, "default"))
    assert child == ["000009", "000010", "000011"]
    assert field.take(3, "default") == ["000001", "000002", "000003"]


def test_processes_that_are_killed(sequence):
    """Some with -9, in the middle of a block: what they had left is a gap."""
    model = sequence(**NUMERIC, block=7)
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.fields.inserting", str(rows)],
            cwd=ROOT,
            env={**os.environ, **environment({"INSTALLED_APPS": ["django_sortable_ids"]})},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rows in (60, 1_000_000, 60, 1_000_000)
    ]
    said = []
    for process in processes[1::2]:
        said += [process.stdout.readline().strip() for _ in range(20)]
        process.kill()
    for process in processes:
        with process.stdout:
            said += process.stdout.read().split()
        process.wait()
    said += numbers(model, 20)
    assert len({*said}) == len(said) >= 180
    kept = set(model.objects.values_list("number", flat=True))
    assert {*said} <= kept
    assert taken() - len(kept) < 7 * 5
