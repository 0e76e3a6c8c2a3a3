"""What earlier steps of the plan rename: the guard looks at the tables as they are now."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.combinations import in_one_case
from tests.marks import own_tables
from tests.support import columns

from .sources import CREATE, CREATE_WITH_ROWS, FIVE_ROWS, fill

pytestmark = own_tables

NO_ID = "3 rows without an id"
HAS_ROWS = "the table has rows"

# Steps of one plan, and what its last one is refused for.
PLANS = {
    "model, and its name goes to another": (
        [
            'RenameModel("Order", "Sale"),',
            'CreateModel("Order", [("id", BigAutoField(primary_key=True))]),',
            'AddField("order", "public", ULIDField()),',
            'AlterField("sale", "public", ULIDField()),',
        ],
        rf"^Nothing was migrated.\ndepot\.0007_step, depot\.sale\.public: {NO_ID}[^\n]*$",
    ),
    "table": (
        [
            'AlterModelTable("order", "depot_sales"),',
            'AddField("order", "other", ULIDField()),',
        ],
        rf"depot\.order\.other: {HAS_ROWS}",
    ),
    "table, back to its usual name": (
        [
            'AlterModelTable("order", "depot_sales"), AlterModelTable("order", None),',
            'AlterField("order", "public", ULIDField()),',
        ],
        rf"depot\.order\.public: {NO_ID}",
    ),
    "field, and its name goes to another": (
        [
            'RenameField("order", "public", "code"),',
            'AddField("order", "public", ULIDField(null=True)),',
            'AlterField("order", "code", ULIDField()),',
        ],
        rf"depot\.order\.code: {NO_ID}",
    ),
    "column": (
        [
            'AlterField("order", "public", ULIDField(null=True, db_column="code")),',
            'AlterField("order", "public", ULIDField(db_column="code")),',
        ],
        rf"depot\.order\.public: {NO_ID}",
    ),
    "column and null at once": (
        ['AlterField("order", "public", ULIDField(db_column="code")),'],
        rf"depot\.order\.public: {NO_ID}",
    ),
    "model and field": (
        [
            'RenameField("order", "public", "code"), RenameModel("Order", "Sale"),',
            'RenameField("sale", "code", "number"),',
            'AlterField("sale", "number", ULIDField()),',
        ],
        rf"depot\.sale\.number: {NO_ID}",
    ),
    "nothing, in the database only": (
        [
            'SeparateDatabaseAndState(database_operations=[AddField("order", "x", ULIDField())]),',
        ],
        rf"depot\.order\.x: {HAS_ROWS}",
    ),
    "field, in the database only": (
        [
            """SeparateDatabaseAndState(
                database_operations=[
                    RenameField("order", "public", "code"),
                    AlterField("order", "code", ULIDField()),
                ],
                state_operations=[
                    RemoveField("order", "public"), AddField("order", "code", ULIDField()),
                ],
            ),""",
        ],
        rf"depot\.order\.code: {NO_ID}",
    ),
    "table, and the model moves with it": (
        [
            """SeparateDatabaseAndState(
                database_operations=[AlterModelTable("order", "depot_sale")],
                state_operations=[
                    DeleteModel("Line"),
                    DeleteModel("Order"),
                    CreateModel("Sale", [
                        ("id", BigAutoField(primary_key=True)),
                        ("public", ULIDField(null=True)),
                    ]),
                ],
            ),""",
            'AlterField("sale", "public", ULIDField()),',
        ],
        rf"depot\.sale\.public: {NO_ID}",
    ),
}

# Steps of one plan that touch no row with an id.
FINE = {
    "in the state only": [
        'SeparateDatabaseAndState(state_operations=[AlterField("order", "public", ULIDField())]),',
    ],
    "a new model of the plan": [
        'CreateModel("Place", [("id", BigAutoField(primary_key=True))]),',
        'AddField("place", "public", ULIDField()),',
    ],
    "a model that the plan deletes and makes again": [
        'DeleteModel("Line"), CreateModel("Line", [("id", BigAutoField(primary_key=True))]),',
        'AddField("line", "public", ULIDField()),',
    ],
    "other fields": [
        'AlterField("order", "name", CharField(max_length=20)),',
        'AddField("order", "x", IntegerField(null=True)),',
        'RenameField("order", "public", "code"),',
        'AlterField("order", "code", ULIDField(null=True, verbose_name="Code")),',
    ],
    "ids of the database only": [
        """SeparateDatabaseAndState(
            database_operations=[AddField("order", "x", ULIDField(null=True))],
            state_operations=[AddField("order", "x", ULIDField(null=True))],
        ),""",
    ],
}


@in_one_case(("steps", "refusal"), PLANS.values())
def test_renamed_and_refused(half_filled, steps, refusal):
    before = half_filled.column("depot_order", "public")
    for step in steps:
        half_filled.write(step)
    try:
        with pytest.raises(CommandError, match=refusal):
            half_filled.migrate()
    finally:
        half_filled.take_back(len(steps))
    assert half_filled.applied()[-1] == "0003_step"
    assert half_filled.column("depot_order", "public") == before


@pytest.mark.parametrize("steps", FINE.values(), ids=FINE)
def test_not_refused(half_filled, steps):
    for step in steps:
        half_filled.write(step)
    half_filled.migrate()
    assert half_filled.applied() == half_filled.names


def test_a_column_that_the_plan_adds_in_its_own_way(half_filled):
    """As documentation of Django advises for tables in use."""
    half_filled.write(
        """SeparateDatabaseAndState(
            database_operations=[RunPython(add)],
            state_operations=[AddField("order", "x", UUIDv7Field(null=True))],
        ),""",
        """
def add(apps, schema_editor):
    field = UUIDv7Field(null=True)
    field.set_attributes_from_name("x")
    schema_editor.add_field(apps.get_model("depot", "Order"), field)
""",
    )
    half_filled.write('AlterField("order", "x", UUIDv6Field(null=True)),')
    half_filled.migrate()
    assert half_filled.applied() == half_filled.names


class Elsewhere:
    """The tables of the depot are in another database."""

    def allow_migrate(self, db, app_label, **hints):
        return app_label != "depot"


@pytest.mark.parametrize("kind", ["routed", "unmanaged"])
def test_a_table_that_no_migration_changes(half_filled, settings, kind):
    """An older copy of it has rows."""
    if kind == "routed":
        settings.DATABASE_ROUTERS = [Elsewhere()]
    else:
        half_filled.write('AlterModelOptions("order", {"managed": False}),')
    before = columns("depot_order")
    half_filled.write('AddField("order", "x", ULIDField()),')
    half_filled.write('AlterField("order", "public", ULIDField()),')
    half_filled.migrate()
    assert half_filled.applied() == half_filled.names
    assert columns("depot_order") == before


# Which plans the guard looks at, and how it is turned off


NOT_NULL = 'AddField("order", "public", ULIDField()),'


def test_nothing_of_a_refused_plan_is_run_and_every_refusal_is_shown_at_once(depot, five_rows):
    depot.write('CreateModel("Place", [("id", BigAutoField(primary_key=True))]),')
    depot.write(NOT_NULL)
    depot.write('AddField("line", "public", UUIDv7Field()),')
    first, second, third = depot.refusal().splitlines()
    assert first == "Nothing was migrated."
    assert second.startswith("depot.0003_step, depot.order.public: the table has rows")
    assert third.startswith("depot.0004_step, depot.line.public: the table has rows")
    assert depot.applied() == ["0001_step"]
    assert "depot_place" not in connection.introspection.table_names()
    depot.migrate("0002")
    assert depot.applied() == ["0001_step", "0002_step"]


def test_plans_backwards_are_left_alone(depot):
    """Back to NOT NULL: the database refuses by itself what it can't do."""
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.write('AddField("order", "public", ULIDField(null=True, unique=True)),')
    depot.write("RunPython(fill, RunPython.noop),", fill("abcde"))
    depot.write('AlterField("order", "public", ULIDField(unique=True)),')
    depot.migrate()
    depot.write('AlterField("order", "public", ULIDField(null=True, unique=True)),')
    depot.write('RemoveField("order", "public"),')
    depot.migrate("0005")
    before = depot.column("depot_order", "public")
    depot.migrate("0004")
    depot.migrate("0001")
    assert depot.applied() == ["0001_step"]
    assert len(set(before)) == 5


def test_a_plan_without_ids_asks_nothing_of_the_tables(depot, five_rows):
    depot.write("RunPython(RunPython.noop, RunPython.noop),")
    with CaptureQueriesContext(connection) as queries:
        depot.migrate()
    assert not [query["sql"] for query in queries if "depot_order" in query["sql"]]


def test_faked_migrations_look_like_real_ones_and_need_the_setting(depot, five_rows, settings):
    depot.write(NOT_NULL)
    with pytest.raises(CommandError, match="the table has rows"):
        depot.migrate(fake=True)
    settings.SORTABLE_IDS = {"GUARD_MIGRATIONS": False}
    depot.migrate(fake=True)
    assert depot.applied() == ["0001_step", "0002_step"]


def test_a_wrong_setting_is_told(depot, settings):
    depot.write(CREATE)
    depot.write(NOT_NULL)
    settings.SORTABLE_IDS = {"GUARD_MIGRATION": False}
    with pytest.raises(ImproperlyConfigured, match="no key 'GUARD_MIGRATION'"):
        depot.migrate()
