"""One row changed through two nodes: the cluster refuses the later COMMIT."""

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F

from django_sortable_ids.db.errors import is_conflict
from django_sortable_ids.db.transactions import apart
from django_sortable_ids.models import SequenceCounter
from tests.marks import own_tables

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
