"""Triggers, views and routines that use a key: refused before anything is written, or they work."""

import pytest
from django.core.management.base import CommandError
from django.db import connection

from tests.marks import own_tables
from tests.support import columns, execute, trigger

from . import small
from .test_refused import refusal

pytestmark = own_tables

IS_POSTGRESQL = connection.vendor == "postgresql"
IS_MYSQL = connection.vendor == "mysql"
FIRES = "trigger depot_logged of {} fires on a table that changes"
REPLACED = (
    "{} has the trigger depot_logged, and is replaced by a table without it: drop the trigger, "
    "migrate, and create it again"
)
"""On MariaDB and MySQL."""


def advice(*names):
    options = " ".join(f"--allow {each}" for each in names)
    return (
        "Read what is named, which the move doesn't change. What fits the new keys: write the "
        f"migration with {options} (or give the operation allowed={list(names)}). Anything else: "
        "drop it, migrate, and create one that fits"
    )


@pytest.fixture
def customers(depot):
    small.create(depot)
    execute("CREATE TABLE depot_log (number int, text varchar(40))")
    yield depot
    if IS_POSTGRESQL:
        execute("DROP FUNCTION IF EXISTS depot_logged_f CASCADE")


def logs(body, event="INSERT", table="depot_customer"):
    execute(trigger("depot_logged", event, table, body))


def test_a_trigger_of_a_moved_table(customers):
    logs("INSERT INTO depot_log (text) VALUES (NEW.name);")
    small.write_move(customers)
    found = [FIRES.format("depot_customer"), advice("depot_logged")]
    assert refusal(customers) == ([REPLACED.format("depot_customer")] if IS_MYSQL else found)
    assert list(columns("depot_customer")) == ["id", "name", "created_at"]


def test_a_trigger_of_another_table(customers):
    logs('UPDATE depot_log SET text = ("depot_order");', table="depot_log")
    small.write_move(customers)
    found = ["trigger depot_logged of depot_log names depot_order", advice("depot_logged")]
    assert refusal(customers) == found


def test_a_longer_name_is_another_table(customers):
    logs(
        "INSERT INTO depot_log (text) VALUES ('depot_order2 my_depot_order');",
        "UPDATE",
        "depot_log",
    )
    small.write_move(customers)
    customers.migrate()
    assert small.names(customers) == small.IN_ORDER
    customers.migrate("0001_step")
    assert small.names(customers) == small.IN_ORDER_OF_KEYS


@pytest.mark.skipif(IS_MYSQL, reason="it refuses each")
def test_one_that_somebody_has_read(customers):
    logs("INSERT INTO depot_log (text) VALUES ('of ' || NEW.id);")
    small.write_move(customers, more="allowed=['depot_log*'],")
    customers.migrate()
    made = customers.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
    [(text,)] = execute("SELECT text FROM depot_log")
    assert text.replace("-", "") == f"of {made.pk.hex}"
    customers.migrate("0001_step")
    connection.close()  # functions of PostgreSQL keep the types that they had in a session
    customers.model("Customer").objects.create(name="y", created_at="2024-05-01T00:00Z")
    assert execute("SELECT text FROM depot_log")[-1] == ("of 7",)


def test_one_is_refused_backwards(customers):
    small.write_move(customers)
    customers.migrate()
    logs("INSERT INTO depot_log (number) VALUES (NEW.old_id);")
    refused = (REPLACED if IS_MYSQL else FIRES).format("depot_customer")
    with pytest.raises(CommandError, match=refused):
        customers.migrate("0001_step")
    assert small.names(customers) == small.IN_ORDER


PROGRAMS = {
    # PostgreSQL creates views again, and checks their types.
    "sqlite": {
        "view depot_first": "AS SELECT id AS buyer FROM depot_customer",
        "view depot_second": "AS SELECT buyer FROM depot_first WHERE buyer = 1",
    },
    "postgresql": {
        "procedure depot_gone": "(n int) LANGUAGE sql AS 'DELETE FROM depot_customer WHERE id = n'",
        "function depot_last": "() RETURNS bigint LANGUAGE plpgsql AS "
        "'BEGIN RETURN (SELECT max(id) FROM depot_customer); END'",
    },
    "mysql": {
        "procedure depot_gone": "(n int) DELETE FROM depot_customer WHERE id = n",
        "function depot_last": "() RETURNS int READS SQL DATA "
        "RETURN (SELECT max(id) FROM depot_customer)",
        "event depot_event": "ON SCHEDULE EVERY 1 YEAR DO DELETE FROM depot_customer WHERE id < 9",
    },
}
PROGRAMS["mysql"] |= PROGRAMS["sqlite"]
PROGRAMS["sqlite"]["virtual table depot_words"] = "USING fts5(name, content = 'depot_customer')"


def test_views_routines_and_events_are_named_together(customers):
    programs = PROGRAMS[connection.vendor]
    execute(*(f"CREATE {name} {body}" for name, body in programs.items()))
    if IS_MYSQL:
        logs("INSERT INTO depot_log (text) VALUES (NEW.name);")
    try:
        small.write_move(customers)
        *found, advised = refusal(customers)
    finally:
        execute(*(f"DROP {name.removeprefix('virtual ')}" for name in reversed(programs)))
    if IS_MYSQL:
        assert found.pop(0) == REPLACED.format("depot_customer")
    assert sorted(found) == sorted(
        f"{name} names {'depot_first' if 'second' in name else 'depot_customer'}"
        for name in programs
    )
    assert advised == advice(*(each.partition(" names ")[0].split()[-1] for each in found))


TEXTS = """CreateModel("Note", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("content_type", IntegerField()),
    ("object_id", CharField(max_length=40)),
]),"""


def test_a_trigger_of_texts_with_keys(depot):
    small.create(depot, more=TEXTS)
    execute("CREATE TABLE depot_log (number int, text varchar(40))")
    logs("INSERT INTO depot_log (text) VALUES (NEW.name);", event="UPDATE", table="depot_note")
    try:
        small.write_move(depot, generic=[("depot_note", "object_id", "content_type")])
        assert refusal(depot) == [FIRES.format("depot_note"), advice("depot_logged")]
    finally:
        if IS_POSTGRESQL:
            execute("DROP FUNCTION depot_logged_f CASCADE")


# Names of programs that ``--allow`` takes

MODELS = """
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=20)
"""
BODY = "DELETE FROM depot_customer WHERE id = NEW.number;"


@pytest.fixture
def project(create):
    made = create(MODELS)
    made.add_keys("Customer")
    return made


def create_trigger(project):
    made = trigger("depot_logged", "INSERT", "depot_log", BODY)
    project.sql("CREATE TABLE depot_log (number int)", made)


def move(project, *arguments):
    return project.move("--write-migration", *arguments)


@pytest.mark.parametrize("allowed", ["depot_logged", "depot_*"])
def test_a_name_that_the_database_has(project, allowed):
    create_trigger(project)
    assert "write the migration with --allow depot_logged (or" in move(project).stderr
    done = move(project, "--allow", allowed)
    assert done.returncode == 0, done.stderr
    assert f"'{allowed}'" in (project.migrations / f"{project.names[-1]}.py").read_text()


def test_a_name_that_it_lacks(project):
    done = move(project, "--allow", "depot_logged")
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("leaves as they are. Correct the name, or omit it")
    create_trigger(project)
    done = move(project, "--allow", "depot_logged", "--allow", "depot_loged")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "BackfillError: --allow depot_loged: the database has no such trigger, view, routine, "
        "event or rule, of those that a move leaves as they are; nearest: depot_logged. Correct "
        "the name, or omit it"
    )
    assert project.names == ["0001_initial"]
