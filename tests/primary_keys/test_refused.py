"""What can't be moved is named before a row is written."""

import django
import pytest
from django.core.management import CommandError
from django.db import IntegrityError, connection, models, transaction
from django.db.models import F

from django_sortable_ids.db import tables, transactions
from django_sortable_ids.errors import BackfillError
from django_sortable_ids.primary_keys.changes.mysql_tables import collation_of
from tests.key_moves.catalogue import catalogue
from tests.marks import own_tables
from tests.support import execute, on_statement, open_transaction

from . import small
from .histories import DELETED, is_one_to_one
from .mysql import mysql_only
from .stops import stop_before
from .test_texts import CODES, OLD_CODE
from .test_unrecorded import NOTE, RENAMES

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

pytestmark = own_tables


def refusal(depot):
    """The lines after the first; nothing has changed."""
    said = depot.refusal()
    assert small.names(depot) == small.IN_ORDER_OF_KEYS
    assert depot.applied() == [each for each in depot.names if "move" not in each][:-1]
    first, *others = said.splitlines()
    assert first == "No key was moved."
    return others


def create_with_reviews(depot, column="customer_id bigint", key="customer_id", parent=None):
    """With a table that no model has, and that refers to customers."""
    small.create(depot)
    execute(
        f"CREATE TABLE depot_review (name varchar(9), {column}, "
        f"FOREIGN KEY ({key}) REFERENCES {parent or 'depot_customer (id)'})",
        "INSERT INTO depot_review SELECT name, id FROM depot_customer",
    )


@pytest.mark.parametrize("is_empty", [False, True], ids=["rows", "empty"])
def test_a_foreign_key_that_no_model_has(depot, is_empty):
    """Also without rows: MariaDB and MySQL would refuse it after the tables are exchanged."""
    create_with_reviews(depot)
    if is_empty:
        execute("DELETE FROM depot_review")
    small.write_move(depot)
    assert refusal(depot) == [
        "depot_review.customer_id refers to depot.Customer, and the migration doesn't list it: "
        "write the migration again by `manage.py backfill_ids depot.Customer --primary-key "
        "--write-migration`"
    ]


def test_an_empty_table_that_the_migration_does_not_list(depot):
    """Such as one of an app that was installed later."""
    small.create(depot)
    depot.write(
        'CreateModel("Later", [("id", BigAutoField(primary_key=True)), '
        '("customer", ForeignKey("depot.Customer", CASCADE, null=True))]),'
    )
    small.write_move(depot)
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    depot.migrate("0002_step")
    customer = depot.model("Customer").objects.get(name="c")
    depot.model("Later").objects.create(customer=customer)
    with pytest.raises(CommandError, match=r"depot_later\.customer_id refers to depot\.Customer"):
        depot.migrate()


@pytest.mark.skipif(connection.vendor == "postgresql", reason="it tells names of any case apart")
def test_a_foreign_key_whose_names_have_another_case(depot):
    parent = "depot_customer" if connection.vendor == "mysql" else "Depot_CUSTOMER"
    create_with_reviews(depot, "Buyer bigint", "BUYER", f"{parent} (ID)")
    small.write_move(depot)
    [problem] = refusal(depot)
    assert problem.lower().startswith("depot_review.buyer refers to depot.customer, and the ")


def test_values_that_are_no_key(depot):
    small.create(
        depot,
        more="""CreateModel("Visit", [
            ("id", BigAutoField(primary_key=True)),
            ("customer", ForeignKey("depot.Customer", DO_NOTHING, db_constraint=False)),
        ]),""",
    )
    depot.model("Visit").objects.create(customer_id=999_999)
    small.write_move(
        depot, references=[small.REFERENCE, ("depot_visit", "customer_id", "depot.Customer")]
    )
    assert refusal(depot) == [
        "1 row of depot_visit.customer_id without a row of depot_customer: correct or delete "
        "them, and run this again"
    ]
    depot.model("Visit").objects.all().delete()
    depot.migrate()
    stranger = depot.model("Customer")._meta.pk.scheme.generate()
    depot.model("Visit").objects.create(customer_id=stranger)
    said = depot.refusal("0001_step").splitlines()
    assert (said[0], len(said)) == ("No key was moved.", 3)
    assert said[2] == (
        "To keep the new keys, undo nothing more: `manage.py migrate` applies all migrations again"
    )
    assert small.names(depot) == small.IN_ORDER


CONDITIONS = {
    "table_check_constraints": """AddConstraint("Order", CheckConstraint(
        condition=Q(customer__gt=0), name="depot_positive"
    )),""",
    "expression_indexes": 'AddIndex("Order", Index("name", F("customer") + 1, name="depot_next")),',
    "partial_indexes": """AddConstraint("Order", UniqueConstraint(
        fields=["name"], name="depot_first", condition=Q(name__gt='') & Q(customer=1)
    )),""",
}


@pytest.mark.parametrize("kind", CONDITIONS)
def test_a_condition_that_depends_on_a_key(depot, kind):
    if not getattr(connection.features, f"supports_{kind}"):
        pytest.skip("there are none")
    small.create(depot, more=CONDITIONS[kind])
    small.write_move(depot)
    [problem] = refusal(depot)
    assert "customer_id" in problem
    assert problem.endswith("whose values change: remove it, migrate, and add it again")


TREE = """CreateModel("Branch", [
    ("id", {key}),
    ("parent", ForeignKey("self", CASCADE, null=True)),
]),
AddConstraint("Branch", CheckConstraint(condition={condition}, name="depot_tree")),
RunPython(add_branches, RunPython.noop),"""
BRANCHES = """
import uuid

def add_branches(apps, schema_editor):
    Branch = apps.get_model("depot", "Branch")
    Branch.objects.create(parent=Branch.objects.create())

"""
MOVED_TREE = """MigratePrimaryKey(
    [MovedKey("depot.Branch", "id", {field}(primary_key=True), created_at="now", old={old})],
    [("depot_branch", "parent_id", "depot.Branch")],
),"""
COUNTED = ("BigAutoField(primary_key=True)", "BigIntegerField(null=True)")
RANDOM = ("UUIDField(primary_key=True, default=uuid.uuid4)", "UUIDField(null=True)")
# MariaDB and MySQL have no conditions of counted keys.
no_mysql = pytest.mark.skipif(connection.vendor == "mysql", reason="has no such condition")


@pytest.mark.parametrize(
    ("key", "old", "field"),
    [
        pytest.param(*COUNTED, "UUIDv7Field", marks=no_mysql),
        pytest.param(*COUNTED, "SnowflakeField", marks=no_mysql),
        (*RANDOM, "UUIDv7Field"),
    ],
)
def test_a_condition_only_on_whether_keys_are_equal_or_null(depot, key, old, field):
    condition = '~Q(parent=F("id")) | Q(parent=None)'
    depot.write(TREE.format(key=key, condition=condition), BRANCHES)
    depot.write(MOVED_TREE.format(field=field, old=old), atomic=False)
    for to in ("0002", "0001", "0002"):
        depot.migrate(to)
        branches = depot.model("Branch").objects.filter(parent__isnull=False)
        with pytest.raises(IntegrityError), transaction.atomic():
            branches.update(parent=F("id"))


ONE_OF = 'Func(Value(None), F("id"), {}, output_field={}())'
COALESCED, OTHER = (
    ONE_OF.format('function="COALESCE"', "UUIDField"),
    ONE_OF.format('template="NULLIF(%(expressions)s) IS NULL"', "BooleanField"),
)


@pytest.mark.parametrize(
    "condition",
    [
        'Q(parent__lt=F("id")) | Q(parent__gte=F("id")) | Q(parent=None)',
        f'~Q(models.lookups.Exact({COALESCED}, F("parent")))',
        OTHER,
    ],
)
def test_a_condition_on_the_values_of_keys(depot, condition):
    key, old = RANDOM
    depot.write(TREE.format(key=key, condition=condition), BRANCHES)
    depot.write(MOVED_TREE.format(field="UUIDv7Field", old=old), atomic=False)
    with pytest.raises(CommandError, match="whose values change"):
        depot.migrate()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="its integers have 64 bits")
def test_a_key_without_room_in_the_type_of_its_field(depot):
    """Such as one of an unsigned column, which `inspectdb` takes for an AutoField."""
    small.create(depot)
    narrow = 'AlterField("Customer", "id", AutoField(primary_key=True))'
    depot.write(f"SeparateDatabaseAndState(state_operations=[{narrow}]),")
    execute(
        "INSERT INTO depot_customer (id, name, created_at) "
        "SELECT 3000000000, 'z', created_at FROM depot_customer WHERE name = 'e'"
    )
    small.write_move(depot, options='created_from="created_at"')
    said = depot.refusal().splitlines()
    assert said == [
        "No key was moved.",
        "depot_customer.id has keys above 2147483647, which AutoField can't hold: make it a "
        "BigAutoField before the move, by makemigrations and migrate, and run this again",
    ]


CODE = "CharField(max_length=9, primary_key=True, default=code{})"
COLLATIONS = {"sqlite": "nocase", "postgresql": "any_case"}
IN_ANY_CASE = """CREATE COLLATION IF NOT EXISTS any_case
(provider = icu, locale = 'und-u-ks-level2', deterministic = false)"""


def test_a_foreign_key_that_spells_a_text_in_another_case(depot):
    """The database compares them as equal, and the columns of a move may not."""
    if connection.vendor == "postgresql":
        execute(IN_ANY_CASE)
    own = COLLATIONS.get(connection.vendor)
    small.create(depot, CODE.format(f", db_collation={own!r}" if own else ""), before=CODES)
    execute("UPDATE depot_order SET customer_id = UPPER(customer_id) WHERE name < 'c'")
    small.write_move(depot, options=OLD_CODE)
    assert depot.refusal().splitlines() == [
        "No key was moved.",
        "2 rows of depot_order.customer_id with a key of depot_customer in another spelling, such "
        "as another case, which the database compares as equal: write them as the keys are, and "
        "run this again",
    ]
    customer = "SELECT id FROM depot_customer c WHERE c.name = depot_order.name"
    execute(f"UPDATE depot_order SET customer_id = ({customer})")
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER


def test_a_text_key_that_is_longer_than_that_of_its_field(depot):
    small.create(depot, CODE.format(""), before=CODES)
    narrow = f'AlterField("Customer", "id", {CODE.format("")})'.replace("9", "4")
    depot.write(f"SeparateDatabaseAndState(state_operations=[{narrow}]),", CODES)
    small.write_move(depot, options=OLD_CODE)
    assert depot.refusal().splitlines() == [
        "No key was moved.",
        "depot_customer.id has a key of 5 characters, and max_length=4: correct the model before "
        "the move, by makemigrations and migrate, and run this again",
    ]


@mysql_only
def test_a_text_key_of_another_collation_than_new_columns(depot):
    small.create(depot, CODE.format(""), before=CODES)
    before = collation_of(connection, "depot_customer")
    execute("ALTER TABLE depot_customer COLLATE utf8mb4_bin")
    small.write_move(depot, options=OLD_CODE)
    advice = f"ALTER TABLE `depot_customer` COLLATE {before}"
    assert depot.refusal().splitlines() == [
        "No key was moved.",
        f"depot_customer.id has the collation {before}, and new columns of the table utf8mb4_bin. "
        f"Run this, which changes no row, and then the command again: {advice}",
    ]
    execute(advice)
    depot.migrate()
    depot.migrate("0001_step")
    assert small.names(depot) == [*"edcba"]


def test_keys_that_were_not_kept_do_not_come_back(depot):
    small.create(depot)
    small.write_move(depot, options='created_from="created_at"')
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    depot.write("AddField('Customer', 'later', IntegerField(null=True)),")
    depot.migrate()
    assert depot.refusal("0001_step") == (
        "Nothing was migrated.\n"
        "depot.0002_step can't be undone: the old keys of depot.Customer were not kept, or were "
        "removed since, and only a backup has them. To fill their field, undo its removal alone; "
        "then migrate again."
    )
    assert depot.applied()[-1] == "0003_step"


def test_old_keys_that_were_removed_since_do_not_come_back(depot, small_move):
    depot.write("RemoveField('Customer', 'old_id'),")
    depot.migrate()
    assert "can't be undone: the old keys of depot.Customer" in depot.refusal("0001_step")
    assert depot.applied()[-1] == "0003_step"
    depot.migrate("0002_step")
    numbers = {name: number for number, name in enumerate(small.IN_ORDER_OF_KEYS, 1)}
    for customer in depot.model("Customer").objects.all():
        customer.old_id = numbers[customer.name]
        customer.save()
    depot.migrate("0001_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS


def test_old_keys_that_were_removed_before_another_move(depot, small_move):
    """The second move keeps the keys of the first one, which is undone after it."""
    depot.write("RemoveField('Customer', 'old_id'),")
    depot.migrate()
    old = "UUIDv7Field(null=True, unique=True, editable=False)"
    small.write_move(depot, "ULIDField(primary_key=True)", f'created_from="created_at", old={old}')
    depot.migrate()
    refused = "No key was moved.\nno row of depot.Customer has its old key in old_id any more"
    assert depot.refusal("0001_step").startswith(refused)
    assert depot.applied()[-1] == "0002_step"
    assert small.names(depot) == small.IN_ORDER


@pytest.mark.parametrize(
    "later",
    [
        "RenameModel('Customer', 'Client'),",
        "RenameModel('Customer', 'Client'), RenameField('Client', 'old_id', 'number'),",
    ],
)
def test_a_model_that_was_renamed_since(depot, small_move, later):
    depot.write(later)
    depot.migrate()
    depot.migrate("0001_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS


def test_old_keys_of_a_renamed_model_that_were_removed_since(depot, small_move):
    """The move itself refuses it."""
    depot.write("RenameModel('Customer', 'Client'), RemoveField('Client', 'old_id'),")
    depot.migrate()
    said = depot.refusal("0001_step")
    assert said.startswith("No key was moved.\nno row of depot.Customer has its old key in old_id")
    depot.migrate()
    assert set(small.IN_ORDER) == set(depot.model("Client").objects.values_list("name", flat=True))


@pytest.mark.parametrize("later", ["", "DeleteModel('Order'), DeleteModel('Customer'),"])
def test_no_old_key_is_missed_without_rows(depot, small_move, later):
    depot.write(later)
    depot.migrate()
    if not later:
        execute("DELETE FROM depot_order", "DELETE FROM depot_customer")
    depot.migrate("0001_step")
    assert depot.applied() == ["0001_step"]
    assert depot.model("Customer").objects.create(created_at="2024-05-01T00:00Z").pk < 9


def test_no_old_key_is_missed_in_a_table_that_had_no_row(depot):
    depot.write(small.MODELS.format(key="BigAutoField(primary_key=True)"))
    small.write_move(depot)
    depot.write("RemoveField('Customer', 'old_id'),")
    depot.migrate()
    depot.migrate("0001_step")
    assert depot.applied() == ["0001_step"]


# What a foreign key of the database does on its own stays, and takes no row with it


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


def rules():
    """The foreign keys of the database, with what they do."""
    return [
        (table, each)
        for table, kinds in catalogue("depot").items()
        for kind, found in kinds.items()
        for each in found
        if kind == "foreign key" or "FOREIGN KEY" in each
    ]


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


# A move that is stopped after its new keys were filled, and whose migration is then edited

EDITS = {
    "scheme": ("ULIDField(primary_key=True)", 'created_from="created_at"'),
    "type": ("SnowflakeField(primary_key=True)", 'created_from="created_at"'),
    "storage": ('UUIDv7Field(primary_key=True, storage="char36")', 'created_from="created_at"'),
    "source": (
        "UUIDv7Field(primary_key=True)",
        'created_from="pk", start="2020-01-01T00:00:00Z", end="2021-01-01T00:00:00Z"',
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_keys_are_those_of_the_edited_migration(depot, edit):
    field, source = EDITS[edit]
    small.create(depot)
    small.write_move(depot)
    stop_before(depot, NOTE, "0002_step")
    depot.names.pop()
    small.write_move(depot, field=field, options=f"{source}, old={small.OLD}")
    depot.migrate()
    connection.check_constraints()
    wanted = small.IN_ORDER if edit != "source" else ["e", "d", "c", "b", "a"]
    assert small.names(depot) == wanted
    key = depot.model("Customer")._meta.pk
    assert all(key.scheme.created_at(each.pk) for each in depot.model("Customer").objects.all())


BY_BACKFILL = 'created_from="created_at", on_null="now"'
"""With that, the map is filled by a backfill."""


def left_over():
    names = connection.introspection.table_names()
    return [each for each in names if each.startswith("sortable_ids_")]


def test_new_keys_of_deleted_rows_are_those_of_the_edited_migration(filled):
    depot, before = filled.depot, filled.keys()
    filled.write_move()
    stop_before(depot, NOTE, "0002_step")
    depot.names.pop()
    filled.write_move("SnowflakeField", BY_BACKFILL)
    depot.migrate()
    assert is_one_to_one(before, filled.keys())
    assert {type(filled.key(name)) for name in "bce"} == {int}
    assert left_over() == [DELETED]
    depot.migrate("0001_step")
    assert filled.keys() == before


OLD_FIELDS = {"another": "BigIntegerField({})", "none": ""}


@pytest.mark.parametrize("edit", OLD_FIELDS)
def test_copies_of_old_keys_are_those_of_the_edited_migration(filled, edit):
    depot, before = filled.depot, filled.keys()
    filled.write_move(old="IntegerField({})")
    stop_before(depot, NOTE, "0002_step")
    depot.names.pop()
    filled.write_move(old=OLD_FIELDS[edit])
    depot.migrate()
    assert is_one_to_one(before, filled.keys())
    for table in ("depot_historicalcustomer", "depot_customer"):
        column = tables.column_info(connection, table, "old_id")
        assert (column and column.kind) == ("bigint" if OLD_FIELDS[edit] else None)
    if OLD_FIELDS[edit]:
        copies = filled.objects("HistoricalCustomer")
        assert {each.pk: str(each.old_id) for each in copies.all()} == {
            row: key for (name, row), key in before.items() if name == "HistoricalCustomer"
        }
        depot.migrate("0001_step")
        assert filled.keys() == before


@mysql_only
def test_a_move_that_began_to_change_tables_is_completed_as_it_was(filled):
    depot, before = filled.depot, filled.keys()
    filled.write_move(old="IntegerField({})")
    stop_before(depot, RENAMES, "0002_step")
    depot.names.pop()
    filled.write_move(old="BigIntegerField({})")
    with pytest.raises(BackfillError, match="restore its migration as it was, and run that again"):
        depot.migrate()
    depot.names.pop()
    filled.write_move(old="IntegerField({})")
    depot.migrate()
    assert is_one_to_one(before, filled.keys())


# A move that waits for another transaction says so, and lets others through


on_a_server = pytest.mark.skipif(connection.vendor == "sqlite", reason="it has one writer")
HELD = {
    "read": "SELECT name FROM depot_customer",
    "updated": "UPDATE depot_customer SET name = 'y' WHERE name = 'a'",
    "updated child": "UPDATE depot_order SET name = 'y' WHERE name = 'a'",
}


@on_a_server
@pytest.mark.parametrize("sql", HELD.values(), ids=HELD)
def test_an_idle_transaction_is_waited_for(depot, small_move, monkeypatch, capsys, sql):
    with open_transaction(sql) as other:
        monkeypatch.setattr(transactions.time, "sleep", lambda _: other.rollback())
        depot.migrate()
    assert "Waiting for a lock: " in capsys.readouterr().err
    assert small.names(depot) == small.IN_ORDER


# The limit of statements


ADDED = """\
AddSortableID("Customer", "public", UUIDv7Field(unique=True), created_from="created_at"),
ConstrainSortableID("Customer", "number", SnowflakeField(null=True, unique=True)),
"""


@on_a_server
@pytest.mark.parametrize("operations", ["a move", "others"])
def test_the_limit_of_statements_is_lifted(depot, limit_of_sessions, operations):
    """Also after the fill, which has a session of its own on MariaDB and MySQL."""
    read, lifted, limit = limit_of_sessions
    small.create(depot, more="AddField('Customer', 'number', SnowflakeField(null=True)),")
    if operations == "a move":
        small.write_move(depot)
    else:
        depot.write(ADDED, atomic=False)
    seen = []
    changes = r"^(ALTER|CREATE|INSERT|UPDATE|RENAME).*depot_"
    with on_statement(changes, lambda: seen.append(execute(read)[0][0])):
        depot.migrate()
        depot.migrate("0001_step")
    assert len(seen) > 5
    assert set(seen) == {lifted}
    assert execute(read)[0][0] == limit
