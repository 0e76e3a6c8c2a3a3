"""PostgreSQL's ``timestamptz`` in a session whose clock changes: the local times that Django reads
and compares name two instants in the hour that comes twice."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, connections

from django_sortable_ids.backfill.verifying.verify import verify
from tests.support import query
from tests.testapp.models import Order

from .support import (
    MICROSECOND,
    Stop,
    after_batch,
    assert_ascends,
    field_of,
    fill,
    find,
    stop_after,
)

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="no other engine has such times"),
]

EDGES = {
    "Europe/Berlin": [
        datetime(2024, 3, 30, 22, tzinfo=UTC),
        datetime(2024, 10, 26, 22, tzinfo=UTC),
    ],
    "America/New_York": [
        datetime(2024, 3, 10, 5, tzinfo=UTC),
        datetime(2024, 11, 3, 4, tzinfo=UTC),
    ],
}
ZONES = [(zone, start) for zone, starts in EDGES.items() for start in starts]


@pytest.fixture
def naive(db, settings):
    """Django's times have no zone, and the session has one."""

    def switch(zone):
        settings.USE_TZ = False
        settings.TIME_ZONE = zone

    return switch


def insert_instants(start, using="default", count=72):
    """Three rows of each instant, ten minutes apart over four hours, in an order of their own."""
    with connections[using].cursor() as cursor:
        cursor.execute(
            "INSERT INTO testapp_order (name, created_at) SELECT '', %s::timestamptz "
            "+ (i / 3) * interval '10 minutes' FROM generate_series(0, %s) i "
            "ORDER BY md5(i::text)",
            [start.isoformat(), count - 1],
        )


def assert_right(name, using="default"):
    """The ids have the instants of their rows, and sort as (created_at, pk)."""
    column = connection.ops.quote_name(field_of(name).column)
    with connections[using].cursor() as cursor:
        cursor.execute(
            "SELECT (extract(epoch from created_at) * 1000000)::bigint, id FROM testapp_order "
            f"WHERE {column} IS NOT NULL"
        )
        places = cursor.fetchall()
    ids = dict(Order.objects.using(using).values_list("pk", name))
    start = datetime(1970, 1, 1, tzinfo=UTC)
    assert len(places) == len(ids)
    assert_ascends(name, [(start + at * MICROSECOND, pk, ids[pk]) for at, pk in places])


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize(("zone", "start"), ZONES)
@pytest.mark.parametrize("name", ["uuid7", "kuuid", "snowflake", "number"])
def test_both_hours_of_a_clock_change_are_told_apart(naive, name, zone, start, size):
    naive(zone)
    insert_instants(start)
    assert fill(name, size).filled == 72
    assert_right(name)
    found = verify(find(name))
    assert (found.failures, found.other_time, found.rows) == ([], 0, 72)


@pytest.mark.parametrize("size", [7, 5000])
@pytest.mark.parametrize(("zone", "start"), ZONES)
def test_a_session_with_a_zone_of_its_own(zoned, zone, start, size):
    using = zoned(zone)
    insert_instants(start, using)
    assert fill("uuid7", size, using=using).filled == 72
    assert_right("uuid7", using)
    found = verify(find("uuid7", using))
    assert (found.failures, found.other_time, found.rows) == ([], 0, 72)


@pytest.mark.parametrize("stop", [5, 6, 7, 8])
def test_a_run_that_stopped_in_the_second_hour_resumes_there(naive, stop):
    naive("Europe/Berlin")
    insert_instants(EDGES["Europe/Berlin"][1])
    with pytest.raises(Stop):
        fill("snowflake", 7, stop_after(stop))
    assert fill("snowflake", 7).filled == 72 - 7 * stop
    assert_right("snowflake")


def test_late_rows_are_sorted_in(naive):
    naive("America/New_York")
    start = EDGES["America/New_York"][1]
    insert_instants(start, count=60)
    assert fill("ulid", 40, after_batch(1, lambda: insert_instants(start, count=30))).filled == 90
    assert_right("ulid")


def test_ids_that_were_there_say_since_when_the_application_gives_them(naive):
    naive("Europe/Berlin")
    insert_instants(EDGES["Europe/Berlin"][1])
    at = EDGES["Europe/Berlin"][1] + timedelta(hours=3)
    (pk,) = query("SELECT id FROM testapp_order WHERE created_at = %s::timestamptz", str(at))[0]
    Order.objects.filter(pk=pk).update(uuid7=field_of("uuid7").scheme.generate(at=at))
    assert fill("uuid7", 7).filled == 71
    assert verify(find("uuid7")).failures == []


def test_the_last_hours_of_the_calendar_are_read(naive):
    naive("Asia/Tokyo")
    insert_instants(datetime(9999, 12, 31, 14, tzinfo=UTC), count=3)
    assert fill("uuid7").filled == 3
    found = verify(find("uuid7"))
    assert (found.failures, found.other_time, found.rows) == ([], 0, 3)
