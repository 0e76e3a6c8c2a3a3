"""Times and days that PostgreSQL has and Python can't show: -infinity, years before 1."""

from functools import partial

import pytest
from django.core.management import CommandError
from django.db import connection

from tests.support import query
from tests.testapp.models import Order

from . import support
from .shop.models import Plain
from .support import START, count_filled, insert, insert_orders

EARLY = ["-infinity", "0044-03-15 12:00:00+00 BC", "-infinity"]
LATE = ["infinity", "20000-01-01 00:00:00+00"]

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "postgresql", reason="has no such times"),
]
TOO_OLD = r"testapp.Order \d+ \(and 2 other rows\) is too old: "
SCHEMES = {
    **dict.fromkeys(["uuid7", "snowflake", "time64", "reversed_kuuid"], TOO_OLD),
    "number": "has the created_at before year 1 or after 9999",
}
command = partial(support.command, created_from="created_at")


@pytest.fixture(autouse=True)
def strange_rows():
    """Two ordinary rows among them."""
    texts = EARLY + LATE
    insert_orders([START] * (2 + len(texts)))
    keys = list(Order.objects.order_by("pk").values_list("pk", flat=True))
    for pk, text in zip(keys, texts, strict=False):
        query("UPDATE testapp_order SET created_at = %s WHERE id = %s", text, pk)
    return len(texts)


@pytest.mark.parametrize(("name", "said"), SCHEMES.items())
def test_they_are_refused_by_name_or_left(name, said, strange_rows):
    with pytest.raises(CommandError, match=said):
        command(name)
    assert count_filled(name) == 0
    assert "2 rows filled." in command(name, on_out_of_range="skip")
    lines = command(name, verify=True)  # with the policies of the run
    assert lines[1].startswith(f"{strange_rows} rows skipped: ")


@pytest.mark.parametrize("days", [EARLY, LATE], ids=["early", "late"])
def test_days(days):
    name, of_day = "shop.Plain.public_id", {"created_from": "day"}
    insert(Plain, [{"created_at": START, "day": START.date()} for _ in range(len(days) + 2)])
    keys = list(Plain.objects.order_by("pk").values_list("pk", flat=True))
    for pk, text in zip(keys, days, strict=False):
        day = text.replace(" 12:00:00+00", "").partition(" 00:")[0]
        query("UPDATE shop_plain SET day = %s WHERE id = %s", day, pk)
    with pytest.raises(CommandError, match=rf"shop.Plain {keys[0]} .*is too"):
        support.command(name, **of_day)
    for mode in ({}, {"verify": True}):
        lines = support.command(name, on_out_of_range="skip", **of_day, **mode)
    assert lines[0] == f"{len(keys)} rows, 2 with an id"
