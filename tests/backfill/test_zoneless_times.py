"""PostgreSQL's ``timestamp`` under ``USE_TZ=True``: Django reads it in the session's time zone."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from django_sortable_ids.backfill import run
from django_sortable_ids.backfill.verifying.verify import verify
from django_sortable_ids.errors import BackfillError
from tests.support import execute
from tests.testapp.models import Order

from .support import FIELDS, TIMED, ascends, build, field_of, fill, find, insert_into

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="no other engine has two types"),
]

EDGES = {
    "Europe/Berlin": [datetime(2024, 3, 31, 1), datetime(2024, 10, 27, 1)],  # noqa: DTZ001
    "America/New_York": [datetime(2024, 3, 10, 1), datetime(2024, 11, 3, 0)],  # noqa: DTZ001
}
ZONES = [(zone, start) for zone, starts in EDGES.items() for start in starts]


def make_zoneless():
    execute("ALTER TABLE testapp_order ALTER created_at TYPE timestamp")


@pytest.fixture
def zoneless(db, settings):
    make_zoneless()


def insert_local(start, count=40):
    """Two rows every ten minutes, as a program writes them that knows no zones."""
    rows = [("", start + number // 2 * timedelta(minutes=10)) for number in range(count)]
    insert_into("testapp_order", rows, "name, created_at")


def assert_right(name, using="default"):
    """The ORM finds each row by the time of its id, and the ids sort as (created_at, pk)."""
    orders = Order.objects.using(using)
    scheme = field_of(name).scheme
    found = list(orders.order_by("created_at", "pk").values_list("pk", name))
    if name in TIMED:
        for pk, value in found:
            assert orders.filter(pk=pk, created_at=scheme.created_at(value)).exists()
    sign = -1 if getattr(scheme, "descending", False) else 1
    assert ascends([sign * scheme.to_int(value) for _, value in found])


@pytest.mark.parametrize("size", [1, 7, 5000])
@pytest.mark.parametrize(("zone", "start"), ZONES)
@pytest.mark.parametrize("name", FIELDS)
def test_ids_have_the_times_by_which_the_orm_finds_the_rows(
    zoneless, settings, name, zone, start, size
):
    settings.TIME_ZONE = zone
    insert_local(start)
    assert fill(name, size).filled == 40
    assert_right(name)


@pytest.mark.parametrize(("zone", "start"), ZONES)
def test_verify_and_the_plan_read_the_same(zoneless, settings, zone, start):
    settings.TIME_ZONE = zone
    insert_local(start)
    planned = build("uuid7")
    assert planned.warnings == ("created_at is a timestamp without time zone and is read as UTC",)
    run.execute(planned)
    found = verify(find("uuid7"))
    assert (found.failures, found.other_time, found.rows) == ([], 0, 40)


def test_a_stopped_run_resumes_after_its_last_row(zoneless, settings):
    settings.TIME_ZONE = "Europe/Berlin"
    insert_local(EDGES["Europe/Berlin"][1])
    with pytest.raises(ZeroDivisionError):
        fill("snowflake", 7, lambda filled: 1 // 0)
    assert fill("snowflake", 7).filled == 33
    assert_right("snowflake")


def test_ids_that_were_there_say_since_when_the_application_gives_them(zoneless):
    insert_local(datetime(2024, 7, 1), 6)  # noqa: DTZ001
    last = Order.objects.order_by("pk").last()
    at = datetime(2024, 7, 1, 0, 20, tzinfo=UTC)
    Order.objects.filter(pk=last.pk).update(uuid7=field_of("uuid7").scheme.generate(at=at))
    assert build("uuid7").given_from == at


@pytest.fixture
def berlin(zoned, settings):
    """An alias whose session has a time zone with clock changes."""
    settings.TIME_ZONE = "America/New_York"
    make_zoneless()
    yield zoned("Europe/Berlin")
    execute("ALTER TABLE testapp_order ALTER created_at TYPE timestamptz")


@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize("start", EDGES["Europe/Berlin"])
@pytest.mark.parametrize("name", ["uuid7", "kuuid", "snowflake"])
def test_a_session_with_a_zone_of_its_own(berlin, name, start, size):
    # Nothing of the hour that the clock change skips, whose times PostgreSQL puts after later ones.
    insert_local(start, 12)
    insert_local(start + timedelta(hours=2), 12)
    assert fill(name, size, using=berlin).filled == 24
    assert_right(name, berlin)
    assert verify(find(name, berlin)).failures == []


@pytest.mark.parametrize("size", [3, 5000])
def test_a_session_with_a_zone_of_its_own_and_a_repeated_hour(berlin, size):
    insert_local(EDGES["Europe/Berlin"][1])
    assert fill("uuid7", size, using=berlin).filled == 40
    assert_right("uuid7", berlin)


@pytest.mark.parametrize("start", [datetime(2024, 3, 31, 2), datetime(2024, 3, 31, 2, 59)])  # noqa: DTZ001
def test_local_times_that_the_clock_of_the_session_skips_are_refused(berlin, start):
    insert_local(start - timedelta(hours=2), 2)
    insert_local(start, 1)
    insert_local(start + timedelta(hours=1), 2)
    with pytest.raises(BackfillError) as caught:
        build("uuid7", using=berlin)
    assert "1 rows of testapp.Order have a time that the clock of Europe/Berlin skips" in str(
        caught.value
    )
    # The default session is in UTC, which skips none.
    assert build("uuid7").missing == 5


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York"])
def test_naive_times_of_django_that_the_clock_skips_are_refused(zoneless, settings, zone):
    settings.USE_TZ = False
    settings.TIME_ZONE = zone
    insert_local(EDGES[zone][0] - timedelta(hours=1), 12)
    assert build("uuid7").missing == 12
    insert_local(EDGES[zone][0] + timedelta(hours=1), 12)
    with pytest.raises(BackfillError, match=f"12 rows .* the clock of {zone} skips"):
        build("uuid7")
