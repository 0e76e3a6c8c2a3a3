"""Tables as people have them on PostgreSQL: views, rights, serial columns, triggers."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.marks import own_tables
from tests.support import execute

from . import small

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="objects of PostgreSQL"),
]


VIEWS = (
    "CREATE VIEW depot_ordered WITH (security_barrier=true) AS SELECT c.id, c.name "
    "FROM depot_customer c JOIN depot_order o ON o.customer_id = c.id",
    "COMMENT ON VIEW depot_ordered IS 'who''s there'",
    "GRANT SELECT ON depot_ordered TO PUBLIC",
    "CREATE MATERIALIZED VIEW depot_counted AS SELECT id, count(*) FROM depot_ordered GROUP BY id",
    "CREATE UNIQUE INDEX depot_counted_id ON depot_counted (id)",
)
DESCRIBED = """
SELECT relname, relkind::text, reloptions, relacl::text, obj_description(oid, 'pg_class'),
    regexp_replace(pg_get_viewdef(oid), '\\s+', ' ', 'g')
FROM pg_class WHERE relname IN ('depot_ordered', 'depot_counted') ORDER BY 1
"""


def test_views_are_there_again(depot):
    small.create(depot)
    execute(*VIEWS)
    before = execute(DESCRIBED)
    small.write_move(depot)
    depot.migrate()
    assert execute(DESCRIBED) == before
    assert execute("SELECT count(*) FROM depot_counted") == [(5,)]
    assert execute("SELECT indexdef FROM pg_indexes WHERE tablename = 'depot_counted'")
    depot.migrate("0001_step")
    assert execute(DESCRIBED) == before
    execute("DROP VIEW depot_ordered CASCADE")


def test_a_serial_column_goes_on_counting(depot):
    """Django before 4.1 made such columns. The sequence stays, also for a table that uses it,
    too."""
    small.create(depot)
    execute(
        "ALTER TABLE depot_customer ALTER id DROP IDENTITY",
        "CREATE SEQUENCE depot_numbers OWNED BY depot_customer.id START 500 INCREMENT 10",
        "SELECT nextval('depot_numbers')",
        "ALTER TABLE depot_customer ALTER id SET DEFAULT nextval('depot_numbers')",
        "ALTER TABLE depot_order ADD n bigint DEFAULT nextval('depot_numbers')",
    )
    small.write_move(depot)
    depot.migrate()
    assert execute("SELECT nextval('depot_numbers')") == [(560,)]
    depot.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
    depot.migrate("0001_step")
    customer = depot.model("Customer").objects
    assert customer.get(name="z").pk == 561
    assert customer.create(name="y", created_at="2024-05-01T00:00Z").pk == 571


def test_no_number_of_an_identity_is_given_twice(depot):
    small.create(depot)
    depot.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z").delete()
    small.write_move(depot)
    depot.migrate()
    depot.migrate("0001_step")
    customer = depot.model("Customer").objects.create(name="y", created_at="2024-05-01T00:00Z")
    assert customer.pk == 7


def test_a_partial_index_without_values_of_the_key(depot):
    small.create(depot)
    index = "CREATE UNIQUE INDEX depot_i ON depot_order (name) WHERE (customer_id IS NOT NULL)"
    execute(index)
    small.write_move(depot)
    depot.migrate()
    [[found]] = execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'depot_i'")
    assert found.endswith("(name) WHERE (customer_id IS NOT NULL)")


COLLATIONS = """
SELECT attrelid::regclass::text, attname, collname FROM pg_attribute
JOIN pg_collation ON pg_collation.oid = attcollation
WHERE (attrelid, attname) IN (
    (to_regclass('depot_customer'), 'id'), (to_regclass('depot_customer'), 'old_id'),
    (to_regclass('depot_order'), 'customer_id')
) ORDER BY 1, 2
"""


def test_texts_have_their_collation(depot):
    """In another one, ids don't sort by time."""
    text = "CharField(max_length=9, primary_key=True, db_collation='C', default=key)"
    small.create(depot, key=text, before="def key(keys=iter('vwxyz')): return next(keys)\n")
    small.write_move(
        depot,
        field="HexULIDField(primary_key=True)",
        options="created_from='created_at', old=CharField(max_length=9, null=True, unique=True)",
    )
    before = execute(COLLATIONS)
    assert before == [("depot_customer", "id", "C"), ("depot_order", "customer_id", "C")]
    depot.migrate()
    [key, old, reference] = execute(COLLATIONS)
    assert [key, reference] == before
    assert old == ("depot_customer", "old_id", "default")
    depot.migrate("0001_step")
    assert execute(COLLATIONS) == before


def test_keys_are_written_with_statistics_of_all_rows(depot, small_move):
    """With older ones, PostgreSQL looks for each key in the whole table."""
    for to in ("0002_step", "0001_step"):
        with CaptureQueriesContext(connection) as queries:
            depot.migrate(to)
        found = [each["sql"] for each in queries]
        name = '"sortable_ids_next__depot_customer"'
        reads = [
            n
            for n, sql in enumerate(found)
            if "moved_0(" in sql or sql.startswith(f"UPDATE {name}")
        ]
        assert f"ANALYZE {name}" in found[: reads[0]]
        depot.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
