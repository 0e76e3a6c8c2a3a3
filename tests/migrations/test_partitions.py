"""Tables in partitions, in which no id becomes unique by itself."""

import pytest
from django.core.management.base import CommandError
from django.db import connection

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
        ("public", SnowflakeField(null=True)),
    ]),
]),
"""
CONSTRAIN = 'ConstrainSortableID("order", "public", SnowflakeField(unique=True)),'
IDS = [1001, 2002, 3003, 4004, 5005]


def make(depot, key):
    """The table in partitions of that key, with five rows."""
    columns = "id bigint NOT NULL, name varchar(9) NOT NULL, public bigint NULL"
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
    depot.write(STATE)
    depot.migrate()


REASON = (
    r"depot_order is partitioned, and a unique index of it must contain the whole partition key: "
    r"add a UniqueConstraint of {} and the partition key .* ConstrainSortableID without unique=True"
)


@pytest.mark.parametrize("key", ["id", "(id + public)"])
def test_what_the_partitions_refuse_is_said_before(depot, key):
    make(depot, key)
    depot.write(CONSTRAIN, atomic=False)
    with pytest.raises(CommandError, match=rf"^depot\.Order\.public: {REASON.format('public')}"):
        depot.migrate()
    assert columns("depot_order")["public"].null_ok
    assert not any("public" in each["columns"] for each in constraints("depot_order").values())


def test_a_constraint_of_the_model_and_not_null_are_made(depot):
    make(depot, "id")
    unique = 'UniqueConstraint(fields=["public", "id"], name="depot_public")'
    depot.write('ConstrainSortableID("order", "public", SnowflakeField()),', atomic=False)
    depot.write(f'AddConstraint("order", {unique}),')
    depot.migrate()
    assert not columns("depot_order")["public"].null_ok
    assert constraints("depot_order")["depot_public"]["unique"]
    depot.migrate(depot.names[0])
    assert columns("depot_order")["public"].null_ok
