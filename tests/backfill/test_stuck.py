"""A batch that fills nothing, though it should, or whose rows the server refuses, stops the run."""

import re
from dataclasses import replace

import pytest
from django.db import connection, models

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.errors import BackfillError
from django_sortable_ids.fields import UUIDv7Field
from tests.support import execute, query
from tests.testapp.models import Order

from .support import (
    KEY,
    SECOND,
    START,
    TIME,
    command,
    each_kind,
    find,
    ids,
    in_python,
    insert_orders,
    legacy_table,
    refusal,
)

pytestmark = pytest.mark.django_db(transaction=True)

KEEP_OUT = {
    "sqlite": [
        "CREATE TRIGGER keep_out BEFORE UPDATE ON testapp_order WHEN NEW.id > {last} "
        "BEGIN SELECT RAISE(IGNORE); END"
    ],
    "postgresql": [
        "CREATE OR REPLACE FUNCTION keep_out() RETURNS trigger LANGUAGE plpgsql AS "
        "'BEGIN IF NEW.id > {last} THEN RETURN NULL; END IF; RETURN NEW; END'",
        "CREATE TRIGGER keep_out BEFORE UPDATE ON testapp_order "
        "FOR EACH ROW EXECUTE FUNCTION keep_out()",
    ],
    "mysql": [
        "CREATE TRIGGER keep_out BEFORE UPDATE ON testapp_order FOR EACH ROW "
        "IF NEW.id > {last} THEN SET NEW.{column} = NULL; END IF"
    ],
}


@pytest.fixture
def keep_out():
    """Has the database leave rows after a key as they are, without an error."""

    def make(column, last):
        with connection.cursor() as cursor:
            for statement in KEEP_OUT[connection.vendor]:
                cursor.execute(statement.format(column=column, last=last))

    yield make
    on = " ON testapp_order" if connection.vendor == "postgresql" else ""
    execute(f"DROP TRIGGER keep_out{on}")


@pytest.mark.parametrize("where", ["database", "Python"])
@each_kind
def test_a_run_that_fills_nothing_stops_with_the_batch(monkeypatch, keep_out, name, where):
    if where == "Python":
        in_python(monkeypatch)
    insert_orders([START + i * SECOND for i in range(20)])
    keys = list(Order.objects.order_by("pk").values_list("pk", flat=True))
    keep_out(name, keys[9])
    batches = []
    planned = plan.build(replace(find(name), allow_triggers=True), 5)
    with pytest.raises(BackfillError, match="the last one has no id") as caught:
        run.execute(planned, batches.append)
    assert batches == [5, 5]
    assert sum(value is not None for value in ids(name)) == 10
    first = re.search(r"from testapp.Order (\d+)", str(caught.value))[1]
    assert int(first) == keys[10]
    assert "the batch was rolled back" in str(caught.value)


# Values of MariaDB that a session refuses: an UPDATE calculates stored columns of them again


@pytest.fixture
def invalid_dates():
    """A stored column that is made of dates, one of which there is not."""
    if not connection.mysql_is_mariadb:
        pytest.skip("MySQL doesn't calculate it again")
    column = UUIDv7Field(null=True).db_type(connection)
    columns = (
        f"id {KEY['mysql']}, created_at {TIME['mysql']}, due datetime, "
        f"due_day date GENERATED ALWAYS AS (due + INTERVAL 1 DAY) STORED, public_id {column}"
    )
    with legacy_table(
        "Shipment",
        "shipments",
        columns,
        [(n, f"2024-05-01 00:00:{n:02}", "2012-02-03") for n in range(1, 9)],
        "id, created_at, due",
        id=models.BigIntegerField(primary_key=True),
        created_at=models.DateTimeField(),
        public_id=UUIDv7Field(null=True),
    ):
        yield


@pytest.mark.skipif("connection.vendor != 'mysql'", reason="others have no such values")
def test_a_value_that_the_session_refuses_is_explained(invalid_dates):
    [(strict,)] = query("SELECT @@sql_mode")
    query("SET sql_mode = 'ALLOW_INVALID_DATES'")
    query("UPDATE shipments SET due = '2012-02-30' WHERE id = 6")
    query("SET sql_mode = %s", strict)
    said = refusal("shop.Shipment.public_id", created_from="created_at", batch_size=2)
    assert said.startswith("the session's sql_mode refuses a value in another column of a row: ")
    advice = "Correct the value, or allow it by sql_mode (ALLOW_INVALID_DATES)"
    assert f"{advice}. Continue with: " in said
    execute("UPDATE shipments SET due = '2012-02-29' WHERE id = 6")
    command("shop.Shipment.public_id", created_from="created_at", batch_size=2)
    assert command("shop.Shipment.public_id", verify=True)[0] == "8 rows, 8 with an id"
