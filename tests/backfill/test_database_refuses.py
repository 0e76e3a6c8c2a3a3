"""A database that can't be written to, is full, or gives its user no right: one clear error."""

from contextlib import contextmanager
from functools import partial

import pytest
from django.core.management import CommandError
from django.db import DatabaseError, connection, connections

from django_sortable_ids.db.errors import explained
from django_sortable_ids.models import BackfillRun
from tests.support import execute, limited_to, on_statement
from tests.testapp.models import Order

from . import support
from .support import (
    SECOND,
    START,
    after_batch,
    count_filled,
    fill,
    find,
    insert_orders,
    is_strict,
    own_models,
    saved_run,
)

pytestmark = pytest.mark.usefixtures("transactional_db")

NAME = "uuid7"
AGAIN = "Continue with: manage.py backfill_ids testapp.Order.uuid7 --created-from created_at"
COUNT = 40
_GIVEN = {"created_from": "created_at", "batch_size": 5}
command = partial(support.command, NAME, **_GIVEN)
refusal = partial(support.refusal, NAME, **_GIVEN)


@pytest.fixture
def orders():
    insert_orders([START + i * SECOND for i in range(COUNT)])


def assert_ends_well():
    command()
    assert is_strict(NAME)
    assert saved_run(NAME).rows_filled == COUNT


# Read-only

READ_ONLY = {
    "sqlite": ("PRAGMA query_only = ON", "PRAGMA query_only = OFF"),
    "postgresql": ("SET default_transaction_read_only = on", "RESET default_transaction_read_only"),
    "mysql": ("SET SESSION TRANSACTION READ ONLY", "SET SESSION TRANSACTION READ WRITE"),
}


@contextmanager
def read_only():
    begin, end = READ_ONLY[connection.vendor]
    execute(begin)
    try:
        yield
    finally:
        execute(end)


def test_nothing_can_be_written(orders):
    with read_only():
        message = refusal()
    assert message.startswith("the database can't be opened, or can't be written to: ")
    advice = "name a writable database instead of a replica, or allow writes to it."
    assert message.endswith(f"{advice} {AGAIN} --batch-size=5")
    assert count_filled(NAME) == 0
    assert not BackfillRun.objects.exists()
    assert_ends_well()


def test_what_writes_nothing_passes(orders):
    """On a replica, say."""
    fill(NAME)
    with read_only():
        assert command(dry_run=True)[1].startswith("  0 rows without an id")
        assert "all different, strictly in order" in command(verify=True, batch_size=None)[1]


def test_it_becomes_read_only_during_the_run(orders):
    """As a primary that is made a replica: what was committed stays, the rest is filled later."""

    def make_read_only():
        """At once; on MariaDB and MySQL, from the next transaction on."""
        if len(updates) == 4:
            more = ["SET TRANSACTION READ ONLY"] * (connection.vendor == "postgresql")
            execute(READ_ONLY[connection.vendor][0], *more)

    with on_statement("^UPDATE.*testapp_order", make_read_only) as updates:
        message = refusal()
    execute(READ_ONLY[connection.vendor][1])
    assert message.startswith("the database can't be opened, or can't be written to: ")
    assert AGAIN in message
    assert 0 < count_filled(NAME) == saved_run(NAME).rows_filled < COUNT
    assert_ends_well()


# Full


@pytest.mark.skipif(
    connection.vendor != "sqlite", reason="a server's disk can't be filled in a test"
)
def test_the_disk_is_full(orders):
    # So many that the ids need more pages.
    insert_orders([START + i * SECOND for i in range(COUNT, 4000)])
    [(pages,)] = execute("PRAGMA page_count")
    execute(f"PRAGMA max_page_count = {pages}")
    message = refusal(batch_size=None)
    execute("PRAGMA max_page_count = 4294967294")
    assert message.startswith("the database has no space left: ")
    assert f"Free some space. {AGAIN}" in message
    done = count_filled(NAME)
    assert done == (saved_run(NAME).rows_filled if BackfillRun.objects.exists() else 0)
    command(batch_size=1000)
    assert is_strict(NAME)
    assert count_filled(NAME) == Order.objects.count() == saved_run(NAME).rows_filled


# Rights


OWN = [f"ALL ON {model._meta.db_table}" for model in own_models()]
LACKS = "the database user lacks a privilege: "
ADVICE = (
    "GRANT it SELECT and UPDATE on the table, and ALL on the tables of django_sortable_ids; a "
    "move of keys needs ALL on its tables, and PostgreSQL that the user owns them. "
    "Continue with: manage.py backfill_ids testapp.Order.uuid7"
)


SEQUENCES = "USAGE ON ALL SEQUENCES IN SCHEMA public"


@pytest.mark.skipif(connection.vendor != "postgresql", reason="its roles")
@pytest.mark.parametrize("missing", ["UPDATE", "all on the app's tables", "SELECT"])
def test_a_right_is_missing(orders, missing):
    grants = {
        "UPDATE": ["SELECT ON testapp_order", *OWN, SEQUENCES],
        "all on the app's tables": [
            "SELECT, UPDATE ON testapp_order",
            *(grant.replace("ALL", "SELECT") for grant in OWN),
        ],
        "SELECT": [*OWN, SEQUENCES, "UPDATE ON testapp_order"],
    }[missing]
    with limited_to(*grants):
        message = refusal()
    assert message.startswith(LACKS), message
    assert ADVICE in message
    assert count_filled(NAME) == 0
    assert_ends_well()


@pytest.mark.skipif(connection.vendor != "mysql", reason="others may take any password here")
def test_the_password_is_wrong(orders, monkeypatch):
    connection.close()
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "PASSWORD", "wrong")
        message = refusal()
    assert message.startswith("the database refused or interrupted the command: (1045, ")
    assert " Check that it can be reached. Continue with: manage.py backfill_ids " in message


# Renamed


@pytest.mark.parametrize("renamed", ["table", "id", "time"])
def test_a_table_or_a_column_is_renamed_during_the_run(orders, renamed):
    """Between two batches: what was committed stays, the rest is filled later."""
    change = "ALTER TABLE testapp_order RENAME"
    there, back = {
        "table": (f"{change} TO moved", "ALTER TABLE moved RENAME TO testapp_order"),
        "id": (f"{change} COLUMN uuid7 TO moved", f"{change} COLUMN moved TO uuid7"),
        "time": (f"{change} COLUMN created_at TO moved", f"{change} COLUMN moved TO created_at"),
    }[renamed]
    try:
        with pytest.raises(CommandError) as error, explained("the same command"):
            fill(NAME, 5, after_batch(2, lambda: execute(there)))
    finally:
        execute(back)
    message = str(error.value)
    assert message.startswith("a table or a column doesn't exist: ")
    assert message.endswith("change the model in the same way. Continue with: the same command")
    assert count_filled(NAME) == saved_run(NAME).rows_filled == 10
    assert_ends_well()


def test_an_error_of_ours_keeps_its_traceback(orders, monkeypatch):
    def wrong(*_):
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT FROM WHERE")

    monkeypatch.setattr("django_sortable_ids.backfill.plan.build", wrong)
    with pytest.raises(DatabaseError):
        command()
    assert find(NAME)
