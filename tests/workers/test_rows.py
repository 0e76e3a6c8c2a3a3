"""Who may have which number when: the rows, with clocks of the test's own."""

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count

import pytest
from django.db import connection

from django_sortable_ids.models import WorkerLease
from django_sortable_ids.schemes import LeaseLost, LeaseUnavailable
from django_sortable_ids.workers import leases
from django_sortable_ids.workers.leases import Terms
from tests.marks import own_tables
from tests.patience import PATIENCE, wait_until
from tests.schemes.generators import increases
from tests.support import elsewhere, on_statement

from .proxy import proxy
from .support import occupy, row

pytestmark = own_tables
TERMS = Terms(term=1000, skew=300)
NOW = 1_767_225_600_000


def take(at=0, places=10):
    return leases.take(places, TERMS, lambda: NOW + at, "default")


def test_refused_when_all_are_taken():
    for number in range(4):
        take(at=number * 100, places=4)
    with pytest.raises(LeaseUnavailable) as refusal:
        take(at=1299, places=4)
    assert str(refusal.value) == (
        "all 4 worker numbers are leased, which the admin lists. Stop processes that need none, or "
        "choose a scheme with more worker numbers. The number of a killed process is free at "
        "2026-01-01 00:00:01 UTC at the earliest"
    )
    assert take(at=1299, places=5).number == 4


@pytest.mark.parametrize("at", [1300, 10**9])
def test_it_is_free_behind_them(at):
    first = take(places=1)
    second = take(at=at, places=1)
    assert (second.number, second.starts) == (first.number, NOW + at)
    assert second.starts >= first.expires
    assert second.token != first.token


def test_who_was_silent_for_the_longest_time_loses_its_number_first():
    take(at=200, places=3)
    take(at=100, places=3)
    take(at=300, places=3)
    assert [take(at=9000, places=3).number for _ in range(3)] == [1, 0, 2]


def test_extending_what_is_anothers():
    lost, owner = take(places=1), take(at=1300, places=1)
    WorkerLease.objects.update(owner="web-2 pid 7")
    with pytest.raises(LeaseLost) as refusal:
        leases.extend(lost, NOW + 9000, "default")
    assert str(refusal.value) == (
        "worker number 0 was leased until 2026-01-01 00:00:01 UTC and has been taken by web-2 pid "
        "7: this process was suspended, or without its database, for too long. It generates no "
        "more ids with a worker number; restart it"
    )
    leases.give_back(lost, NOW + 1400, "default")
    assert (row().token, row().expires) == (owner.token, owner.expires)
    leases.give_back(owner, NOW + 1400, "default")
    with pytest.raises(LeaseLost, match="taken by web-2 pid 7, which has given it back"):
        leases.extend(lost, NOW + 9000, "default")


def test_extending_after_the_table_was_emptied():
    held = take(places=1)
    WorkerLease.objects.all().delete()
    leases.extend(held, NOW + 2000, "default")
    assert (row().token, row().starts, row().expires) == (held.token, NOW, NOW + 2000)
    WorkerLease.objects.all().delete()
    take(places=1)
    with pytest.raises(LeaseLost):
        leases.extend(held, NOW + 3000, "default")


def test_given_back():
    held = take(places=1)
    leases.give_back(held, NOW + 17, "default")
    assert (row().token, row().expires) == ("", NOW + 17)
    # By a clock that is behind that of the last owner.
    with pytest.raises(LeaseUnavailable, match="all 1 worker numbers are leased"):
        take(at=16, places=1)
    assert take(at=17, places=1).starts == NOW + 17


def test_the_lowest_number_that_was_given_back_comes_first():
    held = [take() for _ in range(3)]
    leases.give_back(held[2], NOW, "default")
    leases.give_back(held[1], NOW, "default")
    assert [take(at=1).number for _ in range(3)] == [1, 2, 3]


@pytest.mark.parametrize("silent", [False, True])
def test_many_at_once(silent):
    """All of them see the same rows, and write when all have seen them."""
    if silent:
        for number in range(32):
            WorkerLease.objects.create(
                number=number, owner="web pid 1", token="gone", starts=0, expires=number
            )
    together = threading.Barrier(32)

    def begin(_):
        connection.ensure_connection()
        together.wait(PATIENCE)
        try:
            return take(places=32).number
        finally:
            connection.close()

    with ThreadPoolExecutor(32) as pool:
        assert sorted(pool.map(begin, range(32))) == list(range(32))
    assert set(WorkerLease.objects.values_list("starts", flat=True)) == {NOW}


def test_who_is_outrun_does_not_try_the_lowest_number_again():
    """Each time, another one takes the lowest number just before it writes."""
    numbers = count()
    with on_statement("^INSERT", lambda: elsewhere(lambda: occupy(next(numbers)))) as tries:
        take(places=1000)
    assert len(tries) < 20


def test_the_table_is_missing():
    with connection.schema_editor() as editor:
        editor.delete_model(WorkerLease)
    try:
        with pytest.raises(LeaseUnavailable) as refusal:
            take()
    finally:
        with connection.schema_editor() as editor:
            editor.create_model(WorkerLease)
    assert str(refusal.value) == (
        "the database 'default' has no table django_sortable_ids_workerlease that its user may "
        "see: run `manage.py migrate django_sortable_ids --database=default`, or use another "
        "database. If there is nothing to migrate, django_sortable_ids.WorkerLease is not managed, "
        'or your DATABASE_ROUTERS have kept it out: see "Several databases" in the documentation'
    )


# A database that can't be reached, or written, while ids are made.


@contextmanager
def reach():
    """What a process has to know of the database, and how to cut it off, and to undo that."""
    settings = connection.settings_dict
    if connection.vendor == "sqlite":
        writer = sqlite3.connect(settings["NAME"], timeout=PATIENCE, isolation_level=None)
        try:
            yield (
                {"OPTIONS": {"timeout": 0.1}},
                lambda: writer.execute("BEGIN IMMEDIATE"),
                lambda: writer.execute("ROLLBACK"),
            )
        finally:
            writer.close()
        return
    with proxy(settings["HOST"], int(settings["PORT"])) as passing:
        yield {"HOST": "127.0.0.1", "PORT": str(passing.port)}, passing.cut, passing.restore


def made_until_it_fails(process):
    """The ids, and the error."""
    made, give_up = [], time.monotonic() + PATIENCE
    while isinstance(answer := process.ids(), list):
        assert time.monotonic() < give_up
        made += answer
        time.sleep(0.02)
    return made, answer


def test_a_short_outage_is_not_noticed(maker, tmp_path):
    """Shorter than the rest of the lease, though renewals fail."""
    file = tmp_path / "said"
    with reach() as (database, cut, restore), file.open("w") as said:
        process = maker(database=database, stderr=said)
        made = process.ids()
        process.ask("extend", 3600)
        before = row().expires
        cut()
        made += process.ids()
        wait_until(lambda: "was not renewed" in file.read_text(), "a renewal that fails")
        made += process.ids()
        restore()
        WorkerLease.objects.update(expires=0)
        wait_until(lambda: row().expires == before, "a renewal that does not")
        assert increases(made + process.ids())


def test_an_outage_beyond_the_end_of_the_lease(maker):
    """Ids until then, errors of the database from then on, and ids again after it."""
    with reach() as (database, cut, restore):
        process = maker(database=database)
        made = process.ids()
        cut()
        more, error = made_until_it_fails(process)
        assert error["error"] == "OperationalError", error
        made += more
        expires = row().expires
        assert process.time_ms(made[-1]) < expires
        while time.time_ns() // 10**6 < expires + 300:
            assert process.ids()["error"] == "OperationalError"
        assert row().expires == expires
        restore()
        made += process.ids_at_last()
        assert increases(made)
        assert {process.number(value) for value in made} == {0}
        assert row().expires > expires
