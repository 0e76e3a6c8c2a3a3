"""Tables of SQLite that were written by hand: all of it stays, or is refused by name."""

import sqlite3

import pytest
from django.db import connection

from tests.marks import own_tables
from tests.support import execute

from . import small
from .test_refused import refusal

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="definitions of SQLite"),
]

CUSTOMER = """
CREATE TABLE DEPOT_Customer (
    "ID" INTEGER PRIMARY KEY, [Name] varchar(9) NOT NULL ON CONFLICT REPLACE DEFAULT 'x',
    created_at datetime NOT NULL, "Group" int DEFAULT (1 + 2) CHECK ("Group" < 9 /* ) */),
    `order` TEXT COLLATE RTRIM, "it's" BLOB DEFAULT x'00ff',
    first AS (substr(name, 1, 1)) VIRTUAL,
    CONSTRAINT "odd, name" UNIQUE (id, name) ON CONFLICT IGNORE
)
"""
ORDER = """
CREATE TABLE depot_order (
    id integer, name varchar(9), customer_id bigint NOT NULL DEFAULT NULL,
    CONSTRAINT pair FOREIGN KEY (Customer_ID, name) REFERENCES depot_customer (id, NAME)
        ON UPDATE CASCADE ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (id)
){options}
"""
MORE = (
    'CREATE UNIQUE INDEX "Odd %s" ON depot_order (customer_id COLLATE NOCASE DESC, name) '
    "WHERE name <> 'q'",
    "CREATE INDEX lowered ON depot_order (lower(name), customer_id)",
    "CREATE INDEX by_name ON depot_customer (name)",
    "CREATE TRIGGER [odd trigger] BEFORE UPDATE OF name ON depot_order WHEN new.name = 'no' "
    "BEGIN SELECT RAISE(ABORT, 'no'); END",
)


COUNTED = """
CREATE TABLE [depot_customer] ( -- those who pay
    id INTEGER
        CONSTRAINT "the key" PRIMARY KEY ASC AUTOINCREMENT /* counted */,
    `name` varchar(9) COLLATE NOCASE DEFAULT 'x' CHECK (length("name") > 0),
    created_at datetime NOT NULL,
    secret TEXT,
    initial TEXT GENERATED ALWAYS AS (substr(name, 1, 1)) STORED,
    CHECK (id IS NOT NULL)
)
"""
CASCADING = """
CREATE TABLE "depot_order"(
    id integer primary key,
    name varchar(9),
    customer_id integer not null references depot_customer on delete cascade,
    UNIQUE (customer_id, name)
)
"""


PLAIN_ORDER = ORDER.format(options="")


def create(depot, customer=CUSTOMER, order=PLAIN_ORDER):
    small.create(depot)
    names = {"depot_order": "id, name, customer_id", "depot_customer": "id, name, created_at"}
    rows = {table: execute(f"SELECT {names[table]} FROM {table}") for table in names}
    execute("DROP TABLE depot_order", "DROP TABLE depot_customer", customer, order)
    for table, found in reversed(rows.items()):
        for row in found:
            values = ", ".join(map(repr, map(str, row)))
            execute(f"INSERT INTO {table} ({names[table]}) VALUES ({values})")
    execute(*MORE)


def definitions():
    return execute(
        "SELECT type, lower(name), sql FROM sqlite_master WHERE lower(tbl_name) LIKE 'depot%' "
        "AND sql IS NOT NULL AND type <> 'table' ORDER BY 1, 2"
    )


def columns(table):
    """All about the columns but their types, and without the key."""
    found = execute(f"PRAGMA table_xinfo({table})")
    return [(name.lower(), *rest) for _, name, _, *rest in found if name.lower() not in LEFT_OUT]


LEFT_OUT = ("id", "old_id")
TABLES = {
    "foreign key of two columns": (CUSTOMER, PLAIN_ORDER),
    "WITHOUT ROWID": (CUSTOMER, ORDER.format(options=" WITHOUT ROWID")),
    "comments and a counter": (COUNTED, CASCADING),
}


@pytest.mark.parametrize(("customer", "order"), TABLES.values(), ids=TABLES)
def test_everything_stays(depot, customer, order):
    create(depot, customer, order)
    tables = ("depot_customer", "depot_order")
    before = definitions(), [columns(each) for each in tables]
    keys = execute("PRAGMA foreign_key_list(depot_order)")
    rows = execute("SELECT c.*, o.id FROM depot_customer c JOIN depot_order o ON o.name = c.name")
    small.write_move(depot, more="allowed=['*'],")
    depot.migrate()
    assert (definitions(), [columns(each) for each in tables]) == before
    assert execute("PRAGMA foreign_key_list(depot_order)") == keys
    assert execute("PRAGMA foreign_key_check") == []
    assert small.names(depot) == small.IN_ORDER
    [(sql,)] = execute("SELECT sql FROM sqlite_master WHERE name = 'depot_order'")
    assert sql.rstrip().endswith(order.rstrip()[-15:])
    depot.migrate("0001_step")
    assert (definitions(), [columns(each) for each in tables]) == before
    assert execute("PRAGMA foreign_key_check") == []
    assert sorted(rows) == sorted(
        execute("SELECT c.*, o.id FROM depot_customer c JOIN depot_order o ON o.name = c.name")
    )


def test_what_no_model_knows_goes_on(depot):
    """A view, a trigger, columns, and the counter."""
    create(depot, COUNTED, CASCADING)
    execute(
        "CREATE VIEW ordered AS SELECT c.name FROM depot_customer c JOIN depot_order o "
        "ON o.customer_id = c.id",
        "CREATE TABLE log (text)",
        "CREATE TRIGGER logged AFTER DELETE ON depot_customer BEGIN "
        "INSERT INTO log VALUES (old.name); END",
        "UPDATE depot_customer SET secret = 'of ' || name",
        "INSERT INTO depot_customer (id, name, created_at) VALUES (900, 'q', '2020-01-01')",
        "DELETE FROM depot_customer WHERE id = 900",
    )
    try:
        old = dict(depot.model("Customer").objects.values_list("name", "pk"))
        small.write_move(depot, more="allowed=['*'],")
        depot.migrate()
        secret = "SELECT secret, initial FROM depot_customer WHERE name = 'C'"
        assert execute(secret) == [("of c", "c")]
        assert len(execute("SELECT * FROM ordered")) == len(old)
        execute("DELETE FROM depot_customer WHERE name = 'a'")
        assert execute("SELECT text FROM log")[-1] == ("a",)
        assert execute("SELECT * FROM depot_order WHERE name = 'a'") == []
        later = depot.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
        assert later.old_id is None
        depot.migrate("0001_step")
        del old["a"]
        customers = depot.model("Customer").objects.values_list("name", "pk")
        assert dict(customers) == {**old, "z": 901}
        execute("DELETE FROM depot_customer WHERE id = 901")
        depot.migrate()
        depot.migrate("0001_step")
        later = depot.model("Customer").objects.create(name="y", created_at="2024-05-01T00:00Z")
        assert later.pk == 902
    finally:
        execute("DROP VIEW ordered", "DROP TABLE log")


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 37), reason="it has no STRICT tables")
def test_a_strict_table(depot):
    strict = (
        "CREATE TABLE depot_customer (id INTEGER PRIMARY KEY, name TEXT, created_at TEXT) STRICT"
    )
    create(
        depot,
        customer=strict,
        order="CREATE TABLE depot_order (id integer PRIMARY KEY, "
        "name text, customer_id integer REFERENCES depot_customer)",
    )
    small.write_move(depot, more="allowed=['*'],")
    [problem] = refusal(depot)
    assert problem == (
        "depot_customer: a copy with the new columns can't be made: unknown datatype for "
        'depot_customer.id: "char(32)". Make the table again without what prevents it, such as '
        "STRICT, and migrate"
    )
    assert [name for _, name, *_ in execute("PRAGMA table_info(depot_customer)")] == [
        "id", "name", "created_at",
    ]  # fmt: skip


FILLS = {"map": "created_at", "column": 'created_at", on_null="now'}
"""Where the new keys are until they are used."""


@pytest.mark.parametrize("fill", FILLS)
def test_a_key_without_rowid(depot, fill):
    create(depot, customer=CUSTOMER.rstrip() + " WITHOUT ROWID")
    before = columns("depot_customer"), rows_of("depot_customer")
    small.write_move(
        depot, options=f'created_from="{FILLS[fill]}", old={small.OLD}', more="allowed=['*'],"
    )
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    later = depot.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
    depot.model("Order").objects.create(pk=99, name="z", customer_id=later.pk)
    depot.migrate("0001_step")
    assert small.names(depot) == [*small.IN_ORDER_OF_KEYS, "z"]
    [(sql,)] = execute("SELECT sql FROM sqlite_master WHERE lower(name) = 'depot_customer'")
    assert sql.endswith(") WITHOUT ROWID")
    assert columns("depot_customer") == before[0]
    assert rows_of("depot_customer")[:-1] == before[1]
    assert execute("PRAGMA foreign_key_check") == []


def rows_of(table):
    return execute(f"SELECT * FROM {table} ORDER BY id")


@pytest.mark.parametrize("table", ["depot_order", "depot_line"], ids=["moved", "another"])
def test_rows_that_refer_to_none(small_move, depot, table):
    """They are counted in all tables, since Django refuses them after the keys are moved."""
    key = f"CREATE TABLE {table} (name, customer_id REFERENCES depot_customer)"
    insert = f"INSERT INTO {table} (name, customer_id) VALUES ('x', 4711), ('y', 4712)"
    execute("PRAGMA foreign_keys = OFF", *[key] * (table == "depot_line"), insert)
    execute("PRAGMA foreign_keys = ON")
    assert depot.refusal() == (
        f"Nothing was migrated: 2 rows of {table}.customer_id without a row of depot_customer. "
        "Django refuses to finish a migration on SQLite with such rows: correct or delete those "
        "that `PRAGMA foreign_key_check` lists, and migrate again"
    )
    assert depot.applied() == ["0001_step"]


def test_the_disk_is_full(depot, small_move):
    execute("VACUUM")
    [(pages,)] = execute("PRAGMA page_count")
    execute(f"PRAGMA max_page_count = {pages}")
    try:
        refused = depot.refusal()
    finally:
        execute("PRAGMA max_page_count = 4294967294")
    assert refused == (
        "the database has no space left: database or disk is full. No key was moved. Free some "
        "space. Continue with: the same `manage.py migrate`"
    )
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
