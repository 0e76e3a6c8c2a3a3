"""A column that becomes one of ids, or that may not be NULL any longer."""

import contextlib
import re

import pytest
from django.core.management.base import CommandError
from django.db import DatabaseError, connection

from tests.combinations import in_one_case
from tests.marks import own_tables

from .sources import CREATE_WITH_ROWS, FIELDS, FIVE_ROWS, field, fill

pytestmark = own_tables

TO_NOT_NULL = {
    "not null": 'AlterField("order", "public", ULIDField(unique=True)),',
    "key": """\
        DeleteModel("Line"),
        RemoveField("order", "id"),
        AlterField("order", "public", ULIDField(primary_key=True)),
    """,
}
ADDED = (
    "the same plan adds the column, and this server, which is not in strict mode, would give one "
    "id to all rows that have none. Migrate up to the migration before this one, fill the rows "
    "with `manage.py backfill_ids`, and migrate the rest; or set a strict sql_mode."
)


def types_changed(old, new, road):
    return (
        "the table has rows, and an AlterField changes no value: the column would get another "
        f"type, {new} instead of {old}. {road}"
    )


FILL = (
    "Add a second field with null=True, fill it with `manage.py backfill_ids`, such as "
    "--convert-from place, and swap the two by SwapSortableID."
)
MOVE = (
    "Delete the changes of the key and of a field for the old one, and let `manage.py backfill_ids "
    "depot --primary-key --write-migration` write a migration that moves the key."
)


@contextlib.contextmanager
def sql_mode(mode):
    """A mode of MariaDB and MySQL; the other engines have none, and are always strict."""
    if connection.vendor != "mysql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@sql_mode")
        (before,) = cursor.fetchone()
        cursor.execute("SET SESSION sql_mode = %s", [mode])
        yield
        cursor.execute("SET SESSION sql_mode = %s", [before])


@pytest.mark.parametrize("to_not_null", TO_NOT_NULL.values(), ids=TO_NOT_NULL)
def test_not_null_is_refused_while_rows_are_missing_their_ids(half_filled, to_not_null):
    before = half_filled.column("depot_order", "public")
    half_filled.write(to_not_null)
    assert half_filled.refusal() == (
        "Nothing was migrated.\ndepot.0004_step, depot.order.public: 3 rows without an id: NOT "
        "NULL would fail, or copy one id into all of them. Migrate up to the migration before "
        "this one, fill them with `manage.py backfill_ids`, and migrate the rest; or keep "
        "null=True."
    )
    assert half_filled.column("depot_order", "public") == before


@pytest.mark.parametrize("to_not_null", TO_NOT_NULL.values(), ids=TO_NOT_NULL)
def test_not_null_is_fine_once_all_rows_have_ids(half_filled, to_not_null):
    half_filled.write("RunPython(fill),", fill("cde"))
    half_filled.migrate()
    before = half_filled.column("depot_order", "public")
    half_filled.write(to_not_null)
    half_filled.migrate()
    assert half_filled.column("depot_order", "public") == before
    assert len(set(before)) == 5


@pytest.mark.parametrize("to_not_null", TO_NOT_NULL.values(), ids=TO_NOT_NULL)
def test_a_server_that_fills_with_zeros_is_not_trusted_with_that(depot, five_rows, to_not_null):
    depot.write('AddField("order", "public", ULIDField(null=True, unique=True)),')
    depot.write("RunPython(fill),", fill("a"))
    depot.write(to_not_null)
    is_mysql = connection.vendor == "mysql"
    with sql_mode(""), pytest.raises(CommandError if is_mysql else DatabaseError) as refused:
        depot.migrate()
    expected = f"Nothing was migrated.\ndepot.0004_step, depot.order.public: {ADDED}"
    assert not is_mysql or str(refused.value) == expected


@in_one_case("name", sorted({*FIELDS} - {"SnowflakeField"}))
def test_a_counted_key_never_becomes_one_of_another_type(depot, five_rows, name):
    keys = depot.column("depot_order", "id"), depot.column("depot_line", "order_id")
    depot.write(f'AlterField("order", "id", {field(name, "primary_key=True")}),')
    try:
        refusal = depot.refusal()
    finally:
        depot.take_back()
    start = "Nothing was migrated.\ndepot.0002_step, depot.order.id: "
    kind = re.search(r"(\w+) instead of integer", refusal)[1]
    assert kind in {"uuid", "bytes", "text"}
    assert refusal == start + types_changed("integer", kind, MOVE)
    assert (depot.column("depot_order", "id"), depot.column("depot_line", "order_id")) == keys
    assert depot.applied() == ["0001_step"]


@pytest.mark.parametrize("new", ["SnowflakeField(null=True)", "UUIDv7Field()"])
def test_a_foreign_key_that_becomes_a_column_of_ids(depot, new):
    """Its column has the type of its target and another name than the field."""
    depot.write(CREATE_WITH_ROWS, FIVE_ROWS)
    depot.write('CreateModel("Place", [("id", UUIDv7Field(primary_key=True))]),')
    depot.write('AddField("order", "place", ForeignKey("depot.Place", CASCADE, null=True)),')
    depot.migrate()
    depot.write(f'AlterField("order", "place", {new}),')
    kind = "uuid" if connection.features.has_native_uuid_field else "text"
    reason = (
        types_changed(kind, "integer", FILL)
        if new.startswith("Snowflake")
        else "5 rows without an id: NOT NULL would fail, or copy one id into all of them. Migrate "
        "up to the migration before this one, fill them with `manage.py backfill_ids`, and migrate "
        "the rest; or keep null=True."
    )
    expected = f"Nothing was migrated.\ndepot.0004_step, depot.order.place: {reason}"
    assert depot.refusal() == expected


PLAIN = {
    "bytes or uuid as text": ("ULIDField(null=True)", "CharField(max_length=36, null=True)"),
    "bytes as bytes": ("KSUIDField(null=True)", "BinaryField(null=True)"),
    "a key": ("ULIDField(primary_key=True)", "CharField(max_length=36, primary_key=True)"),
    "a foreign key": ('ForeignKey("depot.Place", CASCADE)', "CharField(max_length=36)"),
    "numbers as floats": ("SnowflakeField(null=True)", "FloatField(null=True)"),
    "hexadecimal": ("UUIDv7Field(null=True)", "CharField(max_length=36, null=True)"),
}
SAME = {
    "text": ('ULIDField(storage="varchar", null=True)', "CharField(max_length=26, null=True)"),
    "a UUID": ("UUIDv7Field(null=True)", "UUIDField(null=True)"),
    "text of a UUID": ('UUIDv7Field(storage="char36")', "CharField(max_length=36)"),
    "a number": ("SnowflakeField(null=True)", "BigIntegerField(null=True)"),
    "a number as text": ("SnowflakeField(null=True)", "CharField(max_length=20, null=True)"),
}


@pytest.fixture
def with_ids(depot):
    """Creates a row with an id in a field, and alters that."""

    def make(old, new):
        name = "id" if "primary_key" in old else "public"
        place = 'CreateModel("Place", [("id", ULIDField(primary_key=True))]),'
        depot.write(f'{place}CreateModel("Order", [("{name}", {old})]),')
        depot.migrate()
        made = depot.model("Place").objects.create()
        place = {"public": made} if "ForeignKey" in old else {}
        made = depot.model("Order").objects.create(**place)
        depot.write(f'AlterField("order", "{name}", {new}),')
        return str(made.public_id if place else getattr(made, name)), name

    return make


@pytest.mark.parametrize("name", PLAIN)
def test_ids_that_another_field_would_misread(depot, with_ids, name):
    if name == "hexadecimal" and connection.features.has_native_uuid_field:
        pytest.skip("its type uuid becomes the usual text")
    shown, column = with_ids(*PLAIN[name])
    said = depot.refusal()
    start = f"depot.0002_step, depot.order.{column}: the table has rows, and an AlterField changes "
    assert start + f"no value: {shown} would be read as " in said
    moves = name in ("a key", "a foreign key")
    road = "depot --primary-key --write-migration`" if moves else "by SwapSortableID"
    assert road in said


@pytest.mark.parametrize("name", SAME)
def test_ids_that_another_field_reads_too(depot, with_ids, name):
    shown, column = with_ids(*SAME[name])
    depot.migrate()
    assert str(getattr(depot.model("Order").objects.get(), column)) == shown
