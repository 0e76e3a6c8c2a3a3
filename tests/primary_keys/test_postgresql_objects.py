"""Objects of PostgreSQL that depend on keys: each is moved, or refused by the plan."""

import pytest
from django.db import connection

from tests.marks import own_tables

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="objects of PostgreSQL"),
]

MODELS = """
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Abs


class Customer(models.Model):
    name = models.CharField(max_length=20)
    joined_at = models.DateTimeField(auto_now_add=True)


class Order(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE)
    backup = models.ForeignKey(Customer, models.SET_NULL, null=True, related_name="+")
    customer_ids = ArrayField(models.BigIntegerField(), default=list)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(backup__isnull=True) | Q(customer__isnull=False), name="depot_nn"
            ),
        ]
        indexes = [
            models.Index(F("customer").desc(nulls_last=True), F("id"), name="depot_ordered"),
        ]
"""
ROWS = """
from depot.models import *

customers = [Customer.objects.create(name=f"c{n}") for n in range(5)]
for n in range(9):
    customer, backup = customers[n % 5], customers[(n + 1) % 5]
    Order.objects.create(customer=customer, backup=backup, customer_ids=[customer.pk])
"""
DUMP = """
from django.db import connection

with connection.cursor() as cursor:
    cursor.execute("SELECT c.name, b.name FROM depot_order o JOIN depot_customer c ON c.id = "
                   "o.customer_id JOIN depot_customer b ON b.id = o.backup_id "
                   "WHERE o.customer_ids <> '{{}}' ORDER BY o.{key}")
    found = cursor.fetchall()
    for sql in {queries!r}:
        cursor.execute(sql)
        found.append([str(each) for each in cursor.fetchall()])
"""


@pytest.fixture
def project(create):
    return create(MODELS, rows=ROWS)


def dump(project, key="id", queries=()):
    return project.found(DUMP.format(key=key, queries=list(queries)))


def edit(project):
    project.add_keys("Customer", "Order")


def plan(project, *arguments):
    return project.move("--leave=depot_order.customer_ids", *arguments)


MOVED = """
CREATE VIEW depot_v AS SELECT o.id, c.name, o.customer_id
    FROM depot_order o JOIN depot_customer c ON c.id = o.customer_id;
CREATE MATERIALIZED VIEW depot_mv AS SELECT customer_id, count(*) AS n FROM depot_v GROUP BY 1;
CREATE UNIQUE INDEX depot_mv_u ON depot_mv (customer_id);
CREATE VIEW depot_w WITH (security_barrier=true) AS SELECT * FROM depot_mv;
COMMENT ON VIEW depot_w IS 'who''s there';
GRANT SELECT ON depot_w TO PUBLIC;
CREATE VIEW depot_text AS SELECT 'order-' || o.id AS ref, lpad(o.id::text, 8, '0') AS nr
    FROM depot_order o;
CREATE VIEW depot_whole AS SELECT o AS whole, (o).customer_id AS part, row_to_json(o) AS document
    FROM depot_order o;
CREATE VIEW depot_only AS SELECT row_to_json(o) AS document FROM depot_order o;
CREATE SCHEMA side;
CREATE TABLE side.thing (id serial PRIMARY KEY, customer bigint REFERENCES depot_customer (id));
INSERT INTO side.thing (customer) SELECT id FROM depot_customer;
CREATE VIEW side.depot_u AS SELECT customer_id FROM depot_order;
CREATE VIEW depot_joined AS SELECT name FROM side.depot_u JOIN depot_customer ON id = customer_id;
CREATE DOMAIN depot_cid AS bigint;
CREATE TABLE depot_d (c depot_cid REFERENCES depot_customer (id));
INSERT INTO depot_d SELECT id FROM depot_customer;
CREATE INDEX depot_gin ON depot_order USING gin (customer_ids);
CREATE RULE depot_rule AS ON INSERT TO depot_v DO INSTEAD
    INSERT INTO depot_customer (name, joined_at) VALUES (new.name, now());
ALTER VIEW depot_v ALTER name SET DEFAULT 'who''s';
COMMENT ON COLUMN depot_v.name IS '5 %';
GRANT SELECT (name), UPDATE (id) ON depot_v TO PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC
"""
QUERIES = [
    "SELECT name FROM depot_v v JOIN depot_order o ON o.id = v.id ORDER BY name",
    "SELECT n FROM depot_w JOIN depot_customer c ON c.id = customer_id ORDER BY n",
    "SELECT count(*) FROM depot_text WHERE nr IS NOT NULL",
    "SELECT count(*) FROM depot_whole WHERE (whole).customer_id = part "
    "AND document->>'customer_id' = part::text",
    "SELECT count(*) FROM depot_only d JOIN depot_order o ON document->>'id' = o.id::text",
    "SELECT name FROM side.thing t JOIN depot_customer c ON c.id = t.customer ORDER BY 1",
    "SELECT name FROM depot_joined ORDER BY 1",
    "SELECT name FROM depot_d JOIN depot_customer ON id = c ORDER BY 1",
    "SELECT obj_description('depot_w'::regclass), to_regclass('depot_gin')::text",
    "SELECT relname, reloptions, COALESCE(relacl, acldefault('r', relowner))::text FROM pg_class "
    "WHERE relname ~ '^depot_m?[vw]' ORDER BY 1",
    "SELECT attname, attacl::text, pg_get_expr(adbin, adrelid), col_description(attrelid, attnum) "
    "FROM pg_attribute LEFT JOIN pg_attrdef ON (adrelid, adnum) = (attrelid, attnum) "
    "WHERE attrelid = 'depot_v'::regclass ORDER BY 1",
    "SELECT pg_get_ruledef(oid) FROM pg_rewrite WHERE rulename = 'depot_rule'",
]


def test_what_moves_and_comes_back(project):
    project.sql(MOVED)
    before = dump(project, queries=QUERIES)
    edit(project)
    done = plan(project, "--allow=depot_rule", "--write-migration")
    assert done.returncode == 0, done.stderr
    project.manage("migrate", "&&", "makemigrations", "--check")
    assert dump(project, "old_id", QUERIES) == before
    project.manage("migrate", "depot", "0001")
    assert dump(project, queries=QUERIES) == before


REFUSED = {
    "ALTER TABLE depot_customer ADD CONSTRAINT depot_positive CHECK (id > 0)": (
        "depot_positive of depot_customer depends on id, whose values change"
    ),
    "CREATE FUNCTION depot_one(o depot_order) RETURNS text LANGUAGE sql AS "
    "$$SELECT 'x' || (o).id$$": "function depot_one names depot_order",
    "CREATE FUNCTION depot_all() RETURNS SETOF depot_order LANGUAGE sql AS "
    "$$SELECT * FROM depot_order$$": "function depot_all names depot_order",
    "CREATE TABLE depot_snap (o depot_order)": "depot_snap.o contains rows of depot_order",
    "CREATE TABLE depot_snaps (o depot_order[])": "depot_snaps.o contains rows of depot_order",
    "CREATE VIEW depot_rows AS SELECT o FROM depot_order o; CREATE TABLE depot_nested "
    "(v depot_rows)": "depot_nested.v contains rows of depot_order",
    "CREATE VIEW depot_v AS SELECT o.id FROM depot_order o JOIN depot_customer c USING (id); "
    "CREATE TABLE depot_typed (v depot_v[])": (
        "column v of table depot_typed depends on depot_v, which a move drops and creates again"
    ),
    "CREATE FUNCTION depot_via() RETURNS bigint LANGUAGE sql AS 'SELECT max(id) FROM depot_v'": (
        "function depot_via names depot_v"
    ),
}


def test_what_the_plan_refuses(project):
    """All at once; and then the children of a table, which nothing else can be tried on."""
    for sql in REFUSED:
        project.sql(sql)
    edit(project)
    done = plan(project)
    assert done.returncode == 1
    for message in REFUSED.values():
        assert done.stderr.count(message) == 1
    project.sql("CREATE TABLE depot_child () INHERITS (depot_order)")
    assert "depot_order is partitioned or has children" in plan(project).stderr


def test_a_column_with_whole_rows_is_moved_as_the_plan_says(project):
    project.sql("CREATE TABLE depot_snap AS SELECT o FROM depot_order o")
    edit(project)
    assert "make it jsonb" in plan(project).stderr
    project.sql("ALTER TABLE depot_snap ALTER o TYPE jsonb USING to_jsonb(o)")
    assert plan(project).returncode == 0


@pytest.mark.parametrize("kind", ["VIEW", "MATERIALIZED VIEW"])
def test_views_that_compare_a_key_with_a_number(project, kind):
    """In any schema; and one whose name another view has, so that it can't be tried."""
    project.sql(
        f"CREATE SCHEMA side; CREATE VIEW side.depot_u AS SELECT * FROM depot_order; "
        f"CREATE {kind} depot_v AS SELECT * FROM side.depot_u WHERE customer_id = 1; "
        f"CREATE {kind} side.depot_w AS SELECT * FROM side.depot_u WHERE customer_id = 1; "
        f"CREATE {kind} side.depot_v AS SELECT * FROM depot_order",
    )
    edit(project)
    done = plan(project)
    assert done.returncode == 1
    no_operator = "can't be created again: operator does not exist: uuid = integer. Drop it"
    assert [each.partition(",")[0] for each in done.stderr.splitlines()[-3:]] == [
        "side.depot_v can't be tried",
        f"depot_v {no_operator}",
        f"side.depot_w {no_operator}",
    ]
    project.sql(f"DROP {kind} depot_v; DROP {kind} side.depot_w; DROP {kind} side.depot_v")
    assert plan(project).returncode == 0


def test_a_check_of_whole_rows(project):
    named = "CONSTRAINT depot_row"
    project.sql(f"ALTER TABLE depot_order ADD {named} CHECK (depot_order IS DISTINCT FROM NULL)")
    edit(project)
    assert plan(project).stderr.splitlines()[-1] == (
        "depot_order can't be changed: cannot convert whole-row table reference. Drop what "
        "prevents it, migrate, and create it again"
    )
    project.sql(f"ALTER TABLE depot_order DROP {named}")
    assert plan(project).returncode == 0
