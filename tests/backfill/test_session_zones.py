"""Columns of times that a session shows in its own time zone: PostgreSQL's ``timestamptz`` and
``timestamp``, and ``TIMESTAMP`` of MariaDB and MySQL. A clock change repeats an hour or skips one.
"""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, connections

from django_sortable_ids.backfill.verify import verify
from django_sortable_ids.errors import BackfillError
from tests.support import execute
from tests.testapp.models import Order

from .support import (
    MICROSECOND,
    MILLISECOND,
    START,
    TIMED,
    Stop,
    ascends,
    assert_ascends,
    build,
    field_of,
    fill,
    find,
    insert_into,
    insert_orders,
    stop_after,
)

postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="its two types")
mysql = pytest.mark.skipif(connection.vendor != "mysql", reason="its two types")

# PostgreSQL's timestamptz: the local times that Django reads and compares name two instants in the
# hour that comes twice

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


@postgresql
@pytest.mark.parametrize("size", [7, 5000])
@pytest.mark.parametrize(("zone", "start"), ZONES)
@pytest.mark.parametrize("name", ["uuid7", "snowflake"])
def test_both_hours_of_a_clock_change_are_told_apart(naive, name, zone, start, size):
    naive(zone)
    insert_instants(start)
    assert fill(name, size).filled == 72
    assert_right(name)
    found = verify(find(name))
    assert (found.failures, found.other_time, found.rows) == ([], 0, 72)


@postgresql
@pytest.mark.parametrize(("zone", "start"), ZONES)
def test_a_session_with_a_zone_of_its_own(zoned, zone, start):
    using = zoned(zone)
    insert_instants(start, using)
    assert fill("uuid7", 7, using=using).filled == 72
    assert_right("uuid7", using)
    found = verify(find("uuid7", using))
    assert (found.failures, found.other_time, found.rows) == ([], 0, 72)


@postgresql
@pytest.mark.parametrize("stop", [6, 7])
def test_a_run_that_stopped_in_the_second_hour_resumes_there(naive, stop):
    naive("Europe/Berlin")
    insert_instants(EDGES["Europe/Berlin"][1])
    with pytest.raises(Stop):
        fill("snowflake", 7, stop_after(stop))
    assert fill("snowflake", 7).filled == 72 - 7 * stop
    assert_right("snowflake")


# PostgreSQL's timestamp under USE_TZ=True: Django reads it in the session's time zone

LOCAL_EDGES = {
    "Europe/Berlin": [datetime(2024, 3, 31, 1), datetime(2024, 10, 27, 1)],  # noqa: DTZ001
    "America/New_York": [datetime(2024, 3, 10, 1), datetime(2024, 11, 3, 0)],  # noqa: DTZ001
}
LOCAL_ZONES = [(zone, start) for zone, starts in LOCAL_EDGES.items() for start in starts]


def make_zoneless():
    execute("ALTER TABLE testapp_order ALTER created_at TYPE timestamp")


@pytest.fixture
def zoneless(db, settings):
    make_zoneless()


def insert_local(start, count=40):
    """Two rows every ten minutes, as a program writes them that knows no zones."""
    rows = [("", start + number // 2 * timedelta(minutes=10)) for number in range(count)]
    insert_into("testapp_order", rows, "name, created_at")


def assert_found(name, using="default"):
    """The ORM finds each row by the time of its id, and the ids sort as (created_at, pk)."""
    orders = Order.objects.using(using)
    scheme = field_of(name).scheme
    found = list(orders.order_by("created_at", "pk").values_list("pk", name))
    if name in TIMED:
        for pk, value in found:
            assert orders.filter(pk=pk, created_at=scheme.created_at(value)).exists()
    sign = -1 if getattr(scheme, "descending", False) else 1
    assert ascends([sign * scheme.to_int(value) for _, value in found])


@postgresql
@pytest.mark.parametrize("size", [7, 5000])
@pytest.mark.parametrize(("zone", "start"), LOCAL_ZONES)
@pytest.mark.parametrize("name", ["uuid7", "reversed_kuuid", "number"])
def test_ids_have_the_times_by_which_the_orm_finds_the_rows(
    zoneless, settings, name, zone, start, size
):
    settings.TIME_ZONE = zone
    insert_local(start)
    assert fill(name, size).filled == 40
    assert_found(name)


@pytest.fixture
def berlin(zoned, settings):
    """An alias whose session has a time zone with clock changes."""
    settings.TIME_ZONE = "America/New_York"
    make_zoneless()
    yield zoned("Europe/Berlin")
    execute("ALTER TABLE testapp_order ALTER created_at TYPE timestamptz")


@postgresql
@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize("start", LOCAL_EDGES["Europe/Berlin"])
@pytest.mark.parametrize("name", ["uuid7", "snowflake"])
def test_local_times_of_a_session_with_a_zone_of_its_own(berlin, name, start, size):
    insert_local(start, 12)
    if start.month == 10:
        insert_local(start + timedelta(hours=1), 12)  # which comes twice
    # The clock skips that hour in March: PostgreSQL puts its times after later ones.
    insert_local(start + timedelta(hours=2), 12)
    assert fill(name, size, using=berlin).remaining == 0
    assert_found(name, berlin)
    assert verify(find(name, berlin)).failures == []


@postgresql
@pytest.mark.parametrize("start", [datetime(2024, 3, 31, 2), datetime(2024, 3, 31, 2, 59)])  # noqa: DTZ001
def test_local_times_that_the_clock_of_the_session_skips_are_refused(berlin, start):
    insert_local(start - timedelta(hours=2), 2)
    insert_local(start, 1)
    insert_local(start + timedelta(hours=1), 2)
    with pytest.raises(BackfillError) as caught:
        build("uuid7", using=berlin)
    assert "1 row of testapp.Order with a time that the clock of Europe/Berlin skips" in str(
        caught.value
    )
    # The default session is in UTC, which skips none.
    assert build("uuid7").missing == 5


@postgresql
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_naive_times_of_django_that_the_clock_skips_are_refused(zoneless, settings, zone):
    settings.USE_TZ = False
    settings.TIME_ZONE = zone
    insert_local(LOCAL_EDGES[zone][0] - timedelta(hours=1), 12)
    assert build("uuid7").missing == 12
    insert_local(LOCAL_EDGES[zone][0] + timedelta(hours=1), 12)
    with pytest.raises(BackfillError, match=f"12 rows .* the clock of {zone} skips"):
        build("uuid7")


# TIMESTAMP of MariaDB and MySQL

UNIX_EDGES = {"spring": 1711846800 - 3600, "autumn": 1729990800 - 7200}
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


@mysql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize(
    ("edge", "zone"),
    [("autumn", "+00:00"), ("spring", "+00:00"), ("autumn", "-05:00"), ("spring", "Europe/Berlin")],
)
@pytest.mark.parametrize("name", ["uuid7", "snowflake"])
def test_ids_have_the_times_that_django_reads(timestamps, name, edge, zone, size):
    insert(UNIX_EDGES[edge], zone)
    assert fill(name, size).filled == 30
    assert_ascends(name, Order.objects.values_list("created_at", "pk", name))
    assert verify(find(name)).failures == []


@mysql
@pytest.mark.django_db(transaction=True)
def test_rows_of_an_hour_that_the_session_has_twice_are_refused(timestamps):
    insert(UNIX_EDGES["autumn"], "Europe/Berlin")
    with pytest.raises(BackfillError, match="the session, Europe/Berlin, has twice") as caught:
        build("uuid7")
    assert "init_command" in str(caught.value)
    connect_in("+00:00")
    assert fill("uuid7", 4).filled == 30


# How many digits of a second a column keeps: whether a tick has several of its times


@pytest.mark.django_db
@pytest.mark.skipif(connection.vendor != "sqlite", reason="the catalogue says it")
def test_texts_may_have_six():
    insert_orders([START + 123 * MILLISECOND] * 2)
    assert not verify(find("uuid7")).is_decided
    assert verify(find("uuid6")).is_decided
