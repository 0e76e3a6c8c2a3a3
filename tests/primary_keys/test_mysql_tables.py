"""Tables of MariaDB and MySQL that were written by hand: all of it stays, or is refused by name."""

import re

import pytest
from django.db import connection

from django_sortable_ids.db.queries import named_rows
from tests.marks import own_tables
from tests.support import execute

from . import small
from .mysql import definitions, mysql_only
from .test_refused import refusal

pytestmark = [own_tables, mysql_only]

DECORATIONS = """\
ALTER TABLE depot_customer ADD UNIQUE depot_both (id, name), COMMENT 'those who pay',
    MODIFY id bigint NOT NULL AUTO_INCREMENT COMMENT 'counted',
    STATS_PERSISTENT = 1, ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 8;
ALTER TABLE depot_order ADD FTS_DOC_ID bigint unsigned NOT NULL DEFAULT 0, ADD text text,
    ADD place point NOT NULL DEFAULT (point(1, 2)), ADD `select` int INVISIBLE, ADD `UPPER` int,
    ADD price decimal(9, 2) UNSIGNED ZEROFILL DEFAULT '1.50', ADD doc json, ADD raw varbinary(9);
UPDATE depot_order SET FTS_DOC_ID = id, text = CONCAT('word ', name), raw = x'00ff', doc = '[1]';
ALTER TABLE depot_order ADD UNIQUE FTS_DOC_ID_INDEX (FTS_DOC_ID), ADD FULLTEXT depot_full (text),
    ADD SPATIAL depot_spatial (place), ADD INDEX `Odd Name` (customer_id, name(3));
CREATE TABLE depot_visit (
    customer bigint, name varchar(9), n int PRIMARY KEY, FULLTEXT (name),
    CONSTRAINT depot_pair FOREIGN KEY (customer, name) REFERENCES depot_customer (id, name)
        ON UPDATE CASCADE ON DELETE SET NULL
);
INSERT INTO depot_visit SELECT id, name, id FROM depot_customer"""
GRANTS = (
    "GRANT SELECT, INSERT ON {own}.depot_customer TO depot_clerk",
    "GRANT UPDATE (name, id) ON {own}.depot_customer TO depot_clerk",
    "GRANT REFERENCES (customer_id) ON {own}.depot_order TO depot_clerk WITH GRANT OPTION",
)
FOUND = (
    "SELECT name FROM depot_order WHERE MATCH (text) AGAINST ('word') ORDER BY name",
    "SELECT n FROM depot_visit WHERE MATCH (name) AGAINST ('a')",
    "SELECT count(*) FROM depot_order WHERE MBRContains("
    "ST_GeomFromText('POLYGON((0 0,0 9,9 9,9 0,0 0))'), place)",
    "SELECT FTS_DOC_ID, name, price, HEX(raw), doc, `select` FROM depot_order ORDER BY name",
    "SELECT n, name FROM depot_visit ORDER BY n",
)


@pytest.fixture
def tables(depot):
    small.create(depot)
    own = connection.settings_dict["NAME"]
    clerk = f"clerk_{own}"[-32:]
    execute(f"CREATE USER {clerk}")
    yield depot, own, clerk
    execute(f"DROP USER {clerk}", "DROP TABLE IF EXISTS depot_visit")


@pytest.fixture
def mariadb(transactional_db):
    if not connection.mysql_is_mariadb:
        pytest.skip("MySQL has no such tables")


def test_everything_stays(tables):
    depot, own, clerk = tables
    decorations = DECORATIONS
    if connection.mysql_is_mariadb:
        decorations = decorations.replace(" NOT NULL DEFAULT (point(1, 2))", " NOT NULL")
        decorations = decorations.replace("doc = '[1]'", "doc = '[1]', place = point(1, 2)")
    else:
        decorations = decorations.replace(" NOT NULL DEFAULT (point(1, 2))", " NOT NULL SRID 0")
    execute(
        *decorations.replace("place point NOT NULL SRID 0", "place point SRID 0").split(";\n")[:2]
    )
    execute(*(each.format(own=own).replace("depot_clerk", clerk) for each in GRANTS))
    if not connection.mysql_is_mariadb:
        execute("UPDATE depot_order SET place = point(1, 2)")
        execute("ALTER TABLE depot_order MODIFY place point NOT NULL SRID 0")
    execute(*decorations.split(";\n")[2:])
    before, grants = definitions(), sorted(execute(f"SHOW GRANTS FOR {clerk}"))
    found = [execute(each) for each in FOUND]
    assert found[0]
    listed = [small.REFERENCE, ("depot_visit", "customer", "depot.Customer")]
    small.write_move(depot, references=listed)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    assert [execute(each) for each in FOUND] == found
    assert sorted(execute(f"SHOW GRANTS FOR {clerk}")) == grants
    for table, lines in before.items():
        changed = ("`id` ", "`customer_id` ", "`customer` ")
        kept = {each for each in lines if not each.startswith(changed)}
        assert kept <= set(definitions()[table])
    assert any("COMMENT 'counted'" in each for each in definitions()["depot_customer"])
    depot.migrate("0001_step")
    assert definitions() == before
    assert [execute(each) for each in FOUND] == found
    assert sorted(execute(f"SHOW GRANTS FOR {clerk}")) == grants


@pytest.mark.parametrize(
    ("statements", "problem"),
    [
        (
            ["ALTER TABLE depot_order ADD SYSTEM VERSIONING"],
            "depot_order is a SYSTEM VERSIONED, not a plain table",
        ),
        (
            ["ALTER TABLE depot_customer ENGINE = Aria"],
            "depot_customer is stored by Aria, which has no transactions: run `ALTER TABLE "
            "depot_customer ENGINE = InnoDB`, and run this again",
        ),
    ],
)
def test_what_mariadb_refuses(mariadb, depot, statements, problem):
    small.create(depot)
    if "Aria" in statements[0]:
        for line in execute("SHOW CREATE TABLE depot_order")[0][1].splitlines():
            if "FOREIGN KEY" in line:
                execute(f"ALTER TABLE depot_order DROP FOREIGN KEY {line.split()[1]}")
    execute(*statements)
    small.write_move(depot)
    try:
        assert refusal(depot) == [problem]
    finally:
        if "SYSTEM" in problem:
            execute("ALTER TABLE depot_order DROP SYSTEM VERSIONING")


def test_what_a_table_like_it_would_lose(mariadb, depot):
    small.create(depot)
    ((_, sql),) = execute("SHOW CREATE TABLE depot_order")
    execute("DROP TABLE depot_order", f"{sql} DATA DIRECTORY = '/tmp/'")
    small.write_move(depot)
    before = definitions()
    [problem] = refusal(depot)
    assert re.fullmatch(
        "depot_order: a table LIKE it would lose ENGINE=.* DATA DIRECTORY='/tmp/': remove that",
        problem,
    )
    assert definitions() == before


def test_a_key_from_a_sequence(mariadb, depot):
    small.create(depot)
    execute(
        "CREATE SEQUENCE depot_numbers START WITH 100",
        "SET foreign_key_checks = 0",
        "ALTER TABLE depot_customer MODIFY id bigint NOT NULL DEFAULT nextval(depot_numbers)",
        "SET foreign_key_checks = 1",
    )
    try:
        before = definitions()["depot_customer"]
        small.write_move(depot)
        [problem] = refusal(depot)
        assert problem.startswith("depot_customer.id has the DEFAULT nextval(")
        assert definitions()["depot_customer"] == before
    finally:
        execute("ALTER TABLE depot_customer ALTER id DROP DEFAULT", "DROP SEQUENCE depot_numbers")


# ``ON UPDATE CURRENT_TIMESTAMP``: what a move updates in place keeps its times

TIMES = """\
ALTER TABLE {table} ADD changed timestamp(6) NULL ON UPDATE CURRENT_TIMESTAMP(6),
    ADD seen datetime NULL ON UPDATE CURRENT_TIMESTAMP"""
SET_TIMES = "UPDATE {table} SET changed = '2024-10-27 {hour}:30:00', seen = '2024-10-27 02:30:00'"
NOTES = """CreateModel("Note", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("kind_id", IntegerField()),
    ("object_id", CharField(max_length=40)),
]),"""


@pytest.fixture
def berlin():
    [[zone]] = execute("SELECT @@time_zone")
    yield
    execute(f"SET time_zone = '{zone}'")


def give_times(table):
    execute(
        TIMES.format(table=table),
        "SET time_zone = '+00:00'",
        f"{SET_TIMES.format(table=table, hour='00')} WHERE name <> 'a'",
        f"{SET_TIMES.format(table=table, hour='01')} WHERE name = 'a'",
        "SET time_zone = 'Europe/Berlin'",
    )


def times(table):
    execute("SET time_zone = '+00:00'")
    found = execute(f"SELECT name, changed, seen FROM {table} ORDER BY name")
    execute("SET time_zone = 'Europe/Berlin'")
    return found


def test_times_of_the_keys_themselves(depot, berlin):
    small.create(depot)
    give_times("depot_customer")
    before = times("depot_customer")
    small.write_move(depot)
    depot.migrate()
    assert times("depot_customer") == before
    depot.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
    execute(
        "UPDATE depot_customer SET seen = '2024-01-01', changed = '2024-02-01' WHERE name = 'z'"
    )
    before = times("depot_customer")
    depot.migrate("0001_step")
    assert times("depot_customer") == before


def test_times_of_texts_with_keys(depot, berlin, settings):
    settings.INSTALLED_APPS = ["django.contrib.contenttypes", *settings.INSTALLED_APPS]
    small.create(depot, more=NOTES)
    execute(
        "INSERT IGNORE INTO django_content_type (app_label, model) VALUES ('depot', 'customer')",
        "INSERT INTO depot_note (name, kind_id, object_id) SELECT c.name, t.id, c.id "
        "FROM depot_customer c JOIN django_content_type t "
        "ON (t.app_label, t.model) = ('depot', 'customer')",
    )
    try:
        give_times("depot_note")
        before = times("depot_note")
        small.write_move(depot, generic=[("depot_note", "object_id", "kind_id")])
        depot.migrate()
        ids = "SELECT object_id FROM depot_note WHERE name = 'a'"
        assert len(execute(ids)[0][0]) == 36
        assert times("depot_note") == before
        depot.migrate("0001_step")
        assert execute(ids) == [("5",)]
        assert times("depot_note") == before
    finally:
        execute("DELETE FROM django_content_type WHERE app_label = 'depot'")


def test_rows_are_read_in_the_order_of_the_table_whatever_the_server_expects(depot):
    """In the order of the new keys, each would be another page of the disk."""
    small.create(depot)
    execute(
        "INSERT INTO depot_customer (name, created_at) SELECT a.name, NOW() "
        "FROM depot_customer a, depot_customer b, depot_customer c, depot_customer d"
    )
    execute("ANALYZE TABLE depot_customer")
    small.write_move(depot)
    explain = "EXPLAIN" if connection.mysql_is_mariadb else "EXPLAIN FORMAT=TRADITIONAL"
    first = []

    def explained(run, sql, params, many, context):
        if re.match("INSERT INTO .sortable_ids_new__depot_customer. .*JOIN ", sql):
            plan = named_rows(connection, f"{explain} {sql[sql.index('SELECT') :]}")
            first.append(plan[0]["table"])
        return run(sql, params, many, context)

    with connection.execute_wrapper(explained):
        depot.migrate()
    assert first == ["t"]
