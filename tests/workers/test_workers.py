"""The lease of the process that the test runs in."""

import logging
from contextlib import suppress
from threading import Event, Thread

import pytest
from django.core.signals import request_started
from django.db import OperationalError, connection, transaction
from django.test.utils import isolate_apps

from django_sortable_ids import workers
from django_sortable_ids.fields import SnowflakeField, Time64Field
from django_sortable_ids.models import WorkerLease
from django_sortable_ids.schemes import LeaseLost, LeaseUnavailable
from django_sortable_ids.schemes.clock_and_randomness import Sources
from django_sortable_ids.schemes.generator import replaced_sources
from django_sortable_ids.schemes.layout import Layout
from django_sortable_ids.schemes.leased_generator import LeasedGenerator
from django_sortable_ids.workers.leases import ProcessLease, Terms
from tests.marks import own_tables
from tests.own_tables import Own
from tests.patience import wait_until

from .support import occupy, row

pytestmark = own_tables
MS = 1_000_000
START = 1_767_225_600_000 * MS
TERMS = Terms(term=1000, skew=300)
WORKERS = Layout(ticks=1 << 50, suffixes=1 << 16, workers=2)


@pytest.fixture
def process(settings, monkeypatch):
    """A process that has leased nothing yet."""
    settings.SORTABLE_IDS = {"WORKER": "lease"}
    fresh = workers._Process()
    monkeypatch.setattr(workers, "_process", fresh)
    with replaced_sources(Sources()):
        yield fresh
    workers._give_back()


class Ticks(LeasedGenerator):
    """Says the tick in the place of each number."""

    def next(self):
        return self._layout.split(super().next())[0]


def leased(clock, lease_clock=None):
    """A lease, and a generator of 1 ms that uses it."""
    lease = ProcessLease(2, TERMS, "default", lease_clock or clock)
    sources = Sources(clock=clock, travels=lambda: False)
    return lease, Ticks(WORKERS, lambda places: lease, epoch_ns=0, tick_ns=MS, sources=sources)


def test_one_number_for_all_fields(process):
    occupy(0, 1, 2)
    assert SnowflakeField().generate() >> 12 & 1023 == 3
    assert Time64Field(workers=10).generate() // 10**4 % 10 == 3
    assert WorkerLease.objects.exclude(owner="web-9 pid 1").count() == 1


def test_the_number_is_right_for_the_fields_of_all_models(process, monkeypatch):
    with isolate_apps("tests.testapp") as isolated:

        class Counted(Own):
            id = SnowflakeField(primary_key=True, worker_bits=2)
            other = Time64Field(workers=10)
            wrong = SnowflakeField(layout="x")  # which its own check reports

        monkeypatch.setattr(workers, "apps", isolated)
        occupy(0, 1, 2, 3)
        with pytest.raises(LeaseUnavailable, match="all 4 worker numbers are leased"):
            SnowflakeField().generate()
        WorkerLease.objects.filter(number=2).update(token="", expires=0)
        assert SnowflakeField().generate() >> 12 & 1023 == 2


def test_a_clock_that_jumps_ahead_extends_the_lease_to_it():
    at = [START]
    lease, going = leased(lambda: at[0])
    going.next()
    at[0] += 3600_000 * MS
    going.next()
    assert row().expires * MS == lease.ends_ns == at[0] + 1000 * MS
    # And back again: an end never comes earlier.
    at[0] -= 3600_000 * MS
    lease.renew()
    assert row().expires * MS == lease.ends_ns == START + 3601_000 * MS


def test_given_back_behind_its_latest_id():
    at = [START]
    lease, going = leased(lambda: at[0])
    others = [LeasedGenerator(WORKERS, lambda places: lease, epoch_ns=0, tick_ns=MS) for _ in "ab"]
    going.next()
    at[0] += 700 * MS
    going.next()
    assert [other.latest_ns() < 0 for other in others] == [True, True]
    lease.give_back()
    assert (row().token, row().expires * MS) == ("", at[0] + MS)
    with pytest.raises(LeaseLost, match="worker number 0 was given back: the process ends"):
        going.next()


def test_given_back_although_the_connection_is_lost():
    lease = ProcessLease(2, TERMS, "default")
    row()  # which connects
    connection.connection.close()
    try:
        lease.give_back()
    finally:
        with suppress(OperationalError):  # of MariaDB and MySQL
            connection.close()
    assert row().token == ""


def test_the_thread_notices_that_the_number_is_lost(caplog):
    lease = ProcessLease(2, Terms(term=300, skew=0), "default")
    lease.keep()
    WorkerLease.objects.update(token="another's", owner="web-9 pid 1")
    wait_until(lambda: bool(caplog.records), "the error in the log")
    with pytest.raises(LeaseLost, match="taken by web-9 pid 1"):
        lease.extend(0)
    assert [record.levelno for record in caplog.records] == [logging.ERROR]


def test_a_database_that_was_a_tests_is_left_alone(monkeypatch):
    """Django gives the connection the name of the real one back, behind the tests."""
    lease = ProcessLease(2, TERMS, "default", lambda: START)
    token = row().token
    monkeypatch.setattr(lease, "_database", "test_shop")
    WorkerLease.objects.update(expires=0)
    lease.renew()
    lease.give_back()
    assert (row().token, row().expires) == (token, 0)


@pytest.mark.skipif(connection.vendor == "sqlite", reason="one writer at a time")
def test_a_rollback_of_the_caller_changes_nothing():
    at = [START]
    lease, going = leased(lambda: at[0])
    with transaction.atomic():
        WorkerLease.objects.create(number=7, owner="", token="", starts=0, expires=0)
        other = ProcessLease(2, TERMS, "default")
        going.next()
        at[0] += 1000 * MS
        going.next()
        transaction.set_rollback(True)
    assert row(0).expires * MS == lease.ends_ns == at[0] + 1000 * MS
    assert row(1).expires * MS == other.ends_ns
    assert WorkerLease.objects.count() == 2


@pytest.mark.skipif(connection.vendor != "sqlite", reason="one writer at a time")
def test_a_transaction_of_sqlite():
    now = [START]
    lease, going = leased(lambda: now[0])
    going.next()
    with transaction.atomic():
        going.next()
        with pytest.raises(LeaseUnavailable, match="inside a transaction of SQLite"):
            ProcessLease(2, TERMS, "default")
        now[0] += 1000 * MS
        with pytest.raises(LeaseUnavailable, match="inside a transaction of SQLite"):
            going.next()
    going.next()
    connection.set_autocommit(False)
    try:
        with pytest.raises(LeaseUnavailable):
            lease.extend(lease.ends_ns)
    finally:
        connection.set_autocommit(True)


def test_forks_of_two_threads_leave_the_lease_unlocked(process):
    """One begins while the other one ends."""
    process.lease = lease = ProcessLease(2, TERMS, "default")
    usual, second_has_it, first_is_over = lease._lock, Event(), Event()

    class Lock:
        acquire = usual.acquire

        def release(self):
            usual.release()
            second_has_it.wait(10)

    def second():
        workers._pause_lease()
        second_has_it.set()
        first_is_over.wait(10)
        workers._resume_lease()

    lease._lock = Lock()
    workers._pause_lease()
    thread = Thread(target=second)
    thread.start()
    workers._resume_lease()
    first_is_over.set()
    thread.join()
    assert not usual.locked()


def test_before_a_request(process, monkeypatch):
    """SQLite can't take it inside of the transaction of the request."""
    with isolate_apps("tests.testapp") as isolated:

        class Counted(Own):
            id = SnowflakeField(primary_key=True)

        monkeypatch.setattr(workers, "apps", isolated)
        request_started.send(sender=None)
        assert (process.lease is not None) == (connection.vendor == "sqlite")
        with transaction.atomic():
            assert Counted().id >> 12 & 1023 == 0
        assert workers.take_lease() == 0


@pytest.mark.parametrize("setting", [None, 7])
def test_before_a_request_of_a_project_without_leases(process, settings, setting):
    settings.SORTABLE_IDS = {"WORKER": setting}
    request_started.send(sender=None)
    assert process.lease is None
