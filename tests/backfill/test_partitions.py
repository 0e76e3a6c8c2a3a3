"""A table in partitions, in which places of rows on the disk repeat."""

import pytest
from django.db import connection

from django_sortable_ids.backfill.verify import verify

from .shop.models import Plain
from .support import SECOND, START, fill, find, ids, insert, is_strict, times_are_right

pytestmark = pytest.mark.django_db

NAME = "shop.Plain.public_id"
PARTITIONED = {
    "postgresql": [
        "ALTER TABLE shop_plain RENAME TO shop_whole",
        "CREATE TABLE shop_plain (LIKE shop_whole INCLUDING DEFAULTS) PARTITION BY RANGE (id)",
        "CREATE TABLE shop_first PARTITION OF shop_plain FOR VALUES FROM (MINVALUE) TO (11)",
        "CREATE TABLE shop_new PARTITION OF shop_plain FOR VALUES FROM (11) TO (MAXVALUE)",
    ],
}


@pytest.mark.skipif(connection.vendor not in PARTITIONED, reason="DDL ends every transaction")
@pytest.mark.parametrize("batch_size", [3, 100])
def test_each_row_of_every_partition_is_filled_once(batch_size):
    with connection.cursor() as cursor:
        for statement in PARTITIONED[connection.vendor]:
            cursor.execute(statement)
    insert(Plain, [{"id": n, "created_at": START - n % 7 * SECOND} for n in range(1, 21)])
    assert fill(NAME, batch_size).filled == 20
    assert None not in ids(NAME)
    assert is_strict(NAME)
    assert times_are_right(NAME)
    assert verify(find(NAME)).failures == []
