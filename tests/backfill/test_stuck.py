"""A batch that fills nothing, though it should, or whose rows the server refuses, stops the run."""

import re
from dataclasses import replace

import pytest
from django.db import connection

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.errors import BackfillError
from tests.support import execute
from tests.testapp.models import Order

from .support import (
    SECOND,
    START,
    each_kind,
    find,
    ids,
    in_python,
    insert_orders,
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
