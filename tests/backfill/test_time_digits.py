"""How many digits of a second a column keeps: whether a tick has several of its times."""

from datetime import timedelta

import pytest
from django.db import connection

from django_sortable_ids.backfill.verifying.verify import verify
from django_sortable_ids.db.tables import time_digits
from tests.support import execute
from tests.testapp.models import Order

from .support import MILLISECOND, START, find, insert_orders

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite keeps texts")
def test_servers_say_it_in_the_catalogue():
    time = {"postgresql": "timestamptz", "mysql": "datetime"}[connection.vendor]
    kinds = {f"{time}({digits})": digits for digits in (0, 3, 6)}
    # Of no number, too.
    kinds[time] = {"postgresql": 6, "mysql": 0}[connection.vendor]
    columns = ", ".join(f"c{number} {kind}" for number, kind in enumerate(kinds))
    execute(f"CREATE TABLE digits_of ({columns})")
    try:
        found = [time_digits(connection, "digits_of", f"c{n}") for n in range(len(kinds))]
    finally:
        execute("DROP TABLE digits_of")
    assert found == list(kinds.values())


@pytest.mark.skipif(connection.vendor != "sqlite", reason="the catalogue says it")
@pytest.mark.parametrize("digits", [3, 6])
def test_texts_say_it_themselves(digits):
    insert_orders([START + 123 * MILLISECOND] * 2)
    Order.objects.update(created_at=START + 123 * MILLISECOND)
    execute(f"UPDATE testapp_order SET created_at = substr(created_at, 1, {20 + digits})")
    target = find("uuid7")
    assert target.source.times.resolution == timedelta(microseconds=10 ** (6 - digits))
    assert verify(target).is_decided is (digits == 3)
    assert verify(find("uuid6")).is_decided
