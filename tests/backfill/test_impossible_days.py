"""Dates of MariaDB and MySQL that no calendar has, which Python reads as NULL."""

import re

import pytest
from django.db import connection

from django_sortable_ids.models import BackfillRun
from tests.backfill.shop.models import Plain
from tests.support import execute, query
from tests.testapp.models import Order

from .command import printed
from .support import START, insert, insert_orders, label, refusal

pytestmark = [
    pytest.mark.usefixtures("transactional_db"),
    pytest.mark.skipif(connection.vendor != "mysql", reason="has no such dates"),
]
DAYS = {
    "2020-02-00": "2020-02-01",
    "2020-00-00": "2020-01-01",
    "2020-00-05": "2020-01-05",
    "2023-02-30": "2023-02-28",
    "0999-04-31": "0999-04-30",
    "0000-00-00": "1971-01-01",
}


@pytest.fixture
def keep():
    """Keep any date in a column of a row."""

    def keep(model, column, pk, text):
        table = model._meta.db_table
        execute("SET SESSION sql_mode = 'ALLOW_INVALID_DATES'")
        query(f"UPDATE {table} SET {column} = %s WHERE id = %s", text, pk)
        execute("SET SESSION sql_mode = @@GLOBAL.sql_mode")

    return keep


def repair(message):
    """Run the statement of the message, in the session's strict mode."""
    statement = re.search(r"UPDATE .*(?=; nothing was written)", message)[0]
    execute(statement)


@pytest.mark.parametrize("day", DAYS)
@pytest.mark.parametrize("name", ["uuid7", "snowflake", "number"])
def test_they_are_refused_by_name_in_the_plan(keep, name, day):
    insert_orders([START] * 3)
    pks = sorted(Order.objects.values_list("pk", flat=True))
    keep(Order, "created_at", pks[1], f"{day} 10:00:00.25")
    for policy in ("--dry-run", "--on-null=skip", "--on-null=now", "--on-out-of-range=skip"):
        message = refusal(name, "--created-from=created_at", policy)
        assert f"Order {pks[1]} has the created_at {day} 10:00:00.25" in message
        assert "no day of the calendar" in message
    assert not BackfillRun.objects.exists()
    assert Order.objects.filter(**{f"{name}__isnull": True}).count() == 3


@pytest.mark.parametrize("day", DAYS)
def test_the_statement_makes_days_of_them(keep, day):
    insert_orders([START] * 3)
    pks = sorted(Order.objects.values_list("pk", flat=True))
    keep(Order, "created_at", pks[0], f"{day} 10:00:00.25")
    message = refusal("time64", "--created-from=created_at", "--dry-run")
    assert f"Order {pks[0]} has" in message
    repair(message)
    texts = execute("SELECT CAST(created_at AS CHAR) FROM testapp_order ORDER BY id")
    assert texts[0] == (f"{DAYS[day]} 10:00:00.250000",)
    printed(label("time64"), "--created-from=created_at", "--on-out-of-range=skip")


def test_a_column_of_days(keep):
    insert(Plain, [{"created_at": START, "day": START.date()} for _ in range(4)])
    first, second, *_ = pks = sorted(Plain.objects.values_list("pk", flat=True))
    keep(Plain, "day", first, "2020-02-00")
    keep(Plain, "day", pks[-1], "2020-00-01")
    message = refusal("shop.Plain.public_id", "--created-from=day", "--dry-run")
    assert f"shop.Plain {first} (and 1 other row) has the day 2020-02-00, which" in message
    repair(message)
    printed("shop.Plain.public_id", "--created-from=day")
    assert Plain.objects.get(pk=first).day.isoformat() == "2020-02-01"
    keep(Plain, "day", second, "2020-02-31")
    assert f"shop.Plain {second} has" in refusal("shop.Plain.public_id", "--verify")
