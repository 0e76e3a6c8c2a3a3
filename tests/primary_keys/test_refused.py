"""What can't be moved is named before a row is written."""

import pytest
from django.core.management.base import CommandError
from django.db import connection

from tests.marks import own_tables
from tests.support import execute

from . import small

pytestmark = own_tables

PLAIN = ("e", "d", "c", "b", "a")


def refusal(depot):
    """The lines after the first; nothing has changed."""
    with pytest.raises(CommandError) as error:
        depot.migrate()
    assert small.names(depot) == list(PLAIN)
    assert depot.applied() == [each for each in depot.names if "move" not in each][:-1]
    first, *others = str(error.value).splitlines()
    assert first == "No key was moved."
    return others


FILL = "INSERT INTO depot_review SELECT name, id FROM depot_customer"


@pytest.mark.parametrize("rows", [[FILL], []], ids=["rows", "empty"])
def test_a_foreign_key_that_no_model_has(depot, rows):
    """Also without rows: MariaDB and MySQL would refuse it after the tables are exchanged."""
    small.create(depot)
    execute(
        "CREATE TABLE depot_review (name varchar(9), customer_id bigint, "
        "FOREIGN KEY (customer_id) REFERENCES depot_customer (id))",
        *rows,
    )
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
    small.create(depot)
    parent = "depot_customer" if connection.vendor == "mysql" else "Depot_CUSTOMER"
    execute(
        "CREATE TABLE depot_review (name varchar(9), Buyer bigint, "
        f"FOREIGN KEY (BUYER) REFERENCES {parent} (ID))"
    )
    execute("INSERT INTO depot_review SELECT name, id FROM depot_customer")
    small.write_move(depot)
    [problem] = refusal(depot)
    assert problem.lower().startswith("depot_review.buyer refers to depot.customer, and the ")


def test_a_foreign_key_that_no_model_has_is_moved_if_it_is_listed(depot):
    small.create(depot)
    execute(
        "CREATE TABLE depot_review (name varchar(9), customer_id bigint, "
        "FOREIGN KEY (customer_id) REFERENCES depot_customer (id))"
    )
    execute("INSERT INTO depot_review SELECT name, id FROM depot_customer")
    listed = [small.REFERENCE, ("depot_review", "customer_id", "depot.Customer")]
    small.write_move(depot, references=listed)
    depot.migrate()
    connection.check_constraints()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT r.name FROM depot_review r JOIN depot_customer c ON c.id = r.customer_id "
            "WHERE c.name = r.name"
        )
        assert len(cursor.fetchall()) == len(PLAIN)


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


def test_a_condition_that_depends_on_a_key(depot):
    small.create(
        depot,
        more="""AddConstraint("Order", CheckConstraint(
            condition=Q(customer_id__gt=0), name="depot_positive"
        )),""",
    )
    small.write_move(depot)
    [problem] = refusal(depot)
    assert "customer_id" in problem
    assert problem.endswith("whose values change: remove it, migrate, and add it again")


def test_keys_that_were_not_kept_do_not_come_back(depot):
    small.create(depot)
    small.write_move(depot, options='created_from="created_at"')
    depot.migrate()
    assert small.names(depot) == small.IN_ORDER
    depot.write("AddField('Customer', 'later', IntegerField(null=True)),")
    depot.migrate()
    assert depot.refusal("0001_step") == (
        "Nothing was migrated.\n"
        "depot.0002_step can't be undone: the old keys of depot.Customer were not kept, and only a "
        "backup has them."
    )
    assert depot.applied()[-1] == "0003_step"


@pytest.mark.parametrize(
    "rename",
    [
        "RenameField('Customer', 'old_id', 'number'),",
        f"RenameMovedKey('Customer', [('old_id', 'number', {small.OLD})]),",
    ],
    ids=["of Django", "of a key"],
)
def test_old_keys_that_were_removed_since_do_not_come_back(depot, rename):
    small.create(depot)
    small.write_move(depot)
    depot.write(rename)
    depot.write("RemoveField('Customer', 'number'),")
    depot.migrate()
    assert depot.refusal("0001_step") == (
        "Nothing was migrated.\n"
        "depot.0002_step can't be undone: depot.0004_step removed number of depot.Customer, so "
        "only a backup has the old keys. If you have one, undo depot.0004_step alone, fill number, "
        "and migrate again."
    )
    assert depot.applied()[-1] == "0004_step"
    depot.migrate("0003_step")
    numbers = {name: number for number, name in enumerate(small.IN_ORDER_OF_KEYS, 1)}
    for customer in depot.model("Customer").objects.all():
        customer.number = numbers[customer.name]
        customer.save()
    depot.migrate("0001_step")
    assert small.names(depot) == small.IN_ORDER_OF_KEYS


def test_no_old_key_is_missed_in_a_table_that_had_no_row(depot):
    depot.write(small.MODELS.format(key="BigAutoField(primary_key=True)"))
    small.write_move(depot)
    depot.write("RemoveField('Customer', 'old_id'),")
    depot.migrate()
    depot.migrate("0001_step")
    assert depot.applied() == ["0001_step"]
