"""Rows that change during a run."""

import random
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import OperationalError, connection, transaction

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.errors import BackfillError
from tests.patience import PATIENCE
from tests.support import elsewhere, execute, on_statement, query
from tests.testapp.models import Order

from .support import (
    MICROSECOND,
    SECOND,
    START,
    TIMED,
    ascends,
    build,
    concurrently,
    each_kind,
    each_kind_with_time,
    field_of,
    fill,
    find,
    ids,
    in_python,
    insert_orders,
    is_strict,
    ranks,
    rows,
    saved_run,
    statements_of,
    times_are_right,
)

pytestmark = pytest.mark.usefixtures("transactional_db")


one_writer = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="SQLite has one writer at a time"
)


@each_kind_with_time
def test_rows_are_deleted_and_moved_before_and_after_the_cursor(name):
    insert_orders([START + i // 5 * SECOND for i in range(20)])
    keys = list(rows(name).values_list("pk", flat=True))

    def change():
        Order.objects.filter(pk__in=[keys[0], keys[6], keys[7], keys[10]]).delete()
        Order.objects.filter(pk=keys[18]).update(created_at=START + SECOND)
        Order.objects.filter(pk=keys[12]).update(created_at=START + 9 * SECOND)

    assert fill(name, 7, concurrently(1, change)).filled == 18
    assert rows(name).count() == 16
    assert is_strict(name)
    assert times_are_right(name)


def last_id(name):
    """Of the tick of the rows: one that a run of a few rows doesn't give."""
    if name not in TIMED:
        return "0999"
    scheme = field_of(name).scheme
    tick = scheme.tick(START)
    return scheme.from_int(scheme.layout.join(tick, scheme.layout.capacity(tick) - 1))


def any_of(statements):
    """What finds one of these statements."""
    return "|".join(f"^{re.escape(each)}$" for each in statements)


@pytest.mark.parametrize("count", [1, 10])
@each_kind
def test_an_id_given_between_the_reading_and_the_writing_of_a_batch_stays(name, count):
    insert_orders([START] * count)
    given = last_id(name)
    taken = rows(name)[7 * count // 10].pk
    planned = build(name)
    stored = field_of(name).get_db_prep_save(given, connection)

    def give():
        query(f"UPDATE testapp_order SET {name} = %s WHERE id = %s", stored, taken)

    with on_statement(any_of(statements_of(planned)), give):
        result = run.execute(planned)
    assert (result.filled, result.remaining) == (count - 1, 0)
    assert rows(name).values_list(name, flat=True).get(pk=taken) == given
    assert saved_run(name).rows_filled == count - 1


@one_writer
@each_kind_with_time
@pytest.mark.parametrize("made_in", ["the database, if it can", "Python"])
def test_a_row_that_moves_between_the_reading_and_the_writing_of_a_batch(
    name, made_in, monkeypatch
):
    if made_in == "Python":
        in_python(monkeypatch)
    insert_orders([START + i // 5 * SECOND for i in range(20)])
    keys = list(rows(name).values_list("pk", flat=True))
    planned = build(name)
    moves = {keys[7]: START + 3 * SECOND, keys[12]: START, keys[17]: START + 9 * SECOND}

    def move():
        for key, at in moves.items():
            Order.objects.filter(pk=key).update(created_at=at)

    with on_statement(any_of(statements_of(planned)), move, once=True):
        result = run.execute(planned)
    assert (result.filled, result.remaining) == (20, 0)
    assert times_are_right(name)
    assert is_strict(name)


@one_writer
@pytest.mark.parametrize("name", ["uuid7", "reversed_kuuid", "snowflake"])
def test_rows_that_another_changes_while_a_batch_waits_for_them(name):
    """Its derived table has been read by then."""
    insert_orders([START + i // 4 * SECOND for i in range(12)])
    keys = list(rows(name).values_list("pk", flat=True))
    given = field_of(name).scheme.generate(START)

    def change():
        Order.objects.filter(pk=keys[3]).update(**{name: given})
        Order.objects.filter(pk=keys[5]).delete()
        Order.objects.filter(pk=keys[6]).update(created_at=START + 9 * SECOND)
        Order.objects.filter(pk=keys[7]).update(name="touched")
        insert_orders([START + SECOND])

    with holding(change, lambda: None):
        result = fill(name)
    assert (result.filled, result.remaining) == (11, 0)
    assert rows(name).values_list(name, flat=True).get(pk=keys[3]) == given
    assert times_are_right(name)
    found = ranks(name)
    assert ascends(found[4:])


@pytest.mark.skipif("connection.vendor != 'mysql'", reason="the others count and write at once")
@pytest.mark.parametrize("name", TIMED)
@pytest.mark.parametrize("size", [4, 5], ids=["within a tick", "a whole tick"])
def test_rows_that_appear_between_the_counting_and_the_writing_of_a_batch(name, size):
    """In each of two ticks: more than were counted, before the last row and after it."""
    first, last = timedelta(microseconds=1), timedelta(microseconds=9)
    insert_orders([START, START + last, START + SECOND, *[START + SECOND + last] * 2])
    late = [START + n * SECOND + first for n in (0, 0, 0, 1, 1, 1)] + [START + SECOND + last]
    planned = build(name, size)
    counted = any_of(statements_of(planned)[1:2])
    with on_statement(
        counted, lambda: elsewhere(lambda: insert_orders(late)), after=True, once=True
    ):
        result = run.execute(planned)
    assert (result.filled, result.remaining) == (12, 0)
    assert times_are_right(name)
    assert is_strict(name)


@pytest.mark.skipif("connection.vendor != 'mysql'", reason="the others count and write at once")
@pytest.mark.parametrize("name", ["uuid7", "snowflake"])
def test_rows_that_appear_in_the_tick_of_each_batch(name):
    """As with one inserter in ids of a second: Python sends the ids of such a batch."""
    ticks = [START + n * SECOND for n in range(4)]
    insert_orders([tick + n * MICROSECOND for tick in ticks for n in range(0, 50, 10)])
    planned = build(name)
    late = [tick + MICROSECOND for tick in ticks]
    counted = any_of(statements_of(planned)[1:2])
    with on_statement(counted, lambda: elsewhere(lambda: insert_orders(late)), after=True) as ran:
        result = run.execute(planned)
    assert result.filled + result.remaining == 20 + 4 * len(ran)
    assert fill(name).remaining == 0
    assert times_are_right(name)
    assert is_strict(name)


@one_writer
@pytest.mark.parametrize("name", ["uuid7", "number"])
def test_a_deadlock_stops_one_of_the_two_and_never_the_run(name):
    insert_orders([START] * 60)
    keys = list(rows(name).values_list("pk", flat=True))
    errors = []

    def touch(pks):
        try:
            Order.objects.filter(pk__in=pks).update(name="touched")
        except OperationalError as error:
            errors.append(error)
            raise

    # The other has written more rows than the run, so that InnoDB stops the run.
    with holding(lambda: touch(keys[5:]), lambda: touch(keys[:1]), OperationalError):
        result = fill(name)
    assert (result.filled, result.remaining) == (60, 0)
    assert is_strict(name)
    assert saved_run(name).rows_filled == 60
    assert errors or rows(name).filter(name="touched").count() == 56


@contextmanager
def holding(first, then, *expected):
    """Another transaction does what comes first, waits until someone waits for it, does the rest
    and commits.
    """
    holds = threading.Event()

    def act():
        with suppress(*expected), transaction.atomic():
            first()
            holds.set()
            wait_for_a_waiting_connection()
            then()

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(elsewhere, act)
        assert holds.wait(PATIENCE)
        yield
        other.result()


UNREADABLE = 3854
"""MySQL's error if any session, be it of another test, runs a query with bytes in it: it shows all
queries as utf8mb3."""


@contextmanager
def ignored(code):
    """Ignore this error of a server in the block."""
    try:
        yield
    except OperationalError as error:
        if error.args[0] != code:
            raise


def wait_for_a_waiting_connection():
    waiting = {
        "postgresql": "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        " AND datname = current_database()",
        "mysql": "SELECT count(*) FROM information_schema.innodb_trx"
        " JOIN information_schema.processlist ON id = trx_mysql_thread_id"
        " WHERE trx_state = 'LOCK WAIT' AND db = database()",
    }[connection.vendor]
    with connection.cursor() as cursor:
        give_up = time.monotonic() + PATIENCE
        while time.monotonic() < give_up:
            with ignored(UNREADABLE):
                cursor.execute(waiting)
                if cursor.fetchone()[0]:
                    return
            # InnoDB shows the same picture as long as somebody looks, be it another test, ten times
            # a second.
            time.sleep(random.uniform(0.15, 0.5))
    raise AssertionError("nobody waited")


# A batch that fills nothing, though it should, stops the run


KEEP_OUT = {
    "sqlite": [
        "CREATE TRIGGER keep_out BEFORE UPDATE ON testapp_order WHEN NEW.id > {last} "
        "BEGIN SELECT RAISE(IGNORE); END"
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN IF NEW.id > {last} THEN RETURN NULL; END IF; RETURN NEW; END'",
        "CREATE TRIGGER keep_out BEFORE UPDATE ON testapp_order "
        "FOR EACH ROW EXECUTE FUNCTION keep_out()",
    ],
    "mysql": [
        "CREATE TRIGGER keep_out BEFORE UPDATE ON testapp_order FOR EACH ROW "
        "IF NEW.id > {last} THEN SET NEW.{column} = NULL; END IF"
    ],
}


@pytest.fixture
def keep_out():
    """Has the database leave rows after a key as they are, without an error."""

    def make(column, last):
        with connection.cursor() as cursor:
            for statement in KEEP_OUT[connection.vendor]:
                cursor.execute(statement.format(column=column, last=last))

    yield make
    on = " ON testapp_order" if connection.vendor == "postgresql" else ""
    execute(f"DROP TRIGGER keep_out{on}")


@pytest.mark.parametrize("where", ["database", "Python"])
@each_kind
def test_a_run_that_fills_nothing_stops_with_the_batch(monkeypatch, keep_out, name, where):
    if where == "Python":
        in_python(monkeypatch)
    insert_orders([START + i * SECOND for i in range(20)])
    keys = list(Order.objects.order_by("pk").values_list("pk", flat=True))
    keep_out(name, keys[9])
    batches = []
    planned = plan.build(replace(find(name), allow_triggers=True), 5)
    with pytest.raises(BackfillError, match="one of them has no id") as caught:
        run.execute(planned, batches.append)
    assert batches == [5, 5]
    assert sum(value is not None for value in ids(name)) == 10
    first = re.search(r"from testapp.Order (\d+)", str(caught.value))[1]
    assert int(first) == keys[10]
    assert "the batch was rolled back" in str(caught.value)
