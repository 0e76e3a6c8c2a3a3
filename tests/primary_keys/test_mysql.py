"""MariaDB and MySQL: moved tables equal fresh ones, and keep what no model knows."""

import pytest
from django.db import connection

from django_sortable_ids.errors import BackfillError
from tests.marks import own_tables
from tests.support import execute

from .mysql import definition, definitions, mysql_only
from .test_graph import MODELS, MOVE, ROWS

pytestmark = [own_tables, mysql_only]

GRAPH = f"{MODELS}RunPython(add_rows, RunPython.noop),"
UUID, ULID = (f"{name}(primary_key=True)" for name in ("UUIDv7Field", "ULIDField"))
FRESH = MODELS.replace(
    '"Customer", [\n    ("id", BigAutoField(primary_key=True)),',
    '"Customer", [\n    ("id", FIELD),\n    ("old_id", BigIntegerField(null=True, unique=True)),',
).replace(
    '"Order", [\n    ("id", AutoField(primary_key=True)),',
    '"Order", [\n    ("id", FIELD),\n    ("old_id", IntegerField(null=True, unique=True)),',
)


@pytest.mark.parametrize("field", [UUID, ULID])
def test_moved_tables_equal_fresh_ones(depot, field):
    depot.write(GRAPH, ROWS)
    depot.migrate()
    original = definitions()
    depot.write(MOVE.format(field=field), atomic=False)
    depot.migrate()
    found = definitions()
    depot.migrate("0001_step")
    assert definitions() == original
    depot.migrate("zero")
    depot.names.clear()
    depot.write(FRESH.replace("FIELD", field))
    depot.migrate("0001_step")
    assert found == definitions()


DECORATIONS = """\
CREATE TABLE depot_other (
    id int PRIMARY KEY, name varchar(9), tag int,
    CONSTRAINT depot_other_name FOREIGN KEY (name) REFERENCES depot_customer (name)
        ON UPDATE CASCADE ON DELETE SET NULL,
    CONSTRAINT depot_other_tag FOREIGN KEY (tag) REFERENCES depot_tag (id)
);
INSERT INTO depot_other VALUES (1, 'a', NULL), (2, NULL, 1);
SET time_zone = '+00:00';
ALTER TABLE depot_order
    ADD changed timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP FIRST,
    ADD hidden varchar(40)
        DEFAULT 'it''s (1, 2) AUTO_INCREMENT=7' INVISIBLE COMMENT 'a `b` \\'c\\'',
    ADD more int GENERATED ALWAYS AS (number + 1) STORED,
    ADD `virtual, odd``name` int GENERATED ALWAYS AS (number * 2) VIRTUAL,
    ADD has_customer int GENERATED ALWAYS AS (customer_id IS NOT NULL) VIRTUAL,
    ADD day date DEFAULT '0000-00-00',
    ADD note text, ADD bits bit(3), ADD place point,
    ADD kind enum('a', 'b') NOT NULL,
    ADD INDEX depot_prefix (note(5)), ADD FULLTEXT depot_full (note),
    ADD CONSTRAINT depot_any CHECK (customer_id IS NOT NULL AND number < 100),
    MODIFY customer_id bigint NOT NULL COMMENT 'who, NOT NULL DEFAULT 1',
    COMMENT 'AUTO_INCREMENT=9', AUTO_INCREMENT = 5000, ROW_FORMAT = COMPRESSED;
UPDATE depot_order SET changed = '2024-10-27 00:30:00', day = '2024-02-00', bits = b'101',
    note = REPEAT('é', 3000), place = ST_GeomFromText('POINT(1 2)'), kind = '';
UPDATE depot_order SET changed = '2024-06-01 00:00:00', day = '0000-00-00' WHERE number = 0;
ALTER TABLE depot_customer AUTO_INCREMENT = 7000, ADD seen timestamp NULL;
UPDATE depot_customer SET seen = '2024-10-27 01:30:00';
ALTER TABLE depot_note AUTO_INCREMENT = 800;
ALTER TABLE depot_profile CONVERT TO CHARACTER SET latin1;
ALTER TABLE depot_tag_customers CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_spanish_ci"""
EVERYTHING = """
SELECT o.number, c.name, HEX(o.hidden), o.more, o.`virtual, odd``name`, o.has_customer, o.day + 0,
    SHA2(o.note, 256), o.bits + 0, ST_AsText(o.place), o.kind + 0,
    o.changed, c.seen
FROM depot_order o JOIN depot_customer c ON c.id = o.customer_id ORDER BY 1, 2
"""


def everything():
    execute("SET time_zone = '+00:00'")
    rows = execute(EVERYTHING)
    execute("SET time_zone = 'Europe/Berlin'")
    return rows


@pytest.fixture
def lax():
    """Zero dates and the like, in a time zone with summer time."""
    (((modes, zone),),) = [execute("SELECT @@sql_mode, @@time_zone")]
    execute("SET sql_mode = 'ALLOW_INVALID_DATES'")
    yield
    execute(f"SET sql_mode = '{modes}', time_zone = '{zone}'")


@pytest.mark.parametrize("field", [UUID, ULID])
def test_tables_as_people_have_them_stay_as_they_are(depot, lax, field):
    depot.write(GRAPH, ROWS)
    depot.migrate()
    decorations = DECORATIONS
    if not connection.mysql_is_mariadb:
        decorations += (
            ";\nALTER TABLE depot_order ADD INDEX depot_sum ((number + 1)), "
            "ALTER INDEX depot_prefix INVISIBLE"
        )
    execute(
        *decorations.split(";\n"),
        "CREATE VIEW shown AS SELECT id, number, customer_id FROM depot_order",
    )
    try:
        before, rows = definitions(), everything()
        depot.write(MOVE.format(field=field).replace("keys=", "allowed=['*'], keys="), atomic=False)
        depot.migrate()
        assert everything() == rows
        kept = {
            each
            for each in before["depot_order"]
            if not each.startswith(("`id`", "`customer_id`", "`shown_to_id`"))
        }
        found = definition("depot_order")
        assert kept <= set(found)
        assert any("COMMENT 'who, NOT NULL DEFAULT 1'" in each for each in found)
        assert sorted(execute("SELECT * FROM shown")) == sorted(
            execute("SELECT id, number, customer_id FROM depot_order")
        )
        assert definition("depot_other") == before["depot_other"]
        execute(
            "UPDATE depot_customer SET name = 'y' WHERE name = 'a'",
            "UPDATE depot_customer SET name = 'a' WHERE name = 'y'",
        )
        assert execute("SELECT name FROM depot_other WHERE id = 1") == [("a",)]
        depot.migrate("0001_step")
        assert definitions() == before
        assert everything() == rows
        later = depot.model("Customer").objects.create(name="z", created_at="2026-01-01T00:00Z")
        assert later.pk == 7000
        profile = depot.model("Profile").objects.first()
        assert depot.model("Note").objects.create(profile_id=profile.pk).pk == 800
    finally:
        execute("DROP VIEW shown")


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
