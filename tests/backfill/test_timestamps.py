"""``TIMESTAMP`` columns of MariaDB and MySQL, which show their instants in the session's zone."""

from itertools import pairwise

import pytest
from django.db import connection

from django_sortable_ids.backfill.verifying.verify import verify
from django_sortable_ids.errors import BackfillError
from tests.testapp.models import Order

from .support import build, field_of, fill, find

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "mysql", reason="no other engine has two types"),
]
EDGES = {"spring": 1711846800 - 3600, "autumn": 1729990800 - 7200}
"""Unix times, an hour and two before the clocks of Berlin change."""


@pytest.fixture
def timestamps():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE testapp_order MODIFY created_at TIMESTAMP(6) NULL")
    options = dict(connection.settings_dict["OPTIONS"])
    yield
    connection.settings_dict["OPTIONS"] = options
    connection.close()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE testapp_order MODIFY created_at DATETIME(6) NULL")


def connect_in(zone):
    """Have every session in that time zone, as a project's settings do."""
    connection.settings_dict["OPTIONS"]["init_command"] = f"SET time_zone = '{zone}'"
    connection.close()


def insert(start, zone, count=30):
    """Two rows every ten minutes, at instants, as sessions of that zone have them."""
    connect_in("+00:00")
    with connection.cursor() as cursor:
        for number in range(count):
            cursor.execute(
                "INSERT INTO testapp_order (name, created_at) VALUES ('', FROM_UNIXTIME(%s))",
                [start + number // 2 * 600],
            )
    connect_in(zone)


@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize(
    ("edge", "zone"),
    [("autumn", "+00:00"), ("spring", "+00:00"), ("autumn", "-05:00"), ("spring", "Europe/Berlin")],
)
@pytest.mark.parametrize("name", ["uuid7", "kuuid", "snowflake"])
def test_ids_have_the_times_that_django_reads(timestamps, name, edge, zone, size):
    insert(EDGES[edge], zone)
    assert fill(name, size).filled == 30
    scheme = field_of(name).scheme
    rows = list(Order.objects.order_by("created_at", "pk").values_list("created_at", name))
    assert all(scheme.parts(value)[0] == scheme.tick(at) for at, value in rows)
    assert all(one < other for one, other in pairwise(scheme.to_int(value) for _, value in rows))
    assert verify(find(name)).failures == []


def test_rows_of_an_hour_that_the_session_has_twice_are_refused(timestamps):
    insert(EDGES["autumn"], "Europe/Berlin")
    with pytest.raises(BackfillError, match="the session, Europe/Berlin, has twice") as caught:
        build("uuid7")
    assert "init_command" in str(caught.value)
    connect_in("+00:00")
    assert fill("uuid7", 4).filled == 30
