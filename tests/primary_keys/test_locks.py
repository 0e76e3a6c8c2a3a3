"""A move that waits for another transaction says so, and lets others through."""

from contextlib import contextmanager

import pytest
from django.core.management.base import CommandError
from django.db import connection

from django_sortable_ids.db import locks, transactions
from tests.marks import own_tables
from tests.support import execute, open_transaction

from . import small

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor == "sqlite", reason="it has one writer"),
]
PID = {"postgresql": "SELECT pg_backend_pid()", "mysql": "SELECT CONNECTION_ID()"}
HELD = {
    "read": "SELECT name FROM depot_customer",
    "updated": "UPDATE depot_customer SET name = 'y' WHERE name = 'a'",
    "updated child": "UPDATE depot_order SET name = 'y' WHERE name = 'a'",
}


@contextmanager
def held(sql):
    """A connection whose transaction is open and idle, and its id."""
    with open_transaction(sql) as other, other.cursor() as cursor:
        cursor.execute(PID[connection.vendor])
        [(pid,)] = cursor.fetchall()
        yield other, pid


@pytest.mark.parametrize("sql", HELD.values(), ids=HELD)
def test_an_idle_transaction_is_named(depot, small_move, monkeypatch, capsys, sql):
    with held(sql) as (other, pid):
        monkeypatch.setattr(transactions.time, "sleep", lambda _: other.rollback())
        depot.migrate()
    said = f"Waiting for a lock: open transactions of others: connection {pid} for "
    assert said in capsys.readouterr().err
    assert small.names(depot) == small.IN_ORDER


@pytest.mark.parametrize("sql", HELD.values(), ids=HELD)
def test_it_gives_up_and_names_it(depot, small_move, monkeypatch, sql):
    monkeypatch.setattr(locks, "TRIES", 2)
    monkeypatch.setattr(locks, "PAUSE", 0)
    with held(sql) as (_, pid), pytest.raises(CommandError) as error:
        depot.migrate()
    assert f"connection {pid} for " in str(error.value)
    assert small.names(depot) == small.IN_ORDER_OF_KEYS
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER


@pytest.mark.skipif(connection.vendor != "postgresql", reason="materialized views")
def test_a_reader_of_a_materialized_view(depot, small_move, monkeypatch, capsys):
    execute("CREATE MATERIALIZED VIEW depot_mv AS SELECT id FROM depot_customer")
    try:
        with held("SELECT * FROM depot_mv") as (other, pid):
            monkeypatch.setattr(transactions.time, "sleep", lambda _: other.rollback())
            depot.migrate()
        assert f": connection {pid} for " in capsys.readouterr().err
        assert small.names(depot) == small.IN_ORDER
    finally:
        execute("DROP MATERIALIZED VIEW depot_mv")
