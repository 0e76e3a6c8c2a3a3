"""Tables as people have them on SQLite: what no model knows remains."""

import pytest
from django.db import connection

from tests.marks import own_tables
from tests.support import execute

from . import small

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="definitions of SQLite"),
]

CUSTOMER = """
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
ORDER = """
CREATE TABLE "depot_order"(
    id integer primary key,
    name varchar(9),
    customer_id integer not null references depot_customer on delete cascade,
    UNIQUE (customer_id, name)
)
"""
MORE = (
    "CREATE INDEX by_secret ON depot_customer (secret) WHERE id IS NOT NULL",
    "CREATE INDEX by_customer ON depot_order (customer_id DESC, name)",
    "CREATE VIEW ordered AS SELECT c.name FROM depot_customer c JOIN depot_order o "
    "ON o.customer_id = c.id",
    "CREATE TABLE log (text)",
    "CREATE TRIGGER logged AFTER DELETE ON depot_customer BEGIN "
    "INSERT INTO log VALUES (old.name); END",
)


@pytest.fixture
def tables(depot):
    small.create(depot)
    dropped = ("depot_order", "depot_customer")
    rows = {table: execute(f"SELECT * FROM {table}") for table in dropped}
    execute(*(f"DROP TABLE {table}" for table in dropped), CUSTOMER, ORDER, *MORE)
    for table, found in reversed(rows.items()):
        columns = {"depot_order": "id, name, customer_id", "depot_customer": "id, name, created_at"}
        for row in found:
            values = ", ".join(map(repr, map(str, row)))
            execute(f"INSERT INTO {table} ({columns[table]}) VALUES ({values})")
    execute("UPDATE depot_customer SET secret = 'of ' || name")
    execute("INSERT INTO depot_customer (id, name, created_at) VALUES (900, 'q', '2020-01-01')")
    execute("DELETE FROM depot_customer WHERE id = 900")
    yield depot
    execute("DROP VIEW ordered", "DROP TABLE log")


def definitions():
    return execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE tbl_name LIKE 'depot%' "
        "OR name IN ('ordered', 'log') ORDER BY 1, 2"
    )


def test_what_no_model_knows_remains(tables):
    before = definitions()
    old = dict(tables.model("Customer").objects.values_list("name", "pk"))
    small.write_move(tables, more="allowed=['*'],")
    tables.migrate()
    connection.check_constraints()
    assert small.names(tables) == small.IN_ORDER
    assert execute("SELECT secret, initial FROM depot_customer WHERE name = 'C'") == [("of c", "c")]
    assert len(execute("SELECT * FROM ordered")) == len(old)
    assert execute("PRAGMA foreign_key_list(depot_order)")[0][2:7] == (
        "depot_customer", "customer_id", None, "NO ACTION", "CASCADE",
    )  # fmt: skip
    tables.model("Customer").objects.filter(name="a").extra(where=["1=1"])
    execute("DELETE FROM depot_order WHERE name = 'a'", "DELETE FROM depot_customer WHERE name='a'")
    assert execute("SELECT text FROM log")[-1] == ("a",)
    later = tables.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
    assert later.old_id is None
    tables.migrate("0001_step")
    del old["a"]
    assert dict(tables.model("Customer").objects.values_list("name", "pk")) == {**old, "z": 901}
    assert [each[:3] for each in definitions()] == [each[:3] for each in before]
