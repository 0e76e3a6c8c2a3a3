"""What an UPDATE of the id changes besides: refused by name, until an option allows it."""

import contextlib
import os
from functools import partial

import pytest
from django.core.management import CommandError
from django.db import DatabaseError, Error, connection

from django_sortable_ids.models import BackfillRun
from tests.support import EVERYTHING, execute, limited_to, on_statement, raising

from . import support
from .shop.models import Plain
from .support import SECOND, START, ids, insert
from .test_partitions import PARTITION, UNITE

pytestmark = pytest.mark.usefixtures("transactional_db")

NAME = "shop.Plain.public_id"
command = partial(support.command, NAME, created_from="created_at")
IN_SQLITE = "BEGIN INSERT INTO fired VALUES (1); END"
IN_POSTGRESQL = "EXECUTE FUNCTION fire()"
IN_MYSQL = "FOR EACH ROW INSERT INTO fired VALUES (1)"
ARRANGED = {
    "sqlite": (["CREATE TABLE fired (n integer)"], ["DROP TABLE fired"]),
    "mysql": (["CREATE TABLE fired (n integer)"], ["DROP TABLE fired"]),
    "postgresql": (
        [
            "CREATE TABLE fired (n integer)",
            "CREATE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS "
            "'BEGIN INSERT INTO fired VALUES (1); RETURN NEW; END'",
        ],
        ["DROP FUNCTION fire() CASCADE", "DROP TABLE fired"],
    ),
}
TRIGGERS = {
    "sqlite": {
        "after": f"CREATE TRIGGER acts AFTER UPDATE ON shop_plain {IN_SQLITE}",
        "temporary": f"CREATE TEMP TRIGGER acts AFTER UPDATE ON shop_plain {IN_SQLITE}",
        "of the id": f"CREATE TRIGGER acts BEFORE UPDATE OF public_id ON shop_plain {IN_SQLITE}",
        "odd": 'create trigger "acts" /* insert */ before\tupdate -- of created_at\n'
        f'of [created_at] , "PUBLIC_ID" on `SHOP_Plain` {IN_SQLITE}',
        "a condition": "CREATE TRIGGER acts AFTER UPDATE ON shop_plain "
        f"WHEN NEW.public_id IS NOT OLD.public_id {IN_SQLITE}",
        "of others": f"CREATE TRIGGER acts UPDATE OF created_at ON shop_plain {IN_SQLITE}",
        "insert": f"CREATE TRIGGER acts INSERT ON shop_plain {IN_SQLITE} -- UPDATE",
        "delete": f"CREATE TRIGGER acts DELETE ON shop_plain {IN_SQLITE}",
        "another table": f"CREATE TRIGGER acts UPDATE ON fired {IN_SQLITE}",
    },
    "postgresql": {
        f"{when} {event} {each}{state}": (
            f"CREATE TRIGGER acts {when} {event} ON shop_plain FOR EACH {each} {IN_POSTGRESQL}"
            + (f"; ALTER TABLE shop_plain {state} TRIGGER acts" if state else "")
        )
        for when, event, each, state in [
            *(
                (when, event, each, "")
                for when in ("BEFORE", "AFTER")
                for event in (
                    *("UPDATE", "UPDATE OF public_id", "UPDATE OF created_at"),
                    *("INSERT OR UPDATE OF created_at, public_id", "INSERT OR DELETE"),
                )
                for each in ("ROW", "STATEMENT")
            ),
            ("AFTER", "UPDATE", "ROW", "DISABLE"),
            ("AFTER", "UPDATE", "ROW", "ENABLE ALWAYS"),
        ]
    }
    | {
        "deferred": "CREATE CONSTRAINT TRIGGER acts AFTER UPDATE ON shop_plain "
        f"DEFERRABLE INITIALLY DEFERRED FOR EACH ROW {IN_POSTGRESQL}",
    },
    "mysql": {
        f"{when} {event}": f"CREATE TRIGGER acts {when} {event} ON shop_plain {IN_MYSQL}"
        for when in ("BEFORE", "AFTER")
        for event in ("UPDATE", "INSERT", "DELETE")
    },
}
ACTS = {"sqlite": "after", "postgresql": "AFTER UPDATE ROW", "mysql": "AFTER UPDATE"}
REMOVE = f"DROP TRIGGER IF EXISTS acts{' ON shop_plain' * (connection.vendor == 'postgresql')}"
RAISES = {
    "sqlite": ["BEGIN SELECT RAISE(ABORT, 'no update'); END"],
    "postgresql": [
        "EXECUTE FUNCTION fire()",
        "CREATE OR REPLACE FUNCTION fire() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN RAISE ''no update''; END'",
    ],
    "mysql": ["FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no update'"],
}
"""What refuses an UPDATE by an error of its own."""
FIRES = {"sqlite": 5, "postgresql": 14, "mysql": 2}
"""How many of them an UPDATE of the id fires: the database says which."""


@pytest.fixture
def fired(transactional_db):
    """How often triggers have acted."""
    before, after = ARRANGED[connection.vendor]
    execute(*before)

    def count():
        return execute("SELECT count(*) FROM fired")[0][0]

    yield count
    execute(REMOVE, *after)


@contextlib.contextmanager
def made(*statements, undone):
    try:
        execute(*statements)
        yield
    finally:
        execute(*undone)


def insert_rows(count=3):
    insert(Plain, [{"created_at": START + n * SECOND} for n in range(count)])


def refusal(**options):
    """What the plan says against it, after which nothing is written; else nothing."""
    try:
        command(dry_run=True, **options)
    except CommandError as error:
        with pytest.raises(CommandError, match=r"nothing was written\.$"):
            command(**options)
        assert not BackfillRun.objects.exists()
        assert set(ids(NAME)) == {None}
        return str(error)
    return ""


def triggers():
    """Those of the engine, which isn't known before the database is."""
    return TRIGGERS[connection.vendor].items()


def test_what_an_update_fires_is_refused_and_nothing_else(fired):
    found = 0
    for case, statement in triggers():
        execute(statement)
        execute("DELETE FROM fired")
        Plain.objects.all().delete()
        BackfillRun.objects.all().delete()
        insert_rows()
        execute("DELETE FROM fired")
        said = refusal()
        assert fired() == 0, case
        lines = command(allow_triggers=True)
        assert None not in ids(NAME), case
        acts = fired() > 0
        assert acts == (" trigger acts" in said) == any("acts" in line for line in lines), case
        found += acts
        execute(REMOVE)
    assert found == FIRES[connection.vendor]


def test_the_message_and_the_commands(fired):
    execute(TRIGGERS[connection.vendor][ACTS[connection.vendor]])
    of_table = " of shop_plain" if connection.vendor == "postgresql" else ""
    insert_rows()
    execute("DELETE FROM fired")
    assert refusal() == (
        f"filling {NAME} changes more than its ids: the trigger acts{of_table}. Disable this "
        "during the backfill, or allow it with --allow-triggers (in a migration: "
        "allow_triggers=True of AddSortableID); nothing was written."
    )
    lines = command(dry_run=True, allow_triggers=True)
    assert f"  warning: allowed side effect: the trigger acts{of_table}" in lines
    assert fired() == 0
    lines = command(allow_triggers=True)
    assert lines[-1] == (f"Next: manage.py backfill_ids {NAME} --allow-triggers --verify")
    assert fired() == 3


def test_an_allowed_trigger_that_refuses_the_rows_is_one_error(fired):
    acts, *more = RAISES[connection.vendor]
    execute(f"CREATE TRIGGER acts BEFORE UPDATE ON shop_plain {acts}", *more)
    insert_rows()
    # SQLite fills row by row, and names one.
    said = r"^(a trigger refused the rows|stopped at shop.Plain \d+, .*): .*no update"
    with pytest.raises(CommandError, match=said):
        command(allow_triggers=True)


def test_the_command_that_continues_is_named_once_after_an_unknown_error():
    insert_rows()
    unknown = raising(DatabaseError("unknown"))
    with on_statement("^UPDATE .*shop_plain", unknown), pytest.raises(DatabaseError) as caught:
        command()
    assert len(caught.value.__notes__) == 1


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="SQLite reads a program")
def test_triggers_of_other_tables_that_ours_fires_are_not_ours(fired):
    execute(
        "CREATE TRIGGER acts UPDATE ON shop_plain BEGIN INSERT INTO fired VALUES (1); END",
        "CREATE TRIGGER acts_too INSERT ON fired BEGIN DELETE FROM fired; END",
    )
    insert_rows()
    assert ": the trigger acts. " in refusal()


# PostgreSQL

postgresql = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="only PostgreSQL's")


@postgresql
@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE ON shop_plain FOR EACH ROW", "the trigger acts of shop_plain"),
        ("UPDATE ON shop_plain FOR EACH STATEMENT", "the trigger acts of shop_plain"),
        ("UPDATE ON shop_first FOR EACH ROW", "the trigger acts of shop_first"),
        ("UPDATE OF public_id ON shop_first FOR EACH ROW", "the trigger acts of shop_first"),
        ("UPDATE OF created_at ON shop_first FOR EACH ROW", ""),
        ("UPDATE ON shop_first FOR EACH STATEMENT", ""),
    ],
)
def test_triggers_of_partitions(fired, statement, said):
    with made(*PARTITION["postgresql"], undone=UNITE["postgresql"]):
        execute(f"CREATE TRIGGER acts AFTER {statement} {IN_POSTGRESQL}")
        insert(Plain, [{"id": n, "created_at": START + n * SECOND} for n in range(5, 15)])
        assert said in refusal()
        assert refusal().count("trigger acts") == (1 if said else 0)
        command(allow_triggers=True)
        assert (fired() > 0) == bool(said)


@postgresql
@pytest.mark.parametrize(
    ("rule", "is_refused"),
    [
        ("ON UPDATE TO shop_plain DO ALSO INSERT INTO fired VALUES (1)", True),
        ("ON INSERT TO shop_plain DO ALSO INSERT INTO fired VALUES (1)", False),
    ],
)
def test_rules(fired, rule, is_refused):
    insert_rows()
    with made(f"CREATE RULE acts AS {rule}", undone=["DROP RULE acts ON shop_plain"]):
        assert ("the rule acts" in refusal()) is is_refused
        execute("ALTER TABLE shop_plain DISABLE RULE acts")
        assert refusal() == ""
    assert refusal() == ""


@postgresql
def test_rows_that_are_hidden_are_told():
    insert_rows(5)
    policy = [
        "ALTER TABLE shop_plain ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY even ON shop_plain USING (id % 2 = 0)",
    ]
    undone = [
        "DROP POLICY even ON shop_plain",
        "ALTER TABLE shop_plain DISABLE ROW LEVEL SECURITY",
    ]
    with made(*policy, undone=undone):
        # Rules of rows are for all but superusers.
        with limited_to(*EVERYTHING) as role:
            said = f"the row-level security of shop_plain may hide rows from {role}; these get no"
            with pytest.raises(CommandError, match=said):
                command()
        assert command(dry_run=True)[1].startswith("  5 rows ")


# MariaDB and MySQL

mysql = pytest.mark.skipif("connection.vendor != 'mysql'", reason="only MariaDB's and MySQL's")


@mysql
def test_history():
    if not connection.mysql_is_mariadb:
        pytest.skip("only MariaDB's")
    insert_rows()
    alter = "ALTER TABLE shop_plain"
    with made(f"{alter} ADD SYSTEM VERSIONING", undone=[f"{alter} DROP SYSTEM VERSIONING"]):
        assert "the system versioning of shop_plain, " in refusal()
        command(allow_triggers=True)
        assert execute("SELECT count(*) FROM shop_plain FOR SYSTEM_TIME ALL") == [(6,)]
        (line,) = (line for line in support.command() if line.startswith(f"{NAME} "))
        assert line.split()[1:5] == ["uuid7", "3", "needs", "NOT"]


STORED = {
    "a local time": ("moment TIMESTAMP NULL", "DATE AS (DATE(moment))", True),
    "a time without a zone": ("moment DATETIME NULL", "DATE AS (DATE(moment))", False),
    "a name": ("moment DATETIME NULL", "VARCHAR(20) AS (DAYNAME(moment))", None),
    "seconds": ("moment INTEGER NULL", "DATETIME AS (FROM_UNIXTIME(moment))", None),
    "the id": ("moment INTEGER NULL", "VARCHAR(64) AS (SHA2(public_id, 256))", False),
}
"""Columns, what is derived from them, and whether that is refused; None where servers differ."""


@mysql
@pytest.mark.parametrize(("column", "derived", "is_refused"), STORED.values(), ids=STORED)
def test_stored_columns_that_the_session_decides(column, derived, is_refused):
    insert_rows()
    alter = "ALTER TABLE shop_plain"
    with made(f"{alter} ADD COLUMN {column}", undone=[f"{alter} DROP COLUMN moment"]):
        try:
            execute(f"{alter} ADD COLUMN derived {derived} STORED")
        except Error:
            assert is_refused is None, "the server has no such column"
            return
        with made(undone=[f"{alter} DROP COLUMN derived"]):
            said = "the stored column derived, which is computed again, with the time zone"
            assert (said in refusal()) is (is_refused is not False)


@mysql
def test_a_user_who_may_see_no_triggers_is_refused():
    insert_rows()
    user = f"reader_{os.getpid()}@localhost"
    database = connection.settings_dict["NAME"]
    execute(f"CREATE USER {user} IDENTIFIED BY 'a reader'")
    grant = "SELECT, INSERT, UPDATE, DELETE{more} ON `" + database.replace("_", r"\_") + "`.* TO "
    execute(f"GRANT {grant.format(more='')}{user}")
    with made(undone=[f"DROP USER {user}"]):
        with pytest.raises(CommandError, match="triggers that this user may not see"):
            dry_run_of(user)
        execute(f"GRANT {grant.format(more=', TRIGGER')}{user}")
        dry_run_of(user)


def dry_run_of(user):
    """On a connection of that user."""
    own = connection.settings_dict.copy()
    connection.close()
    connection.settings_dict |= {"USER": user.partition("@")[0], "PASSWORD": "a reader"}
    try:
        return command(dry_run=True)
    finally:
        connection.close()
        connection.settings_dict |= own
