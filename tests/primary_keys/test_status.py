"""What the status of the command shows of a move."""

import json
import re
from threading import Thread

import pytest
from django.db import connection, connections

from django_sortable_ids.db.transactions import in_a_thread
from django_sortable_ids.models import BackfillRun
from django_sortable_ids.reporting import moves
from django_sortable_ids.reporting.status import of
from tests.backfill.command import printed
from tests.marks import own_tables
from tests.patience import wait_until
from tests.support import execute

from . import small
from .mysql import mysql_only
from .stops import Stopped
from .test_unrecorded import stop_before

pytestmark = own_tables
NOTE = re.compile(r'(INSERT INTO|UPDATE) ["`]?django_sortable_ids_movenote.*backwards')
RENAME = re.compile("RENAME TABLE")
has_sessions = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="SQLite has no list of sessions"
)


def move():
    (found,) = of("default").moves
    return found


def lines():
    return printed("--status").splitlines()[1:]


def document():
    (found,) = json.loads(printed("--status", "--json"))["moves"]
    return found


def test_before_during_and_after_a_move(depot):
    small.create(depot)
    small.write_move(depot)
    assert of("default").moves == []

    stop_before(depot, NOTE, "0002_step")
    assert lines()[0].startswith("keys of depot.Customer: unfinished, filling since ")
    assert document()["step"] == "filling"

    depot.migrate()
    assert lines()[0].startswith("keys of depot.Customer: moved at ")

    depot.migrate("0001_step")
    assert lines()[0].startswith("keys of depot.Customer: moved back at ")
    assert document()["backwards"]


def test_a_backfill_of_a_move_is_not_left_over_from_a_field(depot):
    small.create(depot)
    small.write_move(depot)
    stop_before(depot, NOTE, "0002_step")
    BackfillRun.objects.create(target="depot.Customer.moving_id", options={})
    BackfillRun.objects.create(target="depot.Order.gone", options={})
    deletions = [line for line in lines() if "DELETE" in line]
    assert len(deletions) == 1
    assert "'depot.Order.gone'" in deletions[0]


@mysql_only
def test_tables_that_are_exchanged(depot):
    """MariaDB and MySQL commit each step, so that others see it, and who executes it."""
    small.create(depot)
    small.write_move(depot)
    seen = []

    def look(run, sql, params, many, context):
        if RENAME.match(sql):
            seen.append(in_a_thread(move, "default"))
        return run(sql, params, many, context)

    with connection.execute_wrapper(look):
        depot.migrate()
    (during,) = seen
    assert (during.state, during.step) == ("running", "exchanging")
    with connection.cursor() as cursor:
        cursor.execute("SELECT CONNECTION_ID()")
        assert during.session.number == cursor.fetchone()[0]
    assert move().state == "finished"

    def stop(run, sql, params, many, context):
        if RENAME.match(sql):
            raise Stopped
        return run(sql, params, many, context)

    with pytest.raises(Stopped), connection.execute_wrapper(stop):
        depot.migrate("0001_step")
    connection.close()
    assert lines()[0].startswith("keys of depot.Customer: unfinished, exchanging since ")
    assert move().backwards
    depot.migrate("0001_step")


@has_sessions
def test_the_session_that_works_on_it_is_named(depot):
    small.create(depot)
    wait = {
        "postgresql": "UPDATE depot_customer SET name = name WHERE pg_sleep(0.3) IS NOT NULL",
        "mysql": "UPDATE depot_customer SET name = name WHERE SLEEP(0.3) = 0",
    }[connection.vendor]

    def update():
        execute(wait)
        connections["default"].close()

    other = Thread(target=update)
    assert moves.working_on(connection, ["depot_customer"]) is None
    other.start()
    found = []
    wait_until(
        lambda: found.append(moves.working_on(connection, ["depot_customer"])) or found[-1],
        "the other session's statement",
    )
    assert found[-1].statement == wait
    assert found[-1].number > 0
    assert moves.working_on(connection, ["depot_order"]) is None
    other.join()
    assert moves.working_on(connection, ["depot_customer"]) is None


def while_it_runs_nobody_moves(*statements):
    def act():
        execute(*statements)
        connections["default"].close()

    other = Thread(target=act)
    other.start()
    while other.is_alive():
        assert moves.working_on(connection, ["depot_customer"]) is None
        other.join(0.05)


@has_sessions
def test_who_reads_a_table_does_not_work_on_it(depot):
    small.create(depot)
    sleep = "pg_sleep(0.5)" if connection.vendor == "postgresql" else "SLEEP(0.5)"
    while_it_runs_nobody_moves(f"SELECT name, {sleep} FROM depot_customer")


@pytest.mark.skipif(connection.vendor != "mysql", reason="sessions of one database only")
def test_who_works_in_another_database_does_not_work_here(depot):
    small.create(depot)
    while_it_runs_nobody_moves("USE information_schema", "DO SLEEP(0.5) /* depot_customer */")
