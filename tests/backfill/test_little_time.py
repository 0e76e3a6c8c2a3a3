"""A session that ends each statement after a short time: everything is asked of fewer rows."""

import re
from contextlib import contextmanager
from functools import partial

import pytest
from django.core.management import CommandError
from django.db import DatabaseError, connection

from django_sortable_ids.backfill import verify
from django_sortable_ids.db import chunks
from django_sortable_ids.db.errors import is_statement_timeout
from django_sortable_ids.reporting import report
from tests.testapp.models import Order

from . import support
from .support import SECOND, START, field_of, find, insert_orders, is_strict, rows

ROWS = 500
NAME = "uuid7"
command = partial(support.command, NAME)

pytestmark = [
    pytest.mark.usefixtures("transactional_db"),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="has no such limit"),
]


# A statement that looks at more than 240 rows is ended, as if each of them took a while; there are
# twice as many. What it costs has the planner look at as few as can be.
_POSTGRESQL = """
CREATE ROLE {role};
GRANT ALL ON ALL TABLES IN SCHEMA public TO {role};
GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO {role};
CREATE FUNCTION takes_time() RETURNS boolean VOLATILE COST 1000000 LANGUAGE plpgsql
    AS $$
    DECLARE
        statement text := statement_timestamp();
        looked_at int := 1;
    BEGIN
        IF current_setting('little.statement', true) = statement THEN
            looked_at := current_setting('little.looked_at')::int + 1;
        END IF;
        PERFORM set_config('little.statement', statement, false);
        PERFORM set_config('little.looked_at', looked_at::text, false);
        IF looked_at > 240 THEN
            RAISE query_canceled USING MESSAGE = 'canceling statement due to statement timeout';
        END IF;
        RETURN true;
    END $$;
ALTER TABLE testapp_order ENABLE ROW LEVEL SECURITY;
CREATE POLICY takes_time ON testapp_order USING (takes_time());
SET ROLE {role};
SET jit = off;
"""
_POSTGRESQL_AFTER = """
RESET ALL; RESET ROLE;
DROP POLICY takes_time ON testapp_order;
ALTER TABLE testapp_order DISABLE ROW LEVEL SECURITY;
DROP FUNCTION takes_time;
DROP OWNED BY {role}; DROP ROLE {role};
"""


@contextmanager
def slow_rows():
    if connection.vendor == "mysql":
        with slow_statements():
            yield
        return
    role = f"short_{connection.settings_dict['NAME']}"
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE testapp_order")
        cursor.execute(_POSTGRESQL.format(role=role))
        try:
            yield
        finally:
            cursor.execute(_POSTGRESQL_AFTER.format(role=role))


def ended_by_the_server():
    """A statement with a limit of its own that no other has to keep to."""
    if connection.vendor == "postgresql":
        return "SET LOCAL statement_timeout = 20; SELECT pg_sleep(600)"
    if connection.mysql_is_mariadb:
        limited = "SET STATEMENT max_statement_time = 0.02 FOR SELECT"
    else:
        limited = "SELECT /*+ MAX_EXECUTION_TIME(20) */"
    return f"{limited} COUNT(*) FROM testapp_order WHERE SLEEP(0.2) = 0"


@contextmanager
def slow_statements():
    """For MariaDB and MySQL, which can't make rows slow, and for users from whom nothing is hidden:
    a statement that reads many rows makes way for one that sleeps, and which the server ends."""
    is_of_range = re.compile(r"[`\"](id|uuid7)[`\"] (>|<=) ")
    reads_many = re.compile(r"COUNT\(.*testapp_order|testapp_order.*LIMIT [4-9]\d\d")

    def slow(execute, sql, params, many, context):
        is_page = "LIMIT" in sql
        if reads_many.search(sql) and (is_page or not is_of_range.search(sql)):
            return execute(ended_by_the_server(), None, False, context)
        return execute(sql, params, many, context)

    with connection.execute_wrapper(slow):
        yield


@pytest.fixture
def little_time(monkeypatch):
    monkeypatch.setattr(chunks, "FIRST", 100)
    monkeypatch.setattr(chunks, "SMALLEST", 5)
    insert_orders([START + i // 2 * SECOND for i in range(ROWS)])
    with slow_rows():
        with pytest.raises(DatabaseError) as caught:
            Order.objects.count()
        assert is_statement_timeout(caught.value)
        yield


def test_the_plan_counts_all_rows(little_time):
    lines = command(created_from="created_at", dry_run=True, allow_triggers=True)
    assert f"  {ROWS} rows without an id, up to 5,000 in a transaction" in lines


def test_a_refusal_counts_the_others(monkeypatch):
    monkeypatch.setattr(chunks, "FIRST", 100)
    monkeypatch.setattr(chunks, "SMALLEST", 5)
    insert_orders([START] * 7 + [None] + [START] * (ROWS - 9) + [None])
    with slow_rows(), pytest.raises(CommandError) as caught:
        command(created_from="created_at", allow_triggers=True)
    assert " (and 1 other row) has no created_at. " in str(caught.value)


@pytest.fixture
def filled(monkeypatch):
    insert_orders([START + i // 2 * SECOND for i in range(ROWS)])
    command(created_from="created_at")
    assert is_strict(NAME)
    # Out of their place, so that the ids are compared with all others.
    given = field_of(NAME).scheme.generate(START + 5 * SECOND)
    Order.objects.filter(pk=Order.objects.latest("pk").pk).update(uuid7=given)
    monkeypatch.setattr(chunks, "FIRST", 100)
    monkeypatch.setattr(chunks, "SMALLEST", 5)
    monkeypatch.setattr("django_sortable_ids.backfill.sources.target.PAGE", 400)


def test_a_verification_looks_at_all_rows(filled):
    found = verify.verify(find(NAME))
    with slow_statements():
        assert verify.verify(find(NAME)) == found
    assert (found.rows, found.other_time, found.duplicates) == (ROWS, 1, 0)


def test_each_row_is_counted_once(monkeypatch):
    """Whatever the ranges: one row, all rows, and the end of the table at that of a range."""
    insert_orders([START] * 12)
    keys = rows(NAME)
    for size in (1, 2, 3, 4, 5, 11, 12, 13):
        monkeypatch.setattr(chunks, "FIRST", size)
        found = list(chunks._by_ranges(keys, lambda part: set(part.values_list("pk")), "pk"))
        assert sum(map(len, found)) == len(set().union(*found)) == 12


@pytest.mark.skipif(connection.vendor != "postgresql", reason="ranges are in time there")
def test_not_even_a_few_rows_in_time(monkeypatch):
    """One clear error, with the command."""
    insert_orders([START] * ROWS)
    monkeypatch.setattr(chunks, "SMALLEST", ROWS)
    with slow_rows(), pytest.raises(CommandError) as caught:
        command(created_from="created_at", allow_triggers=True)
    message = str(caught.value)
    assert message.startswith("a statement exceeded the session's time limit, even for a few rows")
    assert message.endswith(
        "Continue with: manage.py backfill_ids testapp.Order.uuid7 --created-from=created_at "
        "--allow-triggers"
    )


@contextmanager
def updates_take_too_long():
    """The server ends each UPDATE of a batch."""

    def slow(execute, sql, params, many, context):
        if "UPDATE" not in sql or "testapp_order" not in sql:
            return execute(sql, params, many, context)
        return execute(ended_by_the_server(), None, False, context)

    with connection.execute_wrapper(slow):
        yield


def test_a_batch_is_never_in_time():
    insert_orders([START] * 20)
    with updates_take_too_long(), pytest.raises(CommandError) as caught:
        command(created_from="created_at", retry_time=0.5)
    message = str(caught.value)
    assert message.startswith(
        "a statement exceeded the session's time limit, even for a few rows: "
    )
    assert "Raise the limit (statement_timeout, " in message
    assert "create an index that begins with the creation time. Continue with: " in message
    assert "other transactions" not in message


def test_it_is_asked_at_once_where_there_is_time(django_assert_num_queries):
    insert_orders([START] * 3)
    with django_assert_num_queries(1):
        assert chunks.count(rows(NAME)) == 3
    assert "3 missing" in "\n".join(report.lines("default"))
