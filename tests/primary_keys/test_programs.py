"""Texts of triggers, views and routines: which fit new keys, and which don't."""

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from django_sortable_ids.primary_keys.programs import Known, Program, problems
from django_sortable_ids.primary_keys.programs.patterns import MYSQL, POSTGRESQL, SQLITE
from tests.marks import own_tables

from . import small

pytestmark = own_tables

PATTERN = {"sqlite": SQLITE, "mysql": MYSQL, "postgresql": POSTGRESQL}[connection.vendor]
ORDER = ("depot_order",)
CUSTOMER = ("depot_customer",)

FIT = {
    "INSERT INTO depot_log (text) VALUES (NEW.name);": ORDER,
    "INSERT INTO depot_log (text, level) SELECT NEW.name, count(*) FROM depot_order;": ORDER,
    "UPDATE depot_customer SET name = NEW.name WHERE id = NEW.customer_id;": ORDER,
    "UPDATE depot_customer SET name = NEW.name WHERE NEW.customer_id = depot_customer.id;": ORDER,
    "INSERT INTO depot_order (name, customer_id) VALUES (NEW.name, NEW.id);": CUSTOMER,
    "INSERT INTO depot_order (name, customer_id) SELECT 'x', c.id FROM depot_customer c;": CUSTOMER,
    "INSERT INTO depot_log (text) VALUES (json_object('id', NEW.id));": CUSTOMER,
    "IF NEW.customer_id IS NULL OR (OLD.customer_id) <> NEW.customer_id THEN x(1); END IF;": ORDER,
    "IF NEW.customer_id IS DISTINCT FROM OLD.customer_id THEN x(1); END IF;": ORDER,
    "INSERT INTO depot_log (level, text) SELECT id, name FROM depot_log WHERE id = 3;": ORDER,
    "DELETE FROM depot_order WHERE customer_id IN (SELECT id FROM depot_customer c);": (),
    "SELECT o.name, c.name FROM depot_order o JOIN depot_customer AS c ON c.id = o.customer_id": (),
    "SELECT customer_id AS c, count(id) FROM depot_order GROUP BY customer_id ORDER BY id DESC": (),
    "SELECT l.id, o.name FROM depot_order o JOIN depot_log l ON l.id = o.amount WHERE l.id = 1": (),
    "SELECT l.text FROM depot_log l WHERE l.level = (SELECT count(id) FROM depot_customer)": (),
    "SELECT name FROM depot_customer c WHERE c.id <> (SELECT o.customer_id FROM depot_order o)": (),
    "SELECT c.id AS id, c.name AS name FROM depot_customer AS c": (),
    "SELECT '; id = 1 --', \"name\" FROM depot_customer /* id = 1 */": (),
    "SELECT id FROM depot_log WHERE id = 1 AND id % 2 = 0": (),
}
"""Each with the tables that fire it."""
TRIGGERS = {
    "INSERT INTO depot_log (text, level) VALUES (NEW.name, NEW.id);": (
        "writes new.id into depot_log, into a column that keeps its type"
    ),
    "INSERT INTO depot_log (customer_id) SELECT DISTINCT new.id FROM depot_log;": (
        "writes new.id into depot_log, into a column that keeps its type"
    ),
    "INSERT INTO depot_order (name, amount) VALUES ('a', 1), ('b', OLD.id);": (
        "writes old.id into depot_order, into a column that keeps its type"
    ),
    "INSERT INTO depot_log VALUES (NEW.id, 'x');": "inserts into depot_log without naming columns",
    "INSERT INTO depot_customer VALUES (9, 'x');": (
        "inserts into depot_customer without naming columns"
    ),
    "INSERT INTO depot_log SELECT * FROM depot_customer;": (
        "inserts all columns of a row into depot_log"
    ),
    "INSERT INTO gone.archive (a) VALUES (OLD.id);": (
        "writes old.id into archive, into a column that keeps its type"
    ),
    "INSERT INTO depot_log (level) VALUES ((SELECT id FROM depot_customer));": (
        "writes id into depot_log, into a column that keeps its type"
    ),
    "UPDATE depot_log SET customer_id = NEW.id;": "compares or computes with new.id",
    "DELETE FROM depot_log WHERE customer_id = OLD.id;": "compares or computes with old.id",
    "UPDATE depot_log SET text = NULL WHERE OLD.id = depot_log.customer_id;": (
        "compares or computes with old.id"
    ),
    "UPDATE depot_log SET text = 'of ' || OLD.id;": "compares or computes with old.id",
    "IF NEW.id > 1000 THEN x(1); END IF;": "compares or computes with new.id",
    "IF 5 < NEW.id THEN x(1); END IF;": "compares or computes with new.id",
    "IF (NEW.id) IN (1, 2) THEN x(1); END IF;": "compares or computes with new.id",
    "IF NEW.id BETWEEN 1 AND 2 THEN x(1); END IF;": "compares or computes with new.id",
    "IF NEW.id IS NOT 7 THEN x(1); END IF;": "compares or computes with new.id",
    "IF NEW.id THEN x(1); END IF;": "uses new.id",
    "CASE NEW.id WHEN 1 THEN x(1); END CASE;": "uses new.id",
    "v := NEW.id;": "compares or computes with new.id",
    "SET v = NEW.id;": "compares or computes with new.id",
    "SELECT id INTO v FROM depot_customer;": "reads id into a variable",
    "SELECT name, id, 1 INTO a, b, c FROM depot_customer;": "reads id into a variable",
    "DECLARE c CURSOR FOR SELECT id FROM depot_customer;": "reads id into a variable",
    "CALL logged(NEW.id);": "passes new.id to logged()",
    "SELECT CAST(NEW.id AS int);": "passes new.id to cast()",
    "RETURN NEW.id;": "returns new.id",
    "EXECUTE 'UPDATE depot_customer SET x = 1';": (
        "builds statements from texts that may name depot_customer"
    ),
    "SELECT name FROM depot_log JOIN depot_order USING (customer_id)": (
        "joins tables by customer_id"
    ),
}
"""Of depot_customer."""
VIEWS = {
    "SELECT name FROM depot_customer WHERE id = 1": "compares or computes with id",
    "SELECT c.name FROM depot_customer c WHERE c.id IN (SELECT level FROM depot_log)": (
        "compares or computes with c.id"
    ),
    "SELECT c.name FROM depot_customer c JOIN depot_log l ON l.customer_id = c.id": (
        "compares or computes with c.id"
    ),
    "SELECT id + 1 FROM depot_order JOIN depot_customer": "compares or computes with id",
    "SELECT concat('C', id) FROM depot_customer": "passes id to concat()",
    "SELECT text FROM depot_log WHERE level = (SELECT min(id) FROM depot_customer)": (
        "passes id to min()"
    ),
    "SELECT text FROM depot_log WHERE level = (SELECT id FROM depot_customer)": (
        "compares or computes with id"
    ),
    "SELECT name FROM depot_log WHERE ((SELECT customer_id FROM depot_order)) <> level": (
        "compares or computes with customer_id"
    ),
    "SELECT name FROM first_view WHERE buyer = 1": "compares or computes with buyer",
}
FIRST = Program("view", "first_view", "SELECT id AS buyer FROM depot_customer", PATTERN)


@pytest.fixture
def known(depot):
    small.create(depot)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE depot_order ADD amount int")
        cursor.execute(
            "CREATE TABLE depot_log (id int, customer_id int, level int, text varchar(20))"
        )
    name = small.write_move(depot)
    loader = MigrationLoader(connection)
    [operation] = loader.get_migration("depot", name).operations
    before = loader.project_state(("depot", "0001_step"))
    change = operation.move_of(connection.schema_editor(), before).change
    return lambda: Known(connection, change)


def reasons(known, kind, texts, tables):
    found = {}
    for text in texts:
        program = Program(kind, "p", text, PATTERN, tables)
        found[text] = [reason for _, reason in problems([FIRST, program], known())]
    return found


def test_they_fit(known):
    for text, tables in FIT.items():
        assert reasons(known, "trigger" if tables else "view", [text], tables) == {text: []}


def test_triggers_that_do_not_fit(known):
    found = reasons(known, "trigger", TRIGGERS, CUSTOMER)
    assert found == {
        text: [f"trigger p of depot_customer {reason}"] for text, reason in TRIGGERS.items()
    }


def test_views_that_do_not_fit(known):
    found = reasons(known, "view", VIEWS, ())
    assert found == {text: [f"view p {reason}"] for text, reason in VIEWS.items()}


def test_a_text_that_nobody_may_read(known):
    program = Program("procedure", "p", None, PATTERN)
    assert list(problems([program], known())) == [("p", "procedure p: this user may not read it")]
