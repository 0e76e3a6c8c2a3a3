"""Rows of MariaDB with values that a session refuses: an UPDATE calculates stored columns of them
again, which MySQL does only where a column in the expression is set."""

import pytest
from django.db import connection, models

from django_sortable_ids.fields import UUIDv7Field
from tests.support import execute

from .support import KEY, TIME, command, define, in_registry, insert_into, refusal

pytestmark = [
    pytest.mark.skipif(connection.vendor != "mysql", reason="others have no such values"),
    pytest.mark.usefixtures("transactional_db"),
]


@pytest.fixture
def invalid_dates():
    """A stored column that is made of dates, one of which there is not."""
    if not connection.mysql_is_mariadb:
        pytest.skip("MySQL doesn't calculate it again")
    column = UUIDv7Field(null=True).db_type(connection)
    execute(
        f"CREATE TABLE shipments (id {KEY['mysql']}, created_at {TIME['mysql']}, due datetime, "
        f"due_day date GENERATED ALWAYS AS (due + INTERVAL 1 DAY) STORED, public_id {column})"
    )
    try:
        with in_registry("Shipment"):
            define(
                "Shipment",
                "shipments",
                managed=False,
                id=models.BigIntegerField(primary_key=True),
                created_at=models.DateTimeField(),
                public_id=UUIDv7Field(null=True),
            )
            yield
    finally:
        execute("DROP TABLE shipments")


def test_a_value_that_the_session_refuses_is_explained(invalid_dates):
    rows = [(n, f"2024-05-01 00:00:{n:02}", "2012-02-03") for n in range(1, 9)]
    insert_into("shipments", rows, "id, created_at, due")
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@sql_mode")
        strict = cursor.fetchone()[0]
        cursor.execute("SET sql_mode = 'ALLOW_INVALID_DATES'")
        cursor.execute("UPDATE shipments SET due = '2012-02-30' WHERE id = 6")
        cursor.execute("SET sql_mode = %s", [strict])
    said = refusal("shop.Shipment.public_id", created_from="created_at", batch_size=2)
    assert said.startswith("the session's sql_mode refuses a value in another column of a row: ")
    advice = "Correct the value, or allow it by sql_mode (ALLOW_INVALID_DATES)"
    assert f"{advice}. Continue with: " in said
    execute("UPDATE shipments SET due = '2012-02-29' WHERE id = 6")
    command("shop.Shipment.public_id", created_from="created_at", batch_size=2)
    assert command("shop.Shipment.public_id", verify=True)[0] == "8 rows, 8 with an id"
