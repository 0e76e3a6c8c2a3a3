"""Triggers, views and routines that use a key: refused before anything is written, or they work."""

import pytest
from django.core.management.base import CommandError
from django.db import connection

from tests.marks import own_tables

from . import small
from .test_refused import refusal

pytestmark = own_tables

DO = {
    "sqlite": "CREATE TRIGGER {name} AFTER {event} ON {table} BEGIN {body} END",
    "mysql": "CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW BEGIN {body} END",
    "postgresql": """
        CREATE FUNCTION {name}_f() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN {body} RETURN NULL; END$$;
        CREATE TRIGGER {name} AFTER {event} ON {table} FOR EACH ROW EXECUTE FUNCTION {name}_f()
    """,
}
IS_POSTGRESQL = connection.vendor == "postgresql"
KIND, ALLOWED = ("function", "depot_logged_f") if IS_POSTGRESQL else ("trigger", "depot_logged")
NAMED = f"{KIND} {ALLOWED} of depot_customer"
IN_A_COLUMN = f'created_from="created_at", on_null="now", old={small.OLD}'
"""The new keys of such a move are filled into a column of the table itself."""
ADVICE = (
    ": drop it, migrate, and create one that fits the new keys; or, if it fits already, write the "
    "migration with --allow "
)


def execute(*statements):
    with connection.cursor() as cursor:
        for each in statements:
            cursor.execute(each, None)
        return list(cursor.fetchall()) if cursor.description else []


@pytest.fixture
def customers(depot):
    small.create(depot)
    execute("CREATE TABLE depot_log (number int, text varchar(40))")
    yield depot
    if IS_POSTGRESQL:
        execute("DROP FUNCTION IF EXISTS depot_logged_f CASCADE")


def trigger(body, event="INSERT", table="depot_customer"):
    made = DO[connection.vendor].format(name="depot_logged", event=event, table=table, body=body)
    execute(made)


def columns(table):
    with connection.cursor() as cursor:
        found = connection.introspection.get_table_description(cursor, table)
    return [each.name for each in found]


def test_a_trigger_that_writes_the_key_elsewhere(customers):
    trigger("INSERT INTO depot_log (number) VALUES (NEW.id);")
    small.write_move(customers)
    assert refusal(customers) == [
        f"{NAMED} writes new.id into depot_log, into a column that keeps its type{ADVICE}{ALLOWED}"
    ]
    assert columns("depot_customer") == ["id", "name", "created_at"]


def test_one_that_somebody_has_read(customers):
    named = "CONCAT('of ', NEW.id)" if connection.vendor == "mysql" else "'of ' || NEW.id"
    trigger(f"INSERT INTO depot_log (text) VALUES ({named});")
    small.write_move(customers, more=f"allowed=[{ALLOWED!r}],")
    customers.migrate()
    made = customers.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
    [(text,)] = execute("SELECT text FROM depot_log")
    assert text.replace("-", "") == f"of {made.pk.hex}"
    customers.migrate("0001_step")
    connection.close()  # functions of PostgreSQL keep the types that they had in a session
    customers.model("Customer").objects.create(name="y", created_at="2024-05-01T00:00Z")
    assert execute("SELECT text FROM depot_log")[-1] == ("of 7",)


def test_one_that_writes_it_into_references(customers):
    trigger("INSERT INTO depot_order (name, customer_id) VALUES (NEW.name, NEW.id);")
    small.write_move(customers)
    customers.migrate()
    customers.model("Customer").objects.create(name="f", created_at="2024-05-01T00:00Z")
    assert small.names(customers) == [*small.IN_ORDER, "f"]
    assert customers.model("Order").objects.filter(name="f").exists()
    customers.migrate("0001_step")
    assert small.names(customers) == [*small.IN_ORDER_OF_KEYS, "f"]


def test_one_that_reads_the_old_key_is_refused_backwards(customers):
    small.write_move(customers)
    customers.migrate()
    trigger("INSERT INTO depot_log (number) VALUES (NEW.old_id);")
    with pytest.raises(CommandError, match=f"{NAMED} uses new.old_id, which is dropped"):
        customers.migrate("0001_step")
    assert small.names(customers) == small.IN_ORDER


def test_one_that_the_fill_would_fire(customers):
    trigger("INSERT INTO depot_log (text) VALUES (NEW.name);", event="UPDATE")
    small.write_move(customers, options=IN_A_COLUMN)
    assert refusal(customers) == [
        "depot_customer: an UPDATE of moving_id, which the migration executes, fires depot_logged: "
        "disable it, or write the migration with --allow-triggers"
    ]
    assert columns("depot_customer") == ["id", "name", "created_at"]


def test_the_fill_may_fire_it(customers):
    trigger("INSERT INTO depot_log (text) VALUES (NEW.name);", event="UPDATE")
    small.write_move(customers, options=f"{IN_A_COLUMN}, allow_triggers=True")
    customers.migrate()
    assert sorted(execute("SELECT text FROM depot_log")) == [(each,) for each in "abcde"]


@pytest.mark.skipif(IS_POSTGRESQL, reason="it updates the rows")
def test_a_fill_of_a_map_fires_none(customers):
    trigger("INSERT INTO depot_log (text) VALUES (NEW.name);", event="UPDATE")
    small.write_move(customers)
    customers.migrate()
    assert execute("SELECT text FROM depot_log") == []
    assert small.names(customers) == small.IN_ORDER


@pytest.mark.skipif(IS_POSTGRESQL, reason="it recreates views, which checks their types")
def test_a_view_that_compares_a_key_with_numbers(customers):
    execute("CREATE VIEW depot_first AS SELECT name FROM depot_customer WHERE id = 1")
    try:
        small.write_move(customers)
        [problem] = refusal(customers)
        assert problem.startswith("view depot_first compares or computes with ")
        assert problem.endswith(f"{ADVICE}depot_first")
    finally:
        execute("DROP VIEW depot_first")


@pytest.mark.skipif(connection.vendor == "sqlite", reason="it has no routines")
@pytest.mark.parametrize(
    ("kind", "statement"),
    [
        (
            "procedure",
            {
                "mysql": "(wanted int) DELETE FROM depot_customer WHERE id = wanted",
                "postgresql": "(wanted int) LANGUAGE sql AS "
                "'DELETE FROM depot_customer WHERE id = wanted'",
            },
        ),
        (
            "function",
            {
                "mysql": "() RETURNS int READS SQL DATA "
                "RETURN (SELECT max(id) FROM depot_customer)",
                "postgresql": "() RETURNS bigint LANGUAGE plpgsql AS "
                "'BEGIN RETURN (SELECT max(id) FROM depot_customer); END'",
            },
        ),
    ],
)
def test_routines(customers, kind, statement):
    execute(f"CREATE {kind} depot_routine {statement[connection.vendor]}")
    try:
        small.write_move(customers)
        [problem] = refusal(customers)
        assert problem.startswith(f"{kind} depot_routine ")
        assert problem.endswith(f"{ADVICE}depot_routine")
    finally:
        execute(f"DROP {kind} depot_routine")


@pytest.mark.skipif(connection.vendor != "mysql", reason="others have no events")
def test_an_event(customers):
    execute(
        "CREATE EVENT depot_event ON SCHEDULE EVERY 1 YEAR DO "
        "DELETE FROM depot_order WHERE customer_id < 1000"
    )
    try:
        small.write_move(customers)
        assert refusal(customers) == [
            f"event depot_event compares or computes with customer_id{ADVICE}depot_event"
        ]
    finally:
        execute("DROP EVENT depot_event")


TEXTS = """CreateModel("Note", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("content_type", IntegerField()),
    ("object_id", CharField(max_length=40)),
]),"""


def test_a_trigger_of_texts_with_keys(depot):
    small.create(depot, more=TEXTS)
    execute("CREATE TABLE depot_log (number int, text varchar(40))")
    trigger("INSERT INTO depot_log (text) VALUES (NEW.name);", event="UPDATE", table="depot_note")
    try:
        small.write_move(depot, generic=[("depot_note", "object_id", "content_type")])
        assert refusal(depot) == [
            "depot_note: an UPDATE of object_id, which the migration executes, fires depot_logged: "
            "disable it, or write the migration with --allow-triggers"
        ]
    finally:
        if IS_POSTGRESQL:
            execute("DROP FUNCTION depot_logged_f CASCADE")
