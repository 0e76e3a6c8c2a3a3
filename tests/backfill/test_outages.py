"""A database that goes away, or whose rows others hold, while a backfill runs."""

import sqlite3
from contextlib import ExitStack, contextmanager

import pytest
from django.db import OperationalError, connection, transaction

from django_sortable_ids.backfill import run
from django_sortable_ids.backfill.pace import Limits
from django_sortable_ids.db.transactions import is_lost
from django_sortable_ids.errors import BackfillError
from tests.support import elsewhere, execute, on_statement, open_transaction, refusal_of
from tests.workers.proxy import proxy

from .command import called
from .shop.models import Plain
from .support import START, build, insert, insert_orders, is_strict, rows, saved_run

pytestmark = pytest.mark.usefixtures("transactional_db")

ROWS = 400
ARGUMENTS = ("testapp.Order.uuid7", "--created-from=created_at", "--batch-size=2")
on_a_server = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="nothing is between SQLite and its file"
)


@contextmanager
def reached_through_a_proxy():
    """The proxy, and the environment of a command whose connections pass it."""
    settings = connection.settings_dict
    with proxy(settings["HOST"], int(settings["PORT"])) as passing:
        yield (
            passing,
            {"NAME": str(settings["NAME"]), "HOST": "127.0.0.1", "PORT": str(passing.port)},
        )


@on_a_server
def test_connections_that_are_cut_again_and_again(command):
    insert_orders([START] * ROWS)
    with reached_through_a_proxy() as (passing, database):
        batches = [1, 25, 26, 75, 125]
        started = command(*ARGUMENTS, database=database, stops_in=batches)
        for _ in batches:
            started.wait_until_stopped()
            passing.cut()
            passing.restore()
            started.send_while_stopped()
        output = started.output()
    assert started.code == 0, output
    assert "the connection is lost, trying again: " in output
    assert "connected again" in output
    assert is_strict("uuid7")
    assert saved_run("uuid7").rows_filled == ROWS
    assert saved_run("uuid7").last_error == ""


@on_a_server
def test_a_database_that_stays_away(command):
    """It ends, and the same command continues when the database is back."""
    insert_orders([START] * ROWS)
    with reached_through_a_proxy() as (passing, database):
        started = command(*ARGUMENTS, "--retry-time=1", database=database, stops_in=[2])
        started.wait_until_stopped()
        passing.cut()
        started.send_while_stopped()
        lines = started.output().splitlines()
    assert started.code == 1
    assert lines[-1].startswith("CommandError: the database could not be reached for 1 s: ")
    assert lines[-1].endswith(
        "Continue with: manage.py backfill_ids testapp.Order.uuid7 --created-from created_at "
        "--batch-size=2 --retry-time=1"
    )
    again = command(*ARGUMENTS)
    assert again.code == 0, again.output()
    assert is_strict("uuid7")
    assert saved_run("uuid7").rows_filled == ROWS


@pytest.mark.parametrize("number", [1047, 1053, 1180])
def test_a_server_that_leaves_or_shuts_down_is_lost_though_it_still_answers(number):
    connection.ensure_connection()
    assert is_lost(OperationalError(number, "as MariaDB and MySQL say"), "default")
    assert not is_lost(OperationalError(1213, "a deadlock"), "default")


def test_a_commit_whose_answer_is_lost_is_not_done_again():
    """The connection breaks between the COMMIT and its answer, which nobody can tell apart."""
    insert_orders([START] * 20)
    planned, broken = build("uuid7", 5), []

    def check():
        assert len(statements) < 500, "it tries the same batch again and again"

    commit = connection._commit

    def commit_and_break():
        commit()
        if saved_batches() == 2 and not broken:
            broken.append(True)
            connection.connection.close()
            connection.connection = None
            raise OperationalError(2013, "Lost connection")

    connection._commit = commit_and_break
    filled = []
    try:
        with on_statement("", check) as statements:
            assert run.execute(planned, filled.append).filled == 20
    finally:
        del connection._commit
    assert broken
    assert sum(filled) == 20
    assert saved_run("uuid7").batches == 4
    assert is_strict("uuid7")


def saved_batches():
    return elsewhere(lambda: saved_run("uuid7").batches)


def a_row_held():
    """Another transaction holds a row, and on SQLite the file."""
    pk = rows("uuid7").values_list("pk", flat=True)[12]
    return open_transaction(f"UPDATE testapp_order SET name = 'held' WHERE id = {pk}")


@contextmanager
def isolated(level):
    """A connection of that isolation level, as the project's settings may want it."""
    options = connection.settings_dict["OPTIONS"]
    connection.close()
    if connection.vendor == "mysql":
        options["isolation_level"] = level
    try:
        yield
    finally:
        options.pop("isolation_level", None)
        connection.close()


@on_a_server
@pytest.mark.parametrize("level", ["read committed", "repeatable read"])
def test_a_row_that_others_hold_is_waited_for_in_ever_smaller_batches(level):
    insert_orders([START] * 20)
    sizes = []
    with isolated(level), a_row_held() as other:

        def note(filled):
            sizes.append(filled)
            if sum(sizes) == 12:
                other.rollback()

        assert run.execute(build("uuid7", 16), note).filled == 20
    assert max(sizes) <= 8
    assert sum(sizes) == 20
    assert is_strict("uuid7")


@pytest.mark.skipif(connection.vendor != "mysql", reason="others lock the rows they change only")
def test_the_session_is_read_committed_while_it_runs_whatever_the_settings_say():
    insert_orders([START] * 20)
    with isolated("repeatable read"):
        during = []
        run.execute(build("uuid7", 16), lambda _: during.append(session()))
        assert during == [("READ-COMMITTED", "1")] * 2
        isolation, wait = session()
        assert isolation == "REPEATABLE-READ"
        assert int(wait) > 1


@pytest.mark.skipif(connection.vendor != "mysql", reason="has the setting")
def test_a_session_that_refuses_updates_without_a_key(monkeypatch):
    insert(Plain, [{"created_at": START}] * 20)
    options = connection.settings_dict["OPTIONS"]
    monkeypatch.setitem(options, "init_command", "SET sql_safe_updates = 1")
    connection.close()
    assert run.execute(build("shop.Plain.public_id", 8)).filled == 20
    monkeypatch.undo()
    connection.close()


def session():
    """The isolation level, which MariaDB and MySQL give different names, and the patience."""
    names = ("%x_isolation", "transaction_isolation", "innodb_lock_wait_timeout")
    found = (execute(f"SHOW SESSION VARIABLES LIKE '{name}'") for name in names)
    return tuple(dict.fromkeys(value for rows in found for _, value in rows))


def test_rows_that_others_hold_for_too_long():
    insert_orders([START] * 20)
    planned = build("uuid7", 16)
    with a_row_held(), short_timeout(), pytest.raises(BackfillError) as caught:
        run.execute(planned, limits=Limits(retry_time=0.5))
    assert str(caught.value).startswith("other transactions were in the way for 0.5 s: ")


LOCK_TABLE = {
    "mysql": "LOCK TABLES testapp_order WRITE",
    "postgresql": "LOCK TABLE testapp_order IN ACCESS EXCLUSIVE MODE",
}


def the_table_locked():
    """The whole of it, as while another session alters it."""
    return open_transaction(LOCK_TABLE[connection.vendor])


@on_a_server
def test_a_table_that_others_lock_while_it_runs():
    insert_orders([START] * 20)
    planned = build("uuid7", 8)
    with ExitStack() as stack:

        def note(_):
            stack.enter_context(the_table_locked())

        assert refusal_of(run.execute, planned, note, Limits(retry_time=0.5)).startswith(
            "other transactions were in the way for 0.5 s: "
        )
    assert run.execute(build("uuid7", 8)).filled == 12


@on_a_server
@pytest.mark.parametrize("mode", ["run", "dry_run", "verify"])
def test_a_table_that_others_lock_before_it_starts(mode):
    insert_orders([START] * 20)
    call = {"created_from": "created_at", "retry_time": 0.5}
    modes = {} if mode == "run" else {mode: True}
    before = table_wait()
    with the_table_locked():
        _, error = called("testapp.Order.uuid7", **call, **modes)
        assert str(error).startswith("a lock was not free in time: ")
        assert "Continue with: manage.py backfill_ids testapp.Order.uuid7" in str(error)
    assert table_wait() == before


LIMIT = {
    "PostgreSQL": ("SHOW statement_timeout", "SET statement_timeout = '5s'", ("0", "5s")),
    "MariaDB": ("SELECT @@max_statement_time", "SET max_statement_time = 5", (0, 5)),
    "MySQL": ("SELECT @@max_execution_time", "SET max_execution_time = 5000", (0, 5000)),
}


@on_a_server
@pytest.mark.parametrize(
    "arguments",
    [(), ARGUMENTS, (*ARGUMENTS[:2], "--dry-run"), (*ARGUMENTS[:2], "--verify")],
    ids=["report", "run", "plan", "verify"],
)
def test_the_limit_of_statements_is_lifted(arguments):
    """Also in the session that the run opens, and not for longer."""
    read, write, (lifted, limit) = LIMIT[connection.display_name]
    insert_orders([START] * 20)
    seen = set()

    def look(execute, sql, params, many, context):
        if "testapp_order" in sql and "COUNT(" in sql:
            with connection.connection.cursor() as cursor:
                cursor.execute(read)
                seen.add(cursor.fetchone()[0])
        return execute(sql, params, many, context)

    execute(write)
    with connection.execute_wrapper(look):
        called(*arguments)
    assert seen == {lifted}
    if arguments != ARGUMENTS:
        assert execute(read)[0][0] == limit


@pytest.fixture
def limit_of_sessions(monkeypatch):
    """What reads the limit that each new session has; without one, and with it."""
    read, write, (lifted, limit) = LIMIT[connection.display_name]
    option = ("options", "-c statement_timeout=5s")
    if connection.vendor == "mysql":
        option = ("init_command", write)
    monkeypatch.setitem(connection.settings_dict["OPTIONS"], *option)
    connection.close()
    yield read, lifted, limit
    monkeypatch.undo()
    connection.close()


@on_a_server
def test_the_limit_of_statements_is_lifted_in_a_session_that_connects_again(limit_of_sessions):
    read, lifted, limit = limit_of_sessions
    insert_orders([START] * 20)
    seen = []

    def note(_):
        seen.append(execute(read)[0][0])
        if len(seen) == 1:
            connection.close()

    assert run.execute(build("uuid7", 8), note).filled == 20
    assert seen == [lifted] * 3
    assert execute(read)[0][0] == limit


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has such limits")
def test_a_limit_of_the_callers_transaction_ends_with_it():
    before = table_wait()
    with transaction.atomic():
        execute("SET LOCAL lock_timeout = '7s'")
        called("testapp.Order.uuid7", created_from="created_at", dry_run=True)
        assert table_wait() == [("7s",)] != before
    assert table_wait() == before


def table_wait():
    is_mysql = connection.vendor == "mysql"
    return execute("SELECT @@lock_wait_timeout" if is_mysql else "SHOW lock_timeout")


@contextmanager
def short_timeout():
    """Of SQLite, whose connections wait for as long as the project's settings say."""
    if connection.vendor != "sqlite":
        yield
        return
    connection.ensure_connection()
    connection.connection.execute("PRAGMA busy_timeout = 100")
    try:
        yield
    finally:
        connection.close()


def test_a_writer_of_sqlite_that_lets_go_in_time(tmp_path):
    if connection.vendor != "sqlite":
        pytest.skip("servers have many writers")
    insert_orders([START] * 20)
    planned = build("uuid7", 16)
    writer = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    said = []

    class Saying(run.Control):
        def pause(self, seconds):
            said.append(seconds)
            if len(said) == 3:
                writer.execute("ROLLBACK")

    try:
        with short_timeout():
            assert run.execute(planned, control=Saying()).filled == 20
    finally:
        writer.close()
    assert len(said) >= 3
    assert is_strict("uuid7")
