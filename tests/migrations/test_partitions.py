"""Tables in partitions, in which no id is unique by itself unless it is the partition key."""

import pytest
from django.core.management.base import CommandError
from django.db import IntegrityError, connection

from tests.marks import own_tables
from tests.support import columns, constraints, query

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


def make(depot, key, kind="bigint", field="SnowflakeField(null=True)"):
    """The table in partitions of that key, with five rows."""
    columns = f"id bigint NOT NULL, name varchar(9) NOT NULL, public {kind} NULL"
    if connection.vendor == "mysql":
        query(f"CREATE TABLE depot_order ({columns}) PARTITION BY HASH ({key}) PARTITIONS 3")
    else:
        query(f"CREATE TABLE depot_order ({columns}) PARTITION BY HASH ({key})")
        query(
            "CREATE TABLE depot_part0 PARTITION OF depot_order "
            "FOR VALUES WITH (MODULUS 2, REMAINDER 0)"
        )
        query(
            f"CREATE TABLE depot_part1 PARTITION OF depot_order "
            f"FOR VALUES WITH (MODULUS 2, REMAINDER 1) PARTITION BY HASH ({key})"
        )
        query(
            'CREATE TABLE "depot_part 10" PARTITION OF depot_part1 '
            "FOR VALUES WITH (MODULUS 1, REMAINDER 0)"
        )
    for n, (name, public) in enumerate(zip("abcde", IDS, strict=True)):
        query("INSERT INTO depot_order (id, name, public) VALUES (%s, %s, %s)", n, name, public)
    depot.write(STATE.format(field))
    depot.migrate()


def unique():
    found = constraints("depot_order").items()
    ours = {name: each for name, each in found if each["columns"] == ["public"]}
    return [name for name, each in ours.items() if each["unique"]]


def migrate(depot, *to):
    """MariaDB and MySQL change the partition key only in a copy, by a statement that is printed."""
    try:
        depot.migrate(*to)
    except CommandError as error:
        if connection.vendor != "mysql":
            raise
        _, _, statement = str(error).partition("and migrate again: ")
        query(statement)
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
    assert columns("depot_order")["public"].null_ok
    assert unique() == []


def test_one_that_is_added_is_refused_before_it_is(depot):
    make(depot, "id")
    depot.write('AddSortableID("order", "code", SnowflakeField(unique=True)),', atomic=False)
    with pytest.raises(CommandError, match="code can't be unique by itself"):
        depot.migrate()
    assert "code" not in columns("depot_order")


def test_not_null_alone_is_made(depot):
    make(depot, "id")
    depot.write('ConstrainSortableID("order", "public", SnowflakeField()),', atomic=False)
    depot.migrate()
    assert not columns("depot_order")["public"].null_ok
    depot.migrate(depot.names[0])
    assert columns("depot_order")["public"].null_ok


@pytest.mark.parametrize("index", ["", ", db_index=True"])
@pytest.mark.skipif(connection.vendor == "postgresql", reason="builds no such index online")
def test_the_partition_key_itself_becomes_unique(depot, index):
    make(depot, "public", field=f"SnowflakeField(null=True{index})")
    if index:
        query("CREATE INDEX depot_order_public_1234 ON depot_order (public)")
    depot.write(CONSTRAIN, atomic=False)
    migrate(depot)
    assert not columns("depot_order")["public"].null_ok
    assert len(unique()) == 1
    with pytest.raises(IntegrityError):
        query("INSERT INTO depot_order (id, name, public) VALUES (9, 'f', %s)", IDS[3])
    migrate(depot, depot.names[0])
    assert columns("depot_order")["public"].null_ok
    assert unique() == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="the index is built in place")
def test_the_partition_key_itself_is_left_to_a_constraint_of_the_model(depot):
    make(depot, "public")
    depot.write(CONSTRAIN, atomic=False)
    with pytest.raises(CommandError, match=r"Add UniqueConstraint\(fields=\['public'\]\)"):
        depot.migrate()
    assert columns("depot_order")["public"].null_ok
    depot.names.pop()
    depot.write('AddConstraint("order", UniqueConstraint(fields=["public"], name="depot_public")),')
    depot.write('ConstrainSortableID("order", "public", SnowflakeField()),', atomic=False)
    depot.migrate()
    assert unique() == ["depot_public"]
    assert not columns("depot_order")["public"].null_ok
