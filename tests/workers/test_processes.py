"""Real processes that lease, are killed, stopped, forked, and end."""

import json
import time
from itertools import chain

import pytest

from django_sortable_ids.models import WorkerLease
from django_sortable_ids.schemes import LeaseUnavailable
from django_sortable_ids.workers import leases
from tests.marks import own_tables
from tests.patience import wait_until
from tests.schemes.generators import increases

from .support import SKEW, TERM, occupy, row

pytestmark = own_tables
LONG = 3600.0
"""Seconds: a term that no test lasts."""


def tokens():
    return set(WorkerLease.objects.values_list("token", flat=True))


def test_every_process_has_its_own_number_and_frees_it_at_its_end(maker):
    makers = [maker(1, term=LONG) for _ in range(2)]
    for each in makers:
        each.tell("ids", 100)
    made = [each.answer() for each in makers]
    numbers = [{maker.number(value) for value in ids} for maker, ids in zip(makers, made, strict=1)]
    assert sorted(chain(*numbers)) == [0, 1]
    assert len(set(chain(*made))) == 200
    late = maker(1, term=LONG)
    refusal = late.ids()
    assert refusal["error"] == "LeaseUnavailable"
    assert refusal["message"].startswith("all 2 worker numbers are leased, ")
    makers[0].end()
    (number,) = numbers[0]
    freed = row(number)
    assert (freed.token, freed.expires) == ("", late.time_ms(made[0][-1]) + 1)
    after = late.ids_at_last()
    assert {late.number(value) for value in after} == {number}
    assert late.time_ms(after[0]) >= freed.expires


def test_a_process_that_is_killed(maker):
    """Its number is nobody's until it has ended and the clocks may have agreed on it."""
    occupy(1)
    killed, heir = maker(1), maker(1)
    assert heir.ids(0) == []  # it has started
    before = killed.ids()
    killed.kill()
    expires = row().expires
    refusal = heir.ids()
    now = time.time_ns() // 10**6
    assert now >= expires + 1000 * SKEW or refusal["error"] == "LeaseUnavailable"
    after = heir.ids_at_last()
    assert {heir.number(value) for value in after} == {0}
    assert row().starts >= expires + 1000 * SKEW
    assert killed.time_ms(before[-1]) < expires <= heir.time_ms(after[0])


def test_a_process_that_is_stopped_for_so_long_that_another_has_its_number(maker, tmp_path):
    occupy(1)
    heir = maker(1)
    with (tmp_path / "said").open("w") as said:
        stopped = maker(1, stdout=said)
        stopped.tell("many")
        while not (tmp_path / "said").stat().st_size:
            assert stopped.process.poll() is None
            time.sleep(0.01)
        time.sleep(0.2)
        stopped.stop()
        others = heir.ids_at_last()
        starts = row().starts
        stopped.go_on()
        stopped.tell("ids", 1)
        stopped.end()
    lines = [line for line in (tmp_path / "said").read_text().splitlines() if line]
    *made, lost, again = map(json.loads, lines)
    assert lost == {"error": "LeaseLost"}
    assert again["error"] == "LeaseLost"
    assert "worker number 0 was leased until" in again["message"]
    assert f"taken by {row().owner}" in again["message"]
    ids = list(chain(*made))
    assert increases(ids)
    assert stopped.time_ms(ids[-1]) < starts <= heir.time_ms(others[0])
    # Nor has it given back what is not its own.
    assert increases(heir.ids())
    assert row().token


def test_a_process_that_lives_keeps_its_number(maker):
    """Nobody gets its number at the times when that would be free, had it not been renewed."""
    occupy(1)
    owner = maker(1)
    made = owner.ids()
    terms = leases.Terms(term=int(1000 * TERM), skew=int(1000 * SKEW))
    free = first = row().expires + terms.skew
    while free < first + terms.term:
        wait_until(lambda free=free: row().expires + terms.skew > free, "it is renewed")
        with pytest.raises(LeaseUnavailable, match="all 2 worker numbers are leased"):
            leases.take(2, terms, lambda free=free: free, "default")
        free = row().expires + terms.skew
    made += owner.ids()
    assert increases(made)
    assert {owner.number(value) for value in made} == {0}


def test_a_child_has_a_number_of_its_own(maker):
    parent = maker(term=LONG)
    made = parent.ids()
    theirs = row().token
    children = [parent.ask(way, 5) for way in ("fork", "fork", "child", "child")]
    made += parent.ids()
    assert {parent.number(value) for value in made} == {0}
    assert {parent.number(value) for value in chain(*children)} == {1}
    # A child that has ended frees its own number, and its parent's no more than the parent has.
    assert (row(0).token, row(1).token) == (theirs, "")
    parent.end()
    assert tokens() == {""}


def test_a_database_that_no_other_process_sees(maker):
    """SQLite in memory, as of many test suites: nothing to lease, and no table for it."""
    sqlite = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:", "OPTIONS": {}}
    process = maker(database=sqlite)
    assert {process.number(value) for value in process.ids() + process.ask("atomic", 5)} == {0}
    process.end()
    assert not WorkerLease.objects.exists()


def test_a_rollback_gives_nothing_back(maker):
    process = maker(term=LONG)
    made = process.ask("atomic", 5)
    if isinstance(made, dict):
        # SQLite, where the first id must not be made in a transaction.
        assert made["error"] == "LeaseUnavailable"
        assert "take_lease() before the transaction" in made["message"]
        assert not WorkerLease.objects.exists()
        process.ids()
        made = process.ask("atomic", 5)
    assert {process.number(value) for value in made} == {0}
    assert row().token
    assert increases(made + process.ids())


def test_a_project_that_commits_by_itself(maker):
    """Its connections have no autocommit; a lease is kept all the same."""
    process = maker(term=LONG, database={"AUTOCOMMIT": False})
    made = process.ids()
    assert {process.number(value) for value in made} == {0}
    assert row().token
    process.end()
    assert (row().token, row().expires) == ("", process.time_ms(made[-1]) + 1)
