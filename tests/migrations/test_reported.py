"""What the report says of a column while models, migrations and the database differ."""

import pytest
from django.db import connection

from django_sortable_ids.fields import ULIDField, UUIDv7Field
from django_sortable_ids.management import reporting
from tests.marks import own_tables
from tests.primary_keys.stops import RECORDS, stop_before
from tests.support import EVERYTHING, execute, limited_to, printed

from .conftest import modelled
from .sources import ROWS, create_orders
from .test_swap import prepare

pytestmark = own_tables


def reported(public, **others):
    """The line of ``public`` in a model with these fields and the table of the depot."""
    with modelled(reporting, "depot_order", public=public, **others):
        report = printed("backfill_ids")
    line = next(each for each in report.splitlines() if "Order.public" in each)
    return " ".join(line.split()[1:])


def test_a_swap_that_is_pending_or_not_recorded_is_migrated(depot):
    def swapped():
        return reported(UUIDv7Field(unique=True), new=ULIDField(unique=True))

    prepare(depot, 'ULIDField(storage="binary", unique=True)', "UUIDv7Field(unique=True)")
    needs = "uuid7 5 needs ids of UUIDv7"
    assert swapped() == f"{needs} migrate depot"
    depot.migrate()
    assert swapped() == "uuid7 5 complete"
    stop_before(depot, RECORDS, "0001")
    # Which names the migration.
    assert swapped() == f"{needs} check --database default"


@pytest.mark.parametrize(
    ("definition", "field", "found"),
    [
        ("ULIDField(unique=True)", ULIDField(unique=True), "complete"),
        ("ULIDField(null=True)", ULIDField(null=True), "needs NOT NULL and unique"),
        ("ULIDField(unique=True, null=True)", ULIDField(unique=True), "needs NOT NULL"),
        ("ULIDField()", ULIDField(unique=True), "needs unique"),
        ("ULIDField(null=True)", ULIDField(unique=True), "needs NOT NULL and unique"),
    ],
)
def test_constraints_of_an_empty_table(depot, definition, field, found):
    create_orders(depot, public=definition)
    step = "" if found == "complete" else " backfill_ids depot.Order.public --verify"
    assert reported(field) == f"ulid 0 {found}{step}"


def test_a_table_that_the_database_has_otherwise_than_the_migrations(depot):
    create_orders(depot, ROWS, public="ULIDField(null=True)")
    depot.write(
        'SeparateDatabaseAndState(state_operations=[AlterField("order", "public", '
        "ULIDField(unique=True))]),"
    )
    depot.migrate()
    field = ULIDField(unique=True)
    needs = "ulid 5 needs NOT NULL and unique"
    assert reported(field) == f"{needs} backfill_ids depot.Order.public --verify"
    # What --write-migration writes.
    depot.write(
        'ConstrainSortableID("order", "public", ULIDField(null=True)), '
        'ConstrainSortableID("order", "public", ULIDField(unique=True)),',
        atomic=False,
    )
    assert reported(field) == f"{needs} migrate depot"
    depot.migrate()
    assert reported(field) == "ulid 5 complete"


def test_a_table_that_is_gone(depot):
    """Migrations that are not applied create one; else makemigrations tells whether one lacks."""
    depot.write('CreateModel("Order", [("public", ULIDField(primary_key=True))]),')
    assert reported(ULIDField(primary_key=True)) == "ulid no table migrate depot"
    depot.migrate()
    execute("DROP TABLE depot_order")
    assert reported(ULIDField(primary_key=True)) == "ulid no table makemigrations depot"


def test_a_view(depot):
    create_orders(depot, ROWS, public="ULIDField(unique=True)")
    execute(
        "ALTER TABLE depot_order RENAME TO depot_hidden",
        "CREATE VIEW depot_order AS SELECT * FROM depot_hidden",
    )
    try:
        assert reported(ULIDField(unique=True)) == "ulid view"
    finally:
        execute("DROP VIEW depot_order", "ALTER TABLE depot_hidden RENAME TO depot_order")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="its roles")
def test_a_table_that_the_user_may_not_read(depot):
    create_orders(depot, ROWS, public="ULIDField(unique=True)")
    with limited_to(*EVERYTHING, without="depot_order"):
        assert reported(ULIDField(unique=True)) == (
            "ulid can't be read: permission denied for table depot_order"
        )
