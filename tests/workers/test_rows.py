"""Who may have which number when: the rows, with clocks of the test's own."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from django_sortable_ids.models import WorkerLease
from django_sortable_ids.schemes import LeaseLost, LeaseUnavailable
from django_sortable_ids.workers import leases
from django_sortable_ids.workers.leases import Terms
from tests.marks import own_tables
from tests.patience import PATIENCE

pytestmark = own_tables
TERMS = Terms(term=1000, skew=300)
NOW = 1_767_225_600_000


def take(at=0, places=10):
    return leases.take(places, TERMS, lambda: NOW + at, "default")


def row(number=0):
    return WorkerLease.objects.get(number=number)


def test_everybody_gets_another_number():
    held = [take() for _ in range(10)]
    assert [each.number for each in held] == list(range(10))
    assert len({each.token for each in held}) == 10
    assert {(each.starts, each.expires) for each in held} == {(NOW, NOW + 1000)}
    kept = WorkerLease.objects.values_list("number", "token", "starts", "expires")
    assert list(kept.order_by("number")) == [
        (each.number, each.token, each.starts, each.expires) for each in held
    ]


def test_refused_when_all_are_taken():
    for number in range(4):
        take(at=number * 100, places=4)
    WorkerLease.objects.filter(number=2).update(owner="web-2 pid 7")
    WorkerLease.objects.exclude(number=2).update(owner="web-1 pid 7")
    with pytest.raises(LeaseUnavailable) as refusal:
        take(at=1299, places=4)
    assert str(refusal.value) == (
        "all 4 worker numbers are leased, 3 by web-1, 1 by web-2. Stop processes that need none, "
        "or choose a scheme with more worker numbers. The number of a killed process is free at "
        "2026-01-01 00:00:01 UTC at the earliest"
    )
    assert take(at=1299, places=5).number == 4


@pytest.mark.parametrize("at", [-10_000, 0, 999, 1000, 1299])
def test_a_silent_owners_number_is_not_free_before_its_end_and_the_skew(at):
    take(places=1)
    with pytest.raises(LeaseUnavailable, match="all 1 worker numbers are leased, 1 by "):
        take(at=at, places=1)


@pytest.mark.parametrize("at", [1300, 10**9])
def test_it_is_free_behind_them(at):
    first = take(places=1)
    second = take(at=at, places=1)
    assert (second.number, second.starts) == (first.number, NOW + at)
    assert second.starts >= first.expires
    assert second.token != first.token


def test_an_owners_clock_far_ahead_keeps_its_number():
    """Nobody has it before that clock's time."""
    ahead = take(at=10**9, places=1)
    with pytest.raises(LeaseUnavailable):
        take(at=10**9 - 1, places=1)
    assert take(at=10**9 + 1300, places=1).starts >= ahead.expires


def test_who_was_silent_for_the_longest_time_loses_its_number_first():
    take(at=200, places=3)
    take(at=100, places=3)
    take(at=300, places=3)
    assert [take(at=9000, places=3).number for _ in range(3)] == [1, 0, 2]


def test_numbers_that_nobody_had_come_before_those_of_the_silent():
    take()
    assert [take(at=9000, places=3).number for _ in range(3)] == [1, 2, 0]


def test_extending():
    held = take(places=1)
    leases.extend(held, NOW + 5000, "default")
    assert (row().starts, row().expires, row().token) == (NOW, NOW + 5000, held.token)
    with pytest.raises(LeaseUnavailable):
        take(at=5299, places=1)


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


def test_giving_back_what_is_anothers_does_nothing():
    lost, owner = take(places=1), take(at=1300, places=1)
    leases.give_back(lost, NOW, "default")
    assert row().token == owner.token


@pytest.mark.parametrize("silent", [False, True])
def test_many_at_once(silent):
    """All of them see the same rows, and write when all have seen them."""
    if silent:
        for number in range(16):
            WorkerLease.objects.create(
                number=number, owner="web pid 1", token="gone", starts=0, expires=number
            )
    together = threading.Barrier(16)

    def begin(_):
        connection.ensure_connection()
        together.wait(PATIENCE)
        try:
            return take(places=16).number
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as pool:
        assert sorted(pool.map(begin, range(16))) == list(range(16))
    assert set(WorkerLease.objects.values_list("starts", flat=True)) == {NOW}


@pytest.mark.parametrize("state", ["never had", "given back", "silent"])
@pytest.mark.parametrize("places", [1, 2])
def test_another_process_is_faster(state, places, monkeypatch):
    """It takes the number between the look at the rows and the write."""
    if state != "never had":
        token = "gone" if state == "silent" else ""
        for number in range(places):
            WorkerLease.objects.create(
                number=number, owner="web-1 pid 1", token=token, starts=0, expires=number
            )
    candidates, others = leases._candidates, []

    def after_another(*given):
        found = list(candidates(*given))
        if not others:
            others.append(None)
            others[0] = take(places=places)
        return found

    monkeypatch.setattr(leases, "_candidates", after_another)
    if places == 1:
        with pytest.raises(LeaseUnavailable, match="all 1 worker numbers are leased"):
            take(places=1)
    else:
        assert take(places=2).number == 1
    assert others[0].number == 0
    assert row().token == others[0].token


def test_an_owner_that_extends_at_the_last_moment_keeps_its_number(monkeypatch):
    """Between the look at the rows and the write."""
    held, candidates = take(places=1), leases._candidates

    def after_the_owner(*given):
        found = list(candidates(*given))
        leases.extend(held, NOW + 9000, "default")
        return found

    monkeypatch.setattr(leases, "_candidates", after_the_owner)
    with pytest.raises(LeaseUnavailable, match="all 1 worker numbers are leased"):
        take(at=1300, places=1)
    assert (row().token, row().expires) == (held.token, NOW + 9000)


def test_who_is_always_too_late_gives_up(monkeypatch):
    monkeypatch.setattr(leases, "_try_to_take", lambda *arguments: None)
    with pytest.raises(LeaseUnavailable, match="20 times, another process was faster"):
        take()


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
        "the database 'default' has no table django_sortable_ids_workerlease for worker numbers: "
        "run `manage.py migrate django_sortable_ids --database=default`"
    )
