"""Tables of PostgreSQL that were written by hand: all of it stays, or is refused by name."""

import re

import pytest
from django.db import IntegrityError, connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from django_sortable_ids.errors import BackfillError
from tests.marks import own_tables
from tests.support import EVERYTHING, execute, limited_to

from . import small

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="objects of PostgreSQL"),
]

DECORATIONS = """
CREATE ROLE {role};
ALTER TABLE depot_customer SET (fillfactor = 70, autovacuum_enabled = false),
    ADD "Group" int, ADD "user" text DEFAULT 'who''s',
    ADD "UPPER" int GENERATED ALWAYS AS (length(name)) STORED,
    ADD changed timestamp DEFAULT now(), ADD during tsrange,
    ADD CONSTRAINT depot_both UNIQUE (id, name),
    ADD EXCLUDE USING gist (during WITH &&),
    ADD CONSTRAINT depot_named CHECK (id IS NOT NULL AND length(name) < 9) NOT VALID;
UPDATE depot_customer SET "Group" = id WHERE id > 1;
ALTER TABLE depot_customer ADD UNIQUE NULLS NOT DISTINCT ("Group");
CREATE TABLE depot_visit (
    customer bigint, name varchar(9), n int PRIMARY KEY,
    CONSTRAINT depot_pair FOREIGN KEY (customer, name) REFERENCES depot_customer (id, name)
        MATCH FULL ON UPDATE CASCADE ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED,
    EXCLUDE USING hash (customer WITH =) WHERE (customer IS NOT NULL)
);
INSERT INTO depot_visit SELECT id, name, id FROM depot_customer;
ALTER TABLE depot_order ADD CONSTRAINT depot_more FOREIGN KEY (customer_id)
    REFERENCES depot_customer (id) ON DELETE CASCADE NOT VALID;
CREATE UNIQUE INDEX "Odd %s" ON depot_order (customer_id DESC NULLS LAST, name) INCLUDE (id)
    WITH (fillfactor = 60) WHERE name <> 'q';
CREATE INDEX depot_lower ON depot_order (lower(name), customer_id);
CREATE UNIQUE INDEX depot_partial ON depot_order (name) WHERE customer_id IS NOT NULL;
CREATE INDEX depot_brin ON depot_order USING brin (customer_id);
CREATE INDEX depot_hash ON depot_order USING hash (customer_id);
CLUSTER depot_order USING depot_order_pkey;
CREATE STATISTICS depot_stat ON customer_id, name FROM depot_order;
ALTER TABLE depot_order ALTER customer_id SET STATISTICS 500;
ALTER TABLE depot_order ALTER COLUMN name SET STORAGE EXTERNAL;
ALTER TABLE depot_customer REPLICA IDENTITY USING INDEX depot_both;
ALTER TABLE depot_order ENABLE ROW LEVEL SECURITY;
CREATE POLICY depot_policy ON depot_order USING (name <> 'none');
GRANT SELECT, INSERT ON depot_customer TO {role};
GRANT UPDATE (name, id) ON depot_customer TO {role};
GRANT REFERENCES (customer_id) ON depot_order TO {role} WITH GRANT OPTION;
COMMENT ON TABLE depot_customer IS 'those who pay';
COMMENT ON COLUMN depot_customer.id IS 'counted';
COMMENT ON COLUMN depot_order.customer_id IS 'who';
COMMENT ON INDEX "Odd %s" IS 'odd';
COMMENT ON CONSTRAINT depot_pair ON depot_visit IS 'visitor''s';
CREATE PUBLICATION depot_published FOR TABLE depot_customer, depot_order;
CREATE RULE depot_rule AS ON DELETE TO depot_order WHERE (old.name = 'never') DO INSTEAD NOTHING
"""
CATALOGUE = """
SELECT 'column', attrelid::regclass::text, attname::text, concat_ws(' ',
    CASE WHEN attname IN ('id', 'customer_id', 'customer') THEN '' ELSE format_type(
        atttypid, atttypmod) END, attnotnull, attstattarget, attstorage, attgenerated,
    array_to_string(ARRAY(SELECT unnest(attacl)::text ORDER BY 1), ','),
    col_description(attrelid, attnum))
FROM pg_attribute WHERE attrelid::regclass::text LIKE 'depot_%' AND attnum > 0
    AND NOT attisdropped AND attname <> 'old_id' AND attrelid IN (
        SELECT oid FROM pg_class WHERE relkind = 'r')
UNION ALL
SELECT 'default', adrelid::regclass::text, attname::text, pg_get_expr(adbin, adrelid)
FROM pg_attrdef JOIN pg_attribute ON (attrelid, attnum) = (adrelid, adnum)
WHERE adrelid::regclass::text LIKE 'depot_%'
UNION ALL
SELECT 'constraint', conrelid::regclass::text, conname, concat_ws(' ', pg_get_constraintdef(oid),
    obj_description(oid, 'pg_constraint'))
FROM pg_constraint WHERE conrelid::regclass::text LIKE 'depot_%' AND conname NOT LIKE '%old_id%'
UNION ALL
SELECT 'index', indrelid::regclass::text, indexrelid::regclass::text, concat_ws(' ',
    pg_get_indexdef(indexrelid), indisreplident, indisclustered,
    obj_description(indexrelid, 'pg_class'))
FROM pg_index WHERE indrelid::regclass::text LIKE 'depot_%'
    AND indexrelid::regclass::text NOT LIKE '%old_id%'
UNION ALL
SELECT 'table', relname, relkind::text, concat_ws(' ', reloptions::text, relacl::text, relreplident,
    relrowsecurity, obj_description(oid, 'pg_class'))
FROM pg_class WHERE relname LIKE 'depot_%' AND relkind = 'r'
UNION ALL
SELECT 'policy', polrelid::regclass::text, polname, pg_get_expr(polqual, polrelid) FROM pg_policy
UNION ALL
SELECT 'rule', ev_class::regclass::text, rulename, pg_get_ruledef(oid) FROM pg_rewrite
WHERE rulename = 'depot_rule'
UNION ALL
SELECT 'statistics', stxrelid::regclass::text, stxname, pg_get_statisticsobjdef(oid)
FROM pg_statistic_ext
UNION ALL
SELECT 'published', tablename, pubname, rowfilter FROM pg_publication_tables
WHERE pubname = 'depot_published' ORDER BY 1, 2, 3, 4
"""


def role():
    """Roles are those of a server, and tests run in several of its databases."""
    return f"depot_clerk_{connection.settings_dict['NAME']}"


def catalogue():
    return execute(CATALOGUE)


@pytest.fixture
def tables(depot):
    small.create(depot)
    yield depot
    execute(
        "DROP PUBLICATION IF EXISTS depot_published",
        "DROP TABLE IF EXISTS depot_visit, depot_order, depot_customer CASCADE",
        f"DROP ROLE IF EXISTS {role()}",
    )


def test_everything_stays_and_no_number_is_given_twice(tables):
    tables.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z").delete()
    for each in DECORATIONS.replace("{role}", role()).split(";\n"):
        execute(each)
    before = catalogue()
    listed = [small.REFERENCE, ("depot_visit", "customer", "depot.Customer")]
    small.write_move(tables, references=listed, more="allowed=['depot_rule'],")
    tables.migrate()
    assert small.names(tables) == small.IN_ORDER
    assert catalogue() == before
    joined = "SELECT count(*) FROM depot_visit v JOIN depot_customer c ON c.id = v.customer"
    assert execute(joined) == [(5,)]
    tables.migrate("0001_step")
    assert catalogue() == before
    assert execute("SELECT customer = n FROM depot_visit") == [(True,)] * 5
    added = "INSERT INTO depot_customer (name, created_at, \"Group\") VALUES ('y', now(), 99)"
    assert execute(f"{added} RETURNING id") == [(7,)]


REFUSED = {
    "CREATE SEQUENCE depot_numbers; ALTER TABLE depot_customer ALTER id DROP IDENTITY, "
    "ALTER id SET DEFAULT nextval('depot_numbers')": (
        "depot_customer.id has the default nextval('depot_numbers'::regclass), which is no new "
        "key: drop it, or make its sequence OWNED BY the column, and run this again"
    ),
    "CREATE TRIGGER depot_t BEFORE UPDATE OF customer_id ON depot_order FOR EACH ROW "
    "EXECUTE FUNCTION suppress_redundant_updates_trigger()": (
        "trigger depot_t on table depot_order depends on a column that changes: drop it, migrate, "
        "and create it again"
    ),
    "CREATE TABLE depot_child () INHERITS (depot_customer)": (
        "depot_customer is partitioned or has children: add a second field, not another key"
    ),
    "ALTER TABLE depot_order ALTER customer_id SET DEFAULT 1": (
        "depot_order.customer_id has the default 1, which is no new key: drop it, or"
    ),
    "CREATE TABLE depot_other (n bigint DEFAULT nextval('depot_customer_id_seq'))": (
        "the sequence of depot_customer.id, which the move drops, is used by "
        "default value for column n of table depot_other, too: give that another sequence"
    ),
    "CREATE VIEW depot_v AS SELECT last_value FROM depot_customer_id_seq": (
        "the sequence of depot_customer.id, which the move drops, is used by "
        "rule _RETURN on view depot_v, too"
    ),
    "CREATE POLICY depot_p ON depot_order USING (customer_id > 0)": (
        "policy depot_p on table depot_order depends on a column that changes"
    ),
    "CREATE RULE depot_r AS ON UPDATE TO depot_order WHERE new.customer_id > 5 "
    "DO INSTEAD NOTHING": ("rule depot_r on table depot_order depends on a column that changes"),
    "ALTER TABLE depot_order ADD g int GENERATED ALWAYS AS (customer_id % 2) STORED": (
        "g of depot_order depends on customer_id, whose values change"
    ),
    "CREATE INDEX depot_i ON depot_order (name) WHERE customer_id > 3": (
        "depot_i of depot_order depends on customer_id, whose values change"
    ),
    "CREATE FUNCTION depot_f() RETURNS bigint LANGUAGE sql BEGIN ATOMIC; "
    "SELECT max(id) FROM depot_customer; END": (
        "function depot_f() depends on a column that changes"
    ),
    "CREATE PUBLICATION depot_published FOR TABLE depot_order WHERE (customer_id > 3)": (
        "publication of table depot_order in publication depot_published depends on a column that "
        "changes"
    ),
    "CREATE PUBLICATION depot_published FOR TABLE depot_order (id, customer_id)": (
        "publication of table depot_order in publication depot_published depends on a column that "
        "changes"
    ),
    "CREATE VIEW depot_v AS SELECT id + 1 AS next FROM depot_customer": (
        "depot_v can't be created again: operator does not exist: uuid + integer. Drop it"
    ),
    "CREATE FUNCTION depot_less(bigint, bigint) RETURNS boolean IMMUTABLE LANGUAGE sql AS "
    "'SELECT $1 < $2'; CREATE OPERATOR <<< (LEFTARG = bigint, RIGHTARG = bigint, "
    "FUNCTION = depot_less); CREATE VIEW depot_v AS SELECT id FROM depot_order "
    "WHERE customer_id <<< id": "depot_v can't be created again: operator does not exist",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_what_is_refused(tables, statement):
    execute(statement)
    before = catalogue()
    small.write_move(tables)
    try:
        said = tables.refusal()
        assert REFUSED[statement] in said
        assert said.startswith("No key was moved")
        assert catalogue() == before
    finally:
        execute(
            "DROP VIEW IF EXISTS depot_v",
            "DROP TABLE IF EXISTS depot_child, depot_other",
            "DROP FUNCTION IF EXISTS depot_f, depot_less CASCADE",
            "DROP SEQUENCE IF EXISTS depot_numbers CASCADE",
        )


def test_rows_that_a_policy_hides(tables):
    small.write_move(tables)
    execute("ALTER TABLE depot_order ENABLE ROW LEVEL SECURITY")
    with limited_to(*EVERYTHING):
        said = tables.refusal()
    assert said.splitlines()[1].startswith("the row-level security of depot_order may hide rows")


def test_a_view_of_another_role(tables):
    small.write_move(tables)
    execute("CREATE MATERIALIZED VIEW depot_v AS SELECT name FROM depot_customer")
    with limited_to(*EVERYTHING):
        said = tables.refusal()
    execute("DROP MATERIALIZED VIEW depot_v")
    assert re.search(
        "^depot_v, which a move drops and creates again, belongs to .*: migrate as a member of "
        "that role, or drop it, migrate, and create it again$",
        said,
        re.MULTILINE,
    )


def test_a_database_that_is_read_only(tables):
    small.write_move(tables)
    execute("SET default_transaction_read_only = on")
    try:
        said = tables.refusal()
    finally:
        execute("SET default_transaction_read_only = off")
    assert "name a writable database instead of a replica" in said


# Tables as people have them on PostgreSQL: views, rights, serial columns, triggers


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


def test_a_row_with_the_last_number_does_not_end_the_numbers(depot):
    """Such as that of a system's user, which the sequence never gave."""
    small.create(depot, key="AutoField(primary_key=True)")
    customer = depot.model("Customer").objects
    customer.create(pk=2147483647, name="system", created_at="2024-05-01T00:00Z")
    small.write_move(depot)
    depot.migrate()
    customer = depot.model("Customer").objects
    customer.create(name="z", created_at="2024-05-01T00:00Z")
    depot.migrate("0001_step")
    customer = depot.model("Customer").objects
    numbers = customer.order_by("pk").values_list("pk", flat=True)
    *others, z, system = numbers
    assert (z, system) == (len(others) + 1, 2147483647)
    assert customer.create(name="y", created_at="2024-05-01T00:00Z").pk == z + 1


def test_a_check_of_two_references_comes_back_from_keys_of_text(depot):
    """PostgreSQL writes it with a cast of each."""
    small.create(
        depot,
        more=(
            "AddField('Order', 'payer', ForeignKey('depot.Customer', CASCADE, related_name='+', "
            "null=True)), AddConstraint('Order', CheckConstraint("
            "condition=~Q(customer=F('payer')), name='depot_other')),"
        ),
    )
    small.write_move(
        depot,
        "UUIDv7Field(storage='char36', primary_key=True)",
        references=(small.REFERENCE, ("depot_order", "payer_id", "depot.Customer")),
    )
    depot.migrate()
    depot.migrate("0001_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS
    with pytest.raises(IntegrityError):
        depot.model("Order").objects.update(payer=F("customer"))


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


# Tables of PostgreSQL in another schema than ``public``, by their name or by the search path


MODELS_IN_A_SCHEMA = """\
CreateModel("Customer", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("created_at", DateTimeField()),
], options={{"db_table": {customer!r}}}),
CreateModel("Order", [
    ("id", BigAutoField(primary_key=True)),
    ("name", CharField(max_length=9)),
    ("customer", ForeignKey("depot.Customer", CASCADE)),
], options={{"db_table": {order!r}}}),
CreateModel("HistoricalCustomer", [
    ("id", BigIntegerField(db_index=True)),
    ("name", CharField(max_length=9)),
    ("history_id", AutoField(primary_key=True)),
    ("history_date", DateTimeField()),
], options={{"db_table": {history!r}}}),
RunPython(add_rows, RunPython.noop),
RunPython(add_history, RunPython.noop),
"""
HISTORY = """
def add_history(apps, schema_editor):
    Customer = apps.get_model("depot", "Customer")
    deleted = Customer(pk=99, name="q", created_at=datetime(2024, 1, 3))
    for one in [*Customer.objects.all(), deleted]:
        apps.get_model("depot", "HistoricalCustomer").objects.create(
            id=one.pk, name=one.name, history_date=one.created_at.replace(tzinfo=UTC)
        )
"""
MOVE_IN_A_SCHEMA = """\
MigratePrimaryKey(
    keys=[MovedKey(
        "depot.Customer", "id", UUIDv7Field(primary_key=True), created_from="created_at",
        old=BigIntegerField(null=True, unique=True),
    )],
    references=[
        ({order!r}, "customer_id", "depot.Customer"),
        ({history!r}, "id", "depot.Customer"),
    ],
    copies=[KeyCopy(
        "depot.HistoricalCustomer", "id", "depot.Customer", UUIDv7Field(db_index=True),
        old=BigIntegerField(null=True, db_index=True),
    )],
    histories=[("depot.HistoricalCustomer", "history_date")],
),
"""
CATALOGUE_OF_SCHEMAS = """
SELECT c.oid::regclass::text, attname::text, format_type(atttypid, atttypmod), attidentity::text,
    pg_get_serial_sequence(c.oid::regclass::text, attname)
FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace JOIN pg_attribute ON attrelid = c.oid
WHERE nspname IN ('Depot sales', 'public') AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    AND (nspname = 'Depot sales' OR relname LIKE '%depot%')
UNION ALL
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', ''
FROM pg_constraint WHERE connamespace = '"Depot sales"'::regnamespace
UNION ALL
SELECT tablename, indexname, indexdef, '', '' FROM pg_indexes WHERE schemaname = 'Depot sales'
ORDER BY 1, 2, 3
"""


@pytest.fixture
def sales(depot):
    execute('CREATE SCHEMA "Depot sales"')
    yield depot
    execute('DROP SCHEMA "Depot sales" CASCADE')


def move_and_return(depot):
    before, rows = execute(CATALOGUE_OF_SCHEMAS), history(depot)
    depot.migrate("0002_step")
    assert small.names(depot) == small.IN_ORDER
    assert len({key for _, key in history(depot)}) == 6
    later = depot.model("Customer").objects.create(name="z", created_at="2024-05-01T00:00Z")
    depot.model("Order").objects.create(name="z", customer_id=later.pk)
    depot.migrate("0001_step")
    assert small.names(depot) == [*small.IN_ORDER_OF_KEYS, "z"]
    assert history(depot) == rows
    assert execute(CATALOGUE_OF_SCHEMAS) == before


def history(depot):
    return sorted(depot.model("HistoricalCustomer").objects.values_list("name", "id"))


def write(depot, **names):
    depot.write(MODELS_IN_A_SCHEMA.format(**names), small.ROWS + HISTORY)
    depot.write(MOVE_IN_A_SCHEMA.format(**names), atomic=False)
    depot.migrate("0001_step")


@pytest.mark.parametrize("order", ['"Depot sales"."language"', "depot_order"])
def test_a_schema_in_the_name(sales, order):
    execute("""CREATE FUNCTION "Depot sales".one() RETURNS int LANGUAGE sql AS 'SELECT 1'""")
    names = {each: f'"Depot sales"."{each}"' for each in ("customer", "history")}
    write(sales, order=order, **names)
    move_and_return(sales)


@pytest.fixture
def in_path(sales):
    execute('SET search_path = "Depot sales", public')
    yield sales
    execute("RESET search_path")


def test_a_schema_in_the_search_path(in_path):
    names = {each: f"depot_{each}" for each in ("customer", "order", "history")}
    write(in_path, **names)
    assert execute("SELECT to_regclass('public.depot_customer') IS NULL") == [(True,)]
    move_and_return(in_path)


def test_notes_of_moves_that_tenants_would_share_are_refused(in_path):
    write(in_path, **{each: f"depot_{each}" for each in ("customer", "order", "history")})
    copy = 'CREATE TABLE "Depot sales".{0} (LIKE public.{0} INCLUDING ALL)'
    columns = "app, name, applied"
    rows = f'INSERT INTO "Depot sales".{{0}} ({columns}) SELECT {columns} FROM public.{{0}}'
    execute(*(each.format("django_migrations") for each in (copy, rows)))
    with pytest.raises(BackfillError, match=r'in the schema public, and .* is in "Depot sales"'):
        in_path.migrate("0002_step")
    assert small.names(in_path) == small.IN_ORDER_OF_KEYS
    execute(*(copy.format(f"django_sortable_ids_{name}") for name in ("movenote", "backfillrun")))
    move_and_return(in_path)


def test_a_table_that_no_model_has(sales):
    names = {each: f'"Depot sales"."{each}"' for each in ("customer", "order", "history")}
    write(sales, **names)
    execute(
        'CREATE TABLE "Depot sales".review (c bigint REFERENCES "Depot sales".customer (id))',
        'INSERT INTO "Depot sales".review SELECT id FROM "Depot sales".customer',
    )
    table = '"Depot sales"."review"'
    assert f"{table}.c refers to depot.Customer" in sales.refusal()
    listed = MOVE_IN_A_SCHEMA.replace(
        "references=[", f"references=[({table!r}, 'c', 'depot.Customer'),"
    )
    sales.names.pop()
    sales.write(listed.format(**names), atomic=False)
    move_and_return(sales)
