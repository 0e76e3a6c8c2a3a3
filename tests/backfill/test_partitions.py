"""A table in partitions, in which places of rows on the disk repeat."""

import pytest
from django.db import connection

from django_sortable_ids.backfill.verify import verify
from tests.support import execute

from .shop.models import Plain
from .support import (
    SECOND,
    START,
    command,
    fill,
    find,
    ids,
    insert,
    is_strict,
    refusal,
    times_are_right,
)

pytestmark = pytest.mark.skipif(connection.vendor == "sqlite", reason="has no partitions")

NAME = "shop.Plain.public_id"
PARTITION = {
    "postgresql": [
        "ALTER TABLE shop_plain RENAME TO shop_whole",
        "CREATE TABLE shop_plain (LIKE shop_whole INCLUDING DEFAULTS, PRIMARY KEY (id)) "
        "PARTITION BY RANGE (id)",
        # Its columns have other numbers.
        "CREATE TABLE shop_first (gone integer, LIKE shop_whole INCLUDING DEFAULTS)",
        "ALTER TABLE shop_first DROP COLUMN gone",
        "ALTER TABLE shop_plain ATTACH PARTITION shop_first FOR VALUES FROM (MINVALUE) TO (11)",
        "CREATE TABLE shop_new PARTITION OF shop_plain FOR VALUES FROM (11) TO (MAXVALUE)",
    ],
    "mysql": [
        "ALTER TABLE shop_plain PARTITION BY RANGE (id) ("
        "PARTITION shop_first VALUES LESS THAN (11), "
        "PARTITION shop_new VALUES LESS THAN MAXVALUE)"
    ],
}
UNITE = {
    "postgresql": ["DROP TABLE shop_plain", "ALTER TABLE shop_whole RENAME TO shop_plain"],
    "mysql": ["ALTER TABLE shop_plain REMOVE PARTITIONING"],
}
INDEX = ["CREATE INDEX shop_created ON shop_plain (created_at)"]
NO_INDEX = {"postgresql": [], "mysql": ["DROP INDEX shop_created ON shop_plain"]}


@pytest.fixture(params=[False, True], ids=["", "indexed"])
def partitioned(transactional_db, request):
    indexed = request.param
    execute(*PARTITION[connection.vendor], *(INDEX if indexed else []))
    yield
    execute(*(NO_INDEX[connection.vendor] if indexed else []), *UNITE[connection.vendor])


@pytest.mark.parametrize("batch_size", [3, 100])
def test_each_row_of_every_partition_is_filled_once(partitioned, batch_size):
    insert(Plain, [{"id": n, "created_at": START - n % 5 * SECOND} for n in range(1, 21)])
    assert fill(NAME, batch_size).filled == 20
    assert None not in ids(NAME)
    assert is_strict(NAME)
    assert times_are_right(NAME)
    assert verify(find(NAME)).failures == []


def test_verify_says_that_the_partitions_refuse_a_unique_id(partitioned):
    insert(Plain, [{"id": n, "created_at": START - n * SECOND} for n in range(1, 21)])
    fill(NAME)
    reason = (
        "shop_plain is partitioned, and a unique index of it must contain the whole partition key: "
        "add a UniqueConstraint of public_id and the partition key to the model. For NOT NULL, use "
        "ConstrainSortableID without unique=True, which --write-migration writes after that"
    )
    assert command(NAME, "--verify")[-1] == f"Next: {reason}."
    assert refusal(NAME, "--write-migration") == f"{NAME}: {reason}"
