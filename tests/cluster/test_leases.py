"""One worker number that two owners want, through two nodes, at the same moment."""

import time

import pytest
from django.db import connection

from django_sortable_ids.models import WorkerLease
from django_sortable_ids.schemes import LeaseUnavailable
from django_sortable_ids.workers import leases
from tests.marks import own_tables
from tests.support import on_statement

pytestmark = [pytest.mark.galera, own_tables]

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
