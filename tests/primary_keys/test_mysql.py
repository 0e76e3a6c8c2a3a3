"""MariaDB and MySQL: moved tables equal fresh ones, and keep what no model knows."""

import re

import pytest
from django.db import DatabaseError, connection

from django_sortable_ids.db import named_rows
from django_sortable_ids.errors import BackfillError
from tests.marks import own_tables
from tests.support import execute

from . import small
from .mysql import definitions, mysql_only
from .test_refused import refusal

MODELS = """
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=255)
"""
ROWS = """
from depot.models import Customer

Customer.objects.create(name="ada")
Customer.objects.create(name="bob")
"""
EXPIRY = """
import io
from django.core.management import call_command
from django.db import connection

seen = []

def look(execute, sql, params, many, context):
    if "data_length" in sql:
        with connection.connection.cursor() as cursor:
            cursor.execute("SELECT @@information_schema_stats_expiry")
            seen.append(cursor.fetchone()[0])
    return execute(sql, params, many, context)

with connection.execute_wrapper(look):
    call_command("backfill_ids", "depot", primary_key=True, stdout=io.StringIO())
print(seen)
"""
"""MySQL remembers sizes for a day, unless the session says otherwise."""

pytestmark = [own_tables, mysql_only]

UUID, ULID = "UUIDv7Field", "ULIDField"
FRESH = '{field}({how}=True)), ("old_id", BigIntegerField(null=True, {old}=True)'
"""A new key or a copy of one, and the field of old ones."""


@pytest.fixture(autouse=True)
def _own_files():
    """As by default: `.ci/engine` has one file for all tables, in which none can be compressed."""
    execute("SET GLOBAL innodb_file_per_table = ON")


@pytest.mark.parametrize("field", [UUID, ULID])
def test_moved_tables_equal_fresh_ones(shop, field):
    depot = shop.depot
    shop.create()
    original = definitions()
    shop.write_move(field)
    depot.migrate()
    found = definitions()
    depot.migrate("0001_step")
    assert definitions() == original
    depot.migrate("zero")
    depot.take_back(2)
    shop.create(
        FRESH.format(field=field, how="primary_key", old="unique"),
        FRESH.format(field=field, how="db_index", old="db_index"),
        f"{field}(db_index=True)",
    )
    assert found == definitions()


DECORATIONS = """\
ALTER TABLE depot_customer ADD UNIQUE depot_name (name), ADD UNIQUE depot_both (id, name),
    ADD seen timestamp NULL, MODIFY id bigint NOT NULL AUTO_INCREMENT COMMENT 'counted',
    COMMENT 'those who pay', AUTO_INCREMENT = 7000,
    STATS_PERSISTENT = 1, ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 8;
SET time_zone = '+00:00';
UPDATE depot_customer SET seen = '2024-10-27 01:30:00';
CREATE TABLE depot_other (
    id int PRIMARY KEY, name varchar(9),
    CONSTRAINT depot_other_name FOREIGN KEY (name) REFERENCES depot_customer (name)
        ON UPDATE CASCADE ON DELETE SET NULL
);
INSERT INTO depot_other VALUES (1, 'a'), (2, NULL);
CREATE TABLE depot_visit (
    customer bigint INVISIBLE, name varchar(9), n int PRIMARY KEY,
    FTS_DOC_ID bigint unsigned NOT NULL, place point NOT NULL{srid},
    UNIQUE FTS_DOC_ID_INDEX (FTS_DOC_ID), FULLTEXT (name), SPATIAL depot_spatial (place),
    CONSTRAINT depot_pair FOREIGN KEY (customer, name) REFERENCES depot_customer (id, name)
        ON UPDATE CASCADE ON DELETE SET NULL
);
INSERT INTO depot_visit (customer, name, n, FTS_DOC_ID, place)
    SELECT id, name, id, id, point(1, 2) FROM depot_customer WHERE name > 'a';
CREATE TABLE depot_note (
    id int AUTO_INCREMENT PRIMARY KEY, customer_id bigint, text varchar(9),
    more varchar(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_spanish_ci,
    CONSTRAINT depot_noted FOREIGN KEY (customer_id) REFERENCES depot_customer (id)
) CHARACTER SET latin1;
INSERT INTO depot_note SELECT id, id, name, name FROM depot_customer;
ALTER TABLE depot_note AUTO_INCREMENT = 800;
ALTER TABLE depot_order
    ADD changed timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP FIRST,
    ADD number int DEFAULT 7,
    ADD hidden varchar(40)
        DEFAULT 'it''s (1, 2) AUTO_INCREMENT=7' INVISIBLE COMMENT 'a `b` \\'c\\'',
    ADD more int GENERATED ALWAYS AS (number + 1) STORED,
    ADD `virtual, odd``name` int GENERATED ALWAYS AS (number * 2) VIRTUAL,
    ADD has_customer int GENERATED ALWAYS AS (customer_id IS NOT NULL) VIRTUAL,
    ADD day date DEFAULT '0000-00-00',
    ADD note text, ADD bits bit(3),
    ADD kind enum('a', 'b') NOT NULL,
    ADD `select` int INVISIBLE, ADD `UPPER` int,
    ADD price decimal(9, 2) UNSIGNED ZEROFILL DEFAULT '1.50', ADD doc json, ADD raw varbinary(9),
    ADD INDEX depot_prefix (note(5)), ADD FULLTEXT depot_full (note),
    ADD INDEX `Odd %s` (customer_id, name(3)),
    ADD CONSTRAINT depot_any CHECK (customer_id IS NOT NULL AND number < 100),
    MODIFY customer_id bigint NOT NULL COMMENT 'who, NOT NULL DEFAULT 1',
    COMMENT 'AUTO_INCREMENT=9', ROW_FORMAT = COMPRESSED;
UPDATE depot_order SET changed = '2024-10-27 00:30:00', day = '2024-02-00', bits = b'101',
    note = CONCAT('word ', REPEAT('é', 3000)), kind = '', raw = x'00ff', doc = '[1]';
UPDATE depot_order SET changed = '2024-06-01 00:00:00', day = '0000-00-00' WHERE name = 'a';
CREATE VIEW shown AS SELECT id, number, customer_id FROM depot_order"""
OF_MYSQL = (
    "ALTER TABLE depot_order ADD INDEX depot_sum ((number + 1)), ALTER INDEX depot_prefix INVISIBLE"
)
GRANTS = (
    "GRANT SELECT, INSERT ON {own}.depot_customer TO {clerk}",
    "GRANT UPDATE (name, id) ON {own}.depot_customer TO {clerk}",
    "GRANT REFERENCES (customer_id) ON {own}.depot_order TO {clerk} WITH GRANT OPTION",
)
FOUND = (
    "SELECT o.name, c.name, HEX(o.hidden), o.more, o.`virtual, odd``name`, o.has_customer, "
    "o.day + 0, SHA2(o.note, 256), o.bits + 0, o.kind + 0, o.changed, c.seen, "
    "o.price, HEX(o.raw), o.doc, o.`select` "
    "FROM depot_order o JOIN depot_customer c ON c.id = o.customer_id ORDER BY 1",
    "SELECT name FROM depot_order WHERE MATCH (note) AGAINST ('word') ORDER BY name",
    "SELECT n FROM depot_visit WHERE MATCH (name) AGAINST ('a')",
    "SELECT count(*) FROM depot_visit WHERE MBRContains("
    "ST_GeomFromText('POLYGON((0 0,0 9,9 9,9 0,0 0))'), place)",
    "SELECT v.n, v.name, v.FTS_DOC_ID, ST_AsText(v.place), c.name FROM depot_visit v "
    "JOIN depot_customer c ON c.id = v.customer ORDER BY 1",
    "SELECT n.id, n.text, n.more, c.name FROM depot_note n "
    "JOIN depot_customer c ON c.id = n.customer_id ORDER BY 1",
)
LISTED = [
    small.REFERENCE,
    ("depot_visit", "customer", "depot.Customer"),
    ("depot_note", "customer_id", "depot.Customer"),
]


@pytest.fixture
def decorated(depot):
    """The tables as people have them, with zero dates and the like, and who has rights on them."""
    small.create(depot)
    own, clerk = connection.settings_dict["NAME"], f"clerk_{connection.settings_dict['NAME']}"[-32:]
    ((modes, zone),) = execute("SELECT @@sql_mode, @@time_zone")
    is_mysql = not connection.mysql_is_mariadb
    execute(
        "SET sql_mode = 'ALLOW_INVALID_DATES'",
        f"CREATE USER {clerk}",
        *DECORATIONS.replace("{srid}", " SRID 0" * is_mysql).split(";\n"),
        *[OF_MYSQL] * is_mysql,
        *(each.format(own=own, clerk=clerk) for each in GRANTS),
    )
    yield clerk
    execute(
        f"SET sql_mode = '{modes}', time_zone = '{zone}'",
        f"DROP USER {clerk}",
        "DROP VIEW shown",
        "DROP TABLE depot_other, depot_visit, depot_note",
    )


@pytest.mark.parametrize("field", [UUID, ULID])
def test_tables_as_people_have_them_stay_as_they_are(depot, decorated, field):
    """In a time zone with summer time, too."""

    def kept():
        execute("SET time_zone = '+00:00'")
        found = [execute(each) for each in FOUND]
        execute("SET time_zone = 'Europe/Berlin'")
        return found, sorted(execute(f"SHOW GRANTS FOR {decorated}"))

    before, rows = definitions(), kept()
    assert all(rows[0][:2])
    small.write_move(depot, f"{field}(primary_key=True)", references=LISTED, more="allowed=['*'],")
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    assert kept() == rows
    found = definitions()
    for table, lines in before.items():
        changed = ("`id` ", "`customer_id` ", "`customer` ")
        assert {each for each in lines if not each.startswith(changed)} <= set(found[table])
    for comment, table in (("counted", "customer"), ("who, NOT NULL DEFAULT 1", "order")):
        assert any(f"COMMENT '{comment}'" in each for each in found[f"depot_{table}"])
    assert found["depot_other"] == before["depot_other"]
    assert sorted(execute("SELECT * FROM shown")) == sorted(
        execute("SELECT id, number, customer_id FROM depot_order")
    )
    rename = "UPDATE depot_customer SET name = '{}' WHERE name = '{}'".format
    execute(rename("y", "a"))
    assert execute("SELECT name FROM depot_other WHERE id = 1") == [("y",)]
    execute(rename("a", "y"))
    depot.migrate("0001_step")
    assert definitions() == before
    assert kept() == rows
    later = depot.model("Customer").objects.create(name="z", created_at="2026-01-01T00:00Z")
    execute(f"INSERT INTO depot_note (customer_id) VALUES ({later.pk})")
    assert (later.pk, *execute("SELECT max(id) FROM depot_note")) == (7000, (800,))


TEXTS = """\
CreateModel("Customer", [
    ("id", CharField(max_length=9, primary_key=True)),
    ("name", CharField(max_length=9)),
    ("created_at", DateTimeField()),
]),
CreateModel("Order", [
    ("id", AutoField(primary_key=True)),
    ("customer", ForeignKey("depot.Customer", CASCADE)),
    ("shown_to", ForeignKey("depot.Customer", CASCADE, db_constraint=False, related_name="+")),
]),
RunPython(add_rows, RunPython.noop),
"""
TEXT_ROWS = """
from datetime import UTC, datetime

def add_rows(apps, schema_editor):
    model = lambda name: apps.get_model("depot", name).objects
    at = datetime(2024, 1, 9, tzinfo=UTC)
    for name in "ab":
        customer = model("Customer").create(id=f"key {name}", name=name, created_at=at)
        model("Order").create(customer=customer, shown_to=customer)
"""
TEXT_MOVE = """\
MigratePrimaryKey(
    keys=[
        MovedKey(
            "depot.Customer",
            "id",
            ULIDField(primary_key=True, storage="varchar"),
            old=CharField(max_length=9, null=True, unique=True),
            created_from="created_at",
        ),
    ],
    references=[
        ("depot_order", "customer_id", "depot.Customer"),
        ("depot_order", "shown_to_id", "depot.Customer"),
    ],
),
"""


def test_texts_of_another_collation(depot):
    """A foreign key that is not checked may have any, and is given that of its key."""
    depot.write(TEXTS, TEXT_ROWS)
    depot.migrate()
    change = "ALTER TABLE depot_order MODIFY shown_to_id varchar(9) COLLATE {} NOT NULL"
    execute(change.format("utf8mb4_spanish_ci"))
    depot.write(TEXT_MOVE, atomic=False)
    unlike = r"depot_order.shown_to_id can't be compared with depot_customer.id: .*collations"
    with pytest.raises(BackfillError, match=unlike):
        depot.migrate()
    [(collation,)] = execute(
        "SELECT collation_name FROM information_schema.columns WHERE table_schema = DATABASE() "
        "AND table_name = 'depot_customer' AND column_name = 'id'"
    )
    execute(change.format(collation))
    joined = (
        "SELECT name, c.id = customer_id, c.id = shown_to_id FROM depot_order "
        "JOIN depot_customer c ON c.id = customer_id ORDER BY name"
    )
    for to in ("0002_step", "0001_step"):
        depot.migrate(to)
        assert execute(joined) == [("a", 1, 1), ("b", 1, 1)]


@pytest.mark.parametrize(
    ("table", "column"), [("depot_historicalcustomer", "id"), ("depot_visit", "number")]
)
def test_histories_of_another_collation(shop, table, column):
    """They may contain keys of deleted rows, and are compared with keys as well."""
    shop.create("CharField(max_length=9, primary_key=True)", "CharField(max_length=9)")
    execute(f"ALTER TABLE {table} MODIFY {column} varchar(9) COLLATE utf8mb4_spanish_ci NOT NULL")
    shop.write_move(old="CharField(max_length=9, {})")
    unlike = rf"{table}.{column} can't be compared with depot_customer.id: .*collations"
    with pytest.raises(BackfillError, match=unlike):
        shop.depot.migrate()


# What can't stay is refused by name


@pytest.fixture
def mariadb(transactional_db):
    if not connection.mysql_is_mariadb:
        pytest.skip("MySQL has no such tables")


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


def test_the_size_of_a_table_is_the_present_one(create):
    if connection.mysql_is_mariadb:
        pytest.skip("which remembers no sizes")
    project = create(MODELS, rows=ROWS)
    project.add_keys("Customer")
    assert project.shell(EXPIRY) == "[0]"


def test_a_check_that_was_written_in_another_character_set(depot):
    """Django's own connections had utf8 until 5.2."""
    small.create(depot)
    execute(
        "SET NAMES utf8mb3",
        "ALTER TABLE depot_order ADD CONSTRAINT depot_known CHECK (name <> 'x')",
        "SET NAMES utf8mb4",
    )
    small.write_move(depot)
    depot.migrate()
    with pytest.raises(DatabaseError, match="depot_known"):
        depot.model("Order").objects.update(name="x")
    depot.migrate("0001_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS


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
