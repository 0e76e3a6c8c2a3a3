"""``TIMESTAMP`` columns of MariaDB and MySQL, which show their instants in the session's zone."""

import pytest
from django.db import connection

from django_sortable_ids.backfill.verifying.verify import verify
from django_sortable_ids.errors import BackfillError
from tests.support import execute
from tests.testapp.models import Order

from .support import assert_ascends, build, fill, find

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "mysql", reason="no other engine has two types"),
]
EDGES = {"spring": 1711846800 - 3600, "autumn": 1729990800 - 7200}
"""Unix times, an hour and two before the clocks of Berlin change."""


@pytest.fixture
def timestamps():
    execute("ALTER TABLE testapp_order MODIFY created_at TIMESTAMP(6) NULL")
    options = dict(connection.settings_dict["OPTIONS"])
    yield
    connection.settings_dict["OPTIONS"] = options
    connection.close()
    execute("ALTER TABLE testapp_order MODIFY created_at DATETIME(6) NULL")


def connect_in(zone):
    """Have every session in that time zone, as a project's settings do."""
    connection.settings_dict["OPTIONS"]["init_command"] = f"SET time_zone = '{zone}'"
    connection.close()


def insert(start, zone, count=30):
    """Two rows every ten minutes, at instants, as sessions of that zone have them."""
    connect_in("+00:00")
    times = [start + number // 2 * 600 for number in range(count)]
    values = ", ".join(f"('', FROM_UNIXTIME({at}))" for at in times)
    execute(f"INSERT INTO testapp_order (name, created_at) VALUES {values}")
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
    assert_ascends(name, Order.objects.values_list("created_at", "pk", name))
    assert verify(find(name)).failures == []


def test_rows_of_an_hour_that_the_session_has_twice_are_refused(timestamps):
    insert(EDGES["autumn"], "Europe/Berlin")
    with pytest.raises(BackfillError, match="the session, Europe/Berlin, has twice") as caught:
        build("uuid7")
    assert "init_command" in str(caught.value)
    connect_in("+00:00")
    assert fill("uuid7", 4).filled == 30
