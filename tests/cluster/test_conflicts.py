"""Two nodes at the same moment: one row is changed through both, of which the cluster refuses the
later COMMIT, and one worker number has two owners who want it."""

import time

import pytest
from django.core.management.base import CommandError
from django.db import OperationalError, connection, transaction
from django.db.models import F

from django_sortable_ids.db.transactions import apart, is_lost
from django_sortable_ids.models import SequenceCounter, WorkerLease
from django_sortable_ids.schemes import LeaseUnavailable
from django_sortable_ids.workers import leases
from tests.marks import own_tables
from tests.migrations.sources import CREATE_WITH_ROWS, FIVE_ROWS
from tests.patience import wait_until
from tests.primary_keys import small
from tests.support import execute, on_statement

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


def test_the_error_of_a_commit_through_a_node_that_leaves(nodes):
    victim, isolate = nodes[1], "SET GLOBAL wsrep_provider_options = 'gmcast.isolate={}'"
    table = f"{connection.settings_dict['NAME']}.{SequenceCounter._meta.db_table}"
    insert = f"INSERT INTO {table} (`key`, first, step, taken) VALUES ('a', '0', 1, 0)"
    with victim.session() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(insert)
        victim.ask(isolate.format(1))
        try:
            with pytest.raises(OperationalError) as raised, connection.wrap_database_errors:
                cursor.execute("COMMIT")
            # The error may come before the node's state says the same.
            wait_until(lambda: not victim.takes_part(), "the node has left")
        finally:
            victim.ask(isolate.format(0))
    assert raised.value.args[0] == 1180
    assert is_lost(raised.value, "default")
    wait_until(victim.takes_part, "the node takes part again")
    assert not SequenceCounter.objects.exists()


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


# Migrations that would leave other keys on each node are refused: a move of keys, and a column of
# ids from the database that is added to a table with rows.


MESSAGE = (
    "primary keys can't be moved on a Galera cluster (wsrep_on is ON): stop all nodes but one, "
    "start that one with --wsrep-on=OFF, migrate, and start the cluster from it"
)


def tables(nodes):
    """The definitions and numbers of rows on each node."""
    name = connection.settings_dict["NAME"]
    shown = (f"SHOW CREATE TABLE {name}.{table}" for table in ("depot_customer", "depot_order"))
    counted = f"SELECT count(*) FROM {name}.depot_order"
    asked = (*shown, counted)
    return [[node.ask("SET wsrep_sync_wait = 1", each) for each in asked] for node in nodes]


@pytest.mark.parametrize("replicates", ["ON", "OFF"])
def test_a_move_of_keys_is_refused_whatever_the_session_replicates(nodes, depot, replicates):
    small.create(depot)
    before = tables(nodes)
    small.write_move(depot)
    execute(f"SET SESSION wsrep_on = {replicates}")
    try:
        with pytest.raises(CommandError) as error:
            depot.migrate()
    finally:
        execute("SET SESSION wsrep_on = ON")
    assert str(error.value).splitlines() == ["No key was moved.", MESSAGE]
    assert depot.applied() == ["0001_step"]
    assert tables(nodes) == before


# Ids from the database

IMPORT = "from django_sortable_ids.functions import GenerateID"
WITH_DEFAULT = "HexULIDField(null=True, db_default=GenerateID())"


def columns(nodes):
    """The ids of the rows, on each node."""
    name = connection.settings_dict["NAME"]
    read = "SET wsrep_sync_wait = 1", f"SELECT public FROM {name}.depot_order ORDER BY name"
    return [node.ask(*read) for node in nodes]


@pytest.fixture
def rows(depot):
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.migrate()
    depot.write(f'AddField("order", "public", {WITH_DEFAULT}),', IMPORT)
    return depot


def test_ids_from_the_database_for_rows_that_exist_are_refused(nodes, rows):
    with pytest.raises(CommandError, match="each node of the Galera cluster would generate"):
        rows.migrate()
    assert rows.applied() == ["0001_step"]


def test_without_the_guard_the_nodes_differ(nodes, rows, settings):
    settings.SORTABLE_IDS = {"GUARD_MIGRATIONS": False}
    rows.migrate()
    one, two, three = columns(nodes)
    assert not {*one} & {*two}
    assert not {*one} & {*three}


def test_a_default_after_the_column(nodes, depot):
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.write('AddField("order", "public", HexULIDField(null=True)),')
    depot.write(
        'RunSQL("UPDATE depot_order SET public = upper(hex(random_bytes(16)))"),'
        f'AlterField("order", "public", {WITH_DEFAULT}),',
        IMPORT,
    )
    depot.migrate()
    one, two, three = columns(nodes)
    assert one == two == three
    assert len({*one}) == 5
