"""What a foreign key of the database does on its own stays, and takes no row with it."""

import django
import pytest
from django.db import connection, models

from tests.marks import own_tables
from tests.support import execute

from . import small

pytestmark = own_tables

REVIEW = """
CREATE TABLE depot_review (
    id int PRIMARY KEY,
    name varchar(9),
    buyer {kind} NULL,
    seller {kind} NULL,
    CONSTRAINT depot_buyer FOREIGN KEY (buyer) REFERENCES depot_customer (id)
        ON DELETE SET NULL ON UPDATE CASCADE,
    CONSTRAINT depot_seller FOREIGN KEY (seller) REFERENCES depot_customer (id)
        ON DELETE CASCADE ON UPDATE {other}
)
"""
REFERENCES = (
    small.REFERENCE,
    ("depot_review", "buyer", "depot.Customer"),
    ("depot_review", "seller", "depot.Customer"),
)
RULES = {
    "sqlite": """
        SELECT m.name, f."from", f.on_update, f.on_delete
        FROM sqlite_master m, pragma_foreign_key_list(m.name) f
        WHERE m.name LIKE 'depot%' ORDER BY 1, 2
    """,
    "postgresql": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE contype = 'f' AND conrelid::regclass::text LIKE 'depot%' ORDER BY 1, 2
    """,
    "mysql": """
        SELECT table_name, constraint_name, update_rule, delete_rule
        FROM information_schema.referential_constraints
        WHERE constraint_schema = DATABASE() AND table_name LIKE 'depot%' ORDER BY 1, 2
    """,
}


def rules():
    return execute(RULES[connection.vendor])


def reviews():
    """The names of customers and reviews that belong together."""
    return execute(
        "SELECT r.name, b.name, s.name FROM depot_review r "
        "LEFT JOIN depot_customer b ON b.id = r.buyer "
        "LEFT JOIN depot_customer s ON s.id = r.seller ORDER BY 1"
    )


def delete(name):
    execute(
        f"DELETE FROM depot_order WHERE name = '{name}'",
        f"DELETE FROM depot_customer WHERE name = '{name}'",
    )


def test_rules_of_foreign_keys_stay(depot):
    small.create(depot)
    other = "RESTRICT" if connection.vendor == "mysql" else "SET NULL"
    execute(
        REVIEW.format(kind="bigint", other=other),
        "INSERT INTO depot_review SELECT c.id, c.name, c.id, "
        "(SELECT id FROM depot_customer WHERE name = 'e') FROM depot_customer c",
        "UPDATE depot_review SET seller = NULL WHERE name IN ('a', 'b')",
    )
    before, rows = rules(), reviews()
    assert len(rows) == 5
    small.write_move(depot, references=REFERENCES)
    for to in ("0002_step", "0001_step"):
        depot.migrate(to)
        assert (rules(), reviews()) == (before, rows)
        assert depot.model("Order").objects.count() == depot.model("Customer").objects.count() == 5
    depot.migrate()
    delete("a")
    assert reviews()[0] == ("a", None, None)
    delete("e")
    assert reviews() == [("a", None, None), ("b", "b", None)]
    depot.migrate("0001_step")
    delete("b")
    assert reviews() == [("a", None, None), ("b", None, None)]
    assert rules() == before


MODEL = """CreateModel("Visit", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("buyer", ForeignKey("depot.Customer", DB_CASCADE)),
    ("seller", ForeignKey("depot.Customer", DB_SET_NULL, null=True, related_name="+")),
]),"""
VISITS = [
    small.REFERENCE,
    ("depot_visit", "buyer_id", "depot.Customer"),
    ("depot_visit", "seller_id", "depot.Customer"),
]


@pytest.mark.skipif(django.VERSION < (6, 1), reason="Django 6.1 has such foreign keys")
def test_db_on_delete_of_django_stays(depot):
    assert models.DB_CASCADE
    small.create(depot, more=MODEL)
    execute(
        "INSERT INTO depot_visit (name, buyer_id, seller_id) SELECT name, id, "
        "(SELECT id FROM depot_customer WHERE name = 'e') FROM depot_customer"
    )
    before = rules()
    small.write_move(depot, references=VISITS)
    for to in ("0002_step", "0001_step"):
        depot.migrate(to)
        assert rules() == before
        assert depot.model("Visit").objects.count() == 5
    depot.migrate()
    delete("a")
    delete("e")
    visits = depot.model("Visit").objects
    assert [(each.name, each.seller_id) for each in visits.order_by("-name")] == [
        ("d", None), ("c", None), ("b", None),
    ]  # fmt: skip
    depot.migrate("0001_step")
    delete("b")
    assert depot.model("Visit").objects.count() == 2
    assert rules() == before
