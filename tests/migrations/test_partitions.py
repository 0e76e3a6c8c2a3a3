"""Tables in partitions, in which no id is unique by itself unless it is the partition key."""

import pytest
from django.core.management.base import CommandError
from django.db import IntegrityError, connection

from tests.marks import own_tables

from .test_constrain import Killed, killed

pytestmark = [
    own_tables,
    pytest.mark.skipif(connection.vendor == "sqlite", reason="has no partitions"),
]

STATE = """\
SeparateDatabaseAndState(state_operations=[
    CreateModel("Order", [
        ("id", BigIntegerField(primary_key=True)),
        ("name", CharField(max_length=9)),
        ("public", {}),
    ]),
]),
"""
CONSTRAIN = 'ConstrainSortableID("order", "public", SnowflakeField(unique=True)),'
KEYS = {"id": "id", "public": "public", "an expression": "(id + public)"}
IDS = [1001, 2002, 3003, 4004, 5005]


def execute(sql, *parameters):
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        return cursor.fetchall() if cursor.description else ()


def make(depot, key, kind="bigint", field="SnowflakeField(null=True)"):
    """The table in partitions of that key, with five rows."""
    columns = f"id bigint NOT NULL, name varchar(9) NOT NULL, public {kind} NULL"
    if connection.vendor == "mysql":
        execute(f"CREATE TABLE depot_order ({columns}) PARTITION BY HASH ({key}) PARTITIONS 3")
    else:
        execute(f"CREATE TABLE depot_order ({columns}) PARTITION BY HASH ({key})")
        execute(
            "CREATE TABLE depot_part0 PARTITION OF depot_order "
            "FOR VALUES WITH (MODULUS 2, REMAINDER 0)"
        )
        execute(
            f"CREATE TABLE depot_part1 PARTITION OF depot_order "
            f"FOR VALUES WITH (MODULUS 2, REMAINDER 1) PARTITION BY HASH ({key})"
        )
        execute(
            'CREATE TABLE "depot_part 10" PARTITION OF depot_part1 '
            "FOR VALUES WITH (MODULUS 1, REMAINDER 0)"
        )
    for n, (name, public) in enumerate(zip("abcde", IDS, strict=True)):
        execute("INSERT INTO depot_order (id, name, public) VALUES (%s, %s, %s)", n, name, public)
    depot.write(STATE.format(field))
    depot.migrate()


def nullable():
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, "depot_order")
    return {each.name: each.null_ok for each in described}["public"]


def unique():
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, "depot_order")
    ours = {name: each for name, each in found.items() if each["columns"] == ["public"]}
    return [name for name, each in ours.items() if each["unique"]]


def migrate(depot, *to):
    """MariaDB and MySQL change the partition key only in a copy, by a statement that is printed."""
    try:
        depot.migrate(*to)
    except CommandError as error:
        if connection.vendor != "mysql":
            raise
        _, _, statement = str(error).partition("and migrate again: ")
        execute(statement)
        depot.migrate(*to)


@pytest.mark.parametrize("key", ["id", "an expression"])
def test_what_the_partitions_refuse_is_said_before(depot, key):
    make(depot, KEYS[key])
    depot.write(CONSTRAIN, atomic=False)
    what = "an expression" if key != "id" and connection.vendor == "postgresql" else "id"
    with pytest.raises(
        CommandError,
        match=rf"^depot\.Order\.public: depot_order is partitioned by {what}, .* public can't be "
        r"unique by itself.* ConstrainSortableID without unique=True",
    ):
        depot.migrate()
    assert nullable()
    assert unique() == []


def test_one_that_is_added_is_refused_before_it_is(depot):
    make(depot, "id")
    depot.write('AddSortableID("order", "code", SnowflakeField(unique=True)),', atomic=False)
    with pytest.raises(CommandError, match="code can't be unique by itself"):
        depot.migrate()
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, "depot_order")
    assert "code" not in [each.name for each in described]


def test_not_null_alone_is_made(depot):
    make(depot, "id")
    depot.write('ConstrainSortableID("order", "public", SnowflakeField()),', atomic=False)
    depot.migrate()
    assert not nullable()
    depot.migrate(depot.names[0])
    assert nullable()


@pytest.mark.parametrize("index", ["", ", db_index=True"])
def test_the_partition_key_itself_becomes_unique(depot, index):
    make(depot, "public", field=f"SnowflakeField(null=True{index})")
    if index:
        execute("CREATE INDEX depot_order_public_1234 ON depot_order (public)")
    depot.write(CONSTRAIN, atomic=False)
    migrate(depot)
    assert not nullable()
    assert len(unique()) == 1
    with pytest.raises(IntegrityError):
        execute("INSERT INTO depot_order (id, name, public) VALUES (9, 'f', %s)", IDS[3])
    migrate(depot, depot.names[0])
    assert nullable()
    assert unique() == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="one statement elsewhere")
def test_text_that_is_the_partition_key_has_its_second_index_and_goes_on_after_a_crash(depot):
    make(depot, "public", "varchar(26)", 'ULIDField(null=True, storage="varchar")')
    step = 'ConstrainSortableID("order", "public", ULIDField(unique=True, storage="varchar")),'
    depot.write(step, atomic=False)
    for number in range(1, 30):
        try:
            with killed(number, after=True):
                depot.migrate()
            break
        except Killed:
            connection.close()
    assert number > 3
    assert execute(
        "SELECT count(*) FROM pg_index JOIN pg_class ON oid = indexrelid "
        "WHERE relname LIKE 'depot%_public_%' AND indisvalid"
    ) == [(8,)]
    assert not nullable()
    assert len(unique()) == 1
