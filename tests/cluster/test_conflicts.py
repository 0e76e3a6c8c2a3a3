"""Two nodes at the same moment: one row is changed through both, of which the cluster refuses the
later COMMIT, and one worker number has two owners who want it."""

import time

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F

from django_sortable_ids.db.errors import is_conflict
from django_sortable_ids.db.transactions import apart
from django_sortable_ids.models import SequenceCounter, WorkerLease
from django_sortable_ids.schemes import LeaseUnavailable
from django_sortable_ids.workers import leases
from tests.marks import own_tables
from tests.support import on_statement

pytestmark = [pytest.mark.galera, own_tables]


class Change:
    """A transaction whose row another node changes before it commits, the first time."""

    def __init__(self, node):
        self.node = node
        self.times_done = 0
        SequenceCounter.objects.create(key="shop_order.number", first="0", step=1, taken=0)

    def __call__(self):
        SequenceCounter.objects.update(taken=F("taken") + 1)
        if not self.times_done:
            database = connection.settings_dict["NAME"]
            table = SequenceCounter._meta.db_table
            self.node.ask("SET wsrep_sync_wait = 7", f"UPDATE {database}.{table} SET taken = 10")
        self.times_done += 1


def test_the_error_of_a_commit(nodes):
    change = Change(nodes[1])
    with pytest.raises(OperationalError) as raised, transaction.atomic():
        change()
    assert change.times_done == 1
    assert is_conflict(raised.value)


def test_a_refused_commit_is_tried_again(nodes):
    change = Change(nodes[1])
    apart(change, "default")
    assert change.times_done == 2
    assert SequenceCounter.objects.get().taken == 11


def test_a_refused_commit_beside_the_callers_transaction(nodes):
    change = Change(nodes[1])
    with transaction.atomic():
        apart(change, "default")
    assert change.times_done == 2
    assert SequenceCounter.objects.get().taken == 11


# Worker numbers

TERMS = leases.Terms(term=3_600_000, skew=10_000)


def now():
    return time.time_ns() // 1_000_000


@pytest.fixture
def silent():
    """The owner of number 0, which has been without a sign for long."""
    long_ago = now() - 2 * TERMS.term
    WorkerLease.objects.create(number=0, token="s", starts=long_ago, expires=long_ago + 1)


@pytest.fixture
def faster(nodes):
    """Another owner, who takes number 0 when the first one, who saw it free, is about to."""
    name = f"{connection.settings_dict['NAME']}.{WorkerLease._meta.db_table}"
    values = f"0, 'faster', 'f', {now()}, {now() + TERMS.term}"
    statement = f"REPLACE INTO {name} (number, owner, token, starts, expires) VALUES ({values})"

    def take():
        nodes[1].ask("SET wsrep_sync_wait = 7", statement)

    with on_statement("^(INSERT|UPDATE)", take, once=True) as seen:
        yield
    assert seen


def tokens():
    return dict(WorkerLease.objects.values_list("number", "token"))


def test_a_new_number(faster):
    held = leases.take(1024, TERMS, now, "default")
    assert held.number != 0
    assert tokens() == {0: "f", held.number: held.token}


def test_the_number_of_a_silent_owner(silent, faster):
    with pytest.raises(LeaseUnavailable, match="all 1 worker numbers are leased, "):
        leases.take(1, TERMS, now, "default")
    assert tokens() == {0: "f"}
