"""A database that can't be written to, is full, or gives its user no right: one clear error."""

from contextlib import contextmanager
from functools import partial

import pytest
from django.db import DatabaseError, connection, connections

from django_sortable_ids.models import BackfillRun
from tests.support import execute
from tests.testapp.models import Order

from . import support
from .support import (
    SECOND,
    START,
    fill,
    find,
    insert_orders,
    is_strict,
    label,
    own_models,
    rows,
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


def given():
    return rows(NAME).exclude(uuid7=None).count()


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
    assert message.startswith("the database can't be written to: ")
    advice = "Name a writable database instead of a replica, or allow writes to this one."
    assert message.endswith(f"{advice} {AGAIN} --batch-size=5")
    assert given() == 0
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
    with before_update(4):
        message = refusal()
    execute(READ_ONLY[connection.vendor][1])
    assert message.startswith("the database can't be written to: ")
    assert AGAIN in message
    assert 0 < given() == saved_run(NAME).rows_filled < COUNT
    assert_ends_well()


@contextmanager
def before_update(number):
    """Make it read-only there: at once, on MariaDB and MySQL from the next transaction on."""
    updates = 0

    def note(execute, sql, params, many, context):
        nonlocal updates
        is_update = sql.startswith("UPDATE") and "testapp_order" in sql
        updates += is_update
        if is_update and updates == number:
            with connection.cursor() as cursor:
                cursor.execute(READ_ONLY[connection.vendor][0])
                if connection.vendor == "postgresql":
                    cursor.execute("SET TRANSACTION READ ONLY")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        yield


# Full


@contextmanager
def full_after(count):
    """No room for more than so many rows."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA page_count")
            pages = cursor.fetchone()[0]
            cursor.execute(f"PRAGMA max_page_count = {pages}")
        else:
            for statement in FULL[connection.vendor].format(count=count).split(";;"):
                cursor.execute(statement)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute("PRAGMA max_page_count = 4294967294")
            else:
                for statement in NOT_FULL[connection.vendor].split(";;"):
                    cursor.execute(statement)


# A disk can't be filled in a test: the server raises its own error where it would be full.
FULL = {
    "postgresql": """
CREATE FUNCTION is_full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT count(*) FROM testapp_order WHERE uuid7 IS NOT NULL) >= {count} THEN
        RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
    END IF;
    RETURN NEW;
END $$;;
CREATE TRIGGER is_full BEFORE UPDATE ON testapp_order FOR EACH ROW EXECUTE FUNCTION is_full()
""",
    "mysql": """
CREATE TRIGGER is_full BEFORE UPDATE ON testapp_order FOR EACH ROW
BEGIN
    IF (SELECT MAX(rows_filled) FROM django_sortable_ids_backfillrun) >= {count} THEN
        SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1114, MESSAGE_TEXT = 'The table is full';
    END IF;
END
""",
}
NOT_FULL = {
    "postgresql": "DROP TRIGGER is_full ON testapp_order;; DROP FUNCTION is_full",
    "mysql": "DROP TRIGGER is_full",
}


def test_the_disk_is_full(orders):
    if connection.vendor == "sqlite":
        # So many that the ids need more pages.
        insert_orders([START + i * SECOND for i in range(COUNT, 4000)])
    with full_after(10):
        if connection.vendor == "sqlite":
            message = refusal(batch_size=None)
        else:
            message = refusal(allow_triggers=True)
    assert message.startswith("the database has no space left: ")
    assert f"Free some space. {AGAIN}" in message
    done = given()
    assert done == (saved_run(NAME).rows_filled if BackfillRun.objects.exists() else 0)
    command(batch_size=1000)
    assert is_strict(NAME)
    assert given() == Order.objects.count() == saved_run(NAME).rows_filled


# Rights


@pytest.fixture
def limited():
    """Lets a user without rights work on the default connection; GRANTs are given in the block."""
    if connection.vendor == "sqlite":
        pytest.skip("has no users")
    if connection.vendor == "mysql" and connection.mysql_is_mariadb:
        pytest.skip("every user has all rights on test databases")
    name = f"few_{connection.settings_dict['NAME']}"
    execute(f"CREATE {KIND[connection.vendor]} {name}")

    @contextmanager
    def granted(*grants):
        with connection.cursor() as cursor:
            for grant in grants:
                cursor.execute(f"GRANT {grant} TO {name}")
        with user(name):
            yield

    yield granted
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"DROP OWNED BY {name}")
        cursor.execute(f"DROP {KIND[connection.vendor]} {name}")


KIND = {"postgresql": "ROLE", "mysql": "USER"}


@contextmanager
def user(name):
    if connection.vendor == "postgresql":
        execute(f"SET ROLE {name}")
        try:
            yield
        finally:
            execute("RESET ROLE")
        return
    own = connection.settings_dict["USER"]
    connection.close()
    connection.settings_dict["USER"] = name
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict["USER"] = own


OWN = [f"ALL ON {model._meta.db_table}" for model in own_models()]
LACKS = "the database user lacks a privilege: "
ADVICE = (
    "GRANT it SELECT and UPDATE on the table, and ALL on the tables of django_sortable_ids. "
    "Continue with: manage.py backfill_ids testapp.Order.uuid7"
)


def sequences():
    if connection.vendor != "postgresql":
        return []
    return ["USAGE ON ALL SEQUENCES IN SCHEMA public"]


@pytest.mark.parametrize("missing", ["UPDATE", "all on the app's tables", "SELECT"])
def test_a_right_is_missing(orders, limited, missing):
    grants = {
        "UPDATE": ["SELECT ON testapp_order", *OWN, *sequences()],
        "all on the app's tables": [
            "SELECT, UPDATE ON testapp_order",
            *(grant.replace("ALL", "SELECT") for grant in OWN),
        ],
        "SELECT": [*OWN, *sequences(), "UPDATE ON testapp_order"],
    }[missing]
    with limited(*grants):
        message = refusal()
    assert message.startswith(LACKS), message
    assert ADVICE in message
    assert given() == 0
    assert_ends_well()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="makes the file")
@pytest.mark.parametrize("mode", ["run", "status"])
def test_a_database_that_does_not_exist(request, mode):
    arguments = ["--status"] if mode == "status" else [label(NAME), "--created-from=created_at"]
    ended = request.getfixturevalue("command")(*arguments, database={"NAME": "no_such_database"})
    text = ended.output()
    assert ended.code == 1
    assert "CommandError: the database does not exist: " in text
    assert "Create it, or correct its NAME in DATABASES. " in text
    assert "Traceback" not in text


def test_an_error_of_ours_keeps_its_traceback(orders, monkeypatch):
    def wrong(*_):
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT no_such_column FROM testapp_order")

    monkeypatch.setattr("django_sortable_ids.backfill.plan.build", wrong)
    with pytest.raises(DatabaseError):
        command()
    assert find(NAME)
