"""``USE_TZ = False``: naive times are those of ``TIME_ZONE``, which skips and repeats hours."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection

from django_sortable_ids.backfill import plan
from django_sortable_ids.backfill.verify import verify
from django_sortable_ids.errors import BackfillError
from tests.combinations import each_with
from tests.support import refusal_of

from .shop.models import Plain
from .support import (
    KINDS,
    MICROSECOND,
    SECOND,
    TIMED,
    build,
    command,
    field_of,
    fill,
    find,
    ids,
    insert,
    insert_orders,
    is_strict,
    rows,
    times_are_right,
)

pytestmark = pytest.mark.django_db

SUMMER = datetime(2024, 7, 1, 12, 0)  # noqa: DTZ001 - naive times are what this is about
SKIPPED = datetime(2024, 3, 10, 2, 30)  # noqa: DTZ001
REPEATED = datetime(2024, 11, 3, 1, 30)  # noqa: DTZ001
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def naive(settings):
    settings.USE_TZ = False
    settings.TIME_ZONE = "America/New_York"


@pytest.mark.parametrize(("name", "size"), each_with(KINDS, [1, 7]))
def test_naive_times_are_local_ones(name, size):
    insert_orders([SUMMER + i // 3 * SECOND for i in range(20)])
    assert fill(name, size).filled == 20
    assert is_strict(name)
    if name in TIMED:
        assert times_are_right(name)
        first = field_of(name).scheme.created_at(ids(name)[0])
        assert first == datetime(2024, 7, 1, 16, 0, tzinfo=UTC)


def test_the_last_day_of_the_calendar():
    days = (SUMMER.date(), SUMMER.date(), date.max)
    insert(Plain, [{"created_at": SUMMER, "day": day} for day in days])
    command("shop.Plain.public_id", created_from="day")
    assert "and of their rows' times" in command("shop.Plain.public_id", verify=True)[1]


def test_the_plan_says_so():
    insert_orders([SUMMER])
    # PostgreSQL has the instants.
    expected = ["created_at is naive (USE_TZ=False) and is read as America/New_York"]
    assert list(build("uuid7").warnings) == ([] if connection.vendor == "postgresql" else expected)


@pytest.mark.parametrize(
    ("name", "start", "size"), each_with(KINDS[:-1], [SKIPPED, REPEATED], [4, 40])
)
def test_days_when_clocks_change_keep_the_order(name, start, size):
    times = [start + (i // 2 - 10) * 10 * MINUTE for i in range(40)]
    there_are = [at for at in times if not SKIPPED <= at + 30 * MINUTE < SKIPPED + 60 * MINUTE]
    insert_orders(there_are)
    assert fill(name, size).filled == len(there_are)
    assert is_strict(name)
    assert times_are_right(name)


refused = pytest.mark.skipif(
    connection.vendor == "postgresql", reason="PostgreSQL moves such times itself"
)


@refused
@pytest.mark.parametrize(
    ("zone", "first", "last"),
    [
        ("America/New_York", datetime(2024, 3, 10, 2), datetime(2024, 3, 10, 3)),  # noqa: DTZ001
        # A day that Samoa never had.
        ("Pacific/Apia", datetime(2011, 12, 30), datetime(2011, 12, 31)),  # noqa: DTZ001
    ],
)
def test_local_times_that_the_clock_skips_are_refused(settings, zone, first, last):
    settings.TIME_ZONE = zone
    insert_orders([datetime(1970, 1, 2), first - MINUTE, first, last - MICROSECOND, last])  # noqa: DTZ001
    keys = list(rows("uuid7").values_list("pk", flat=True))
    assert refusal_of(build, "uuid7").startswith(
        f"2 rows of testapp.Order with a time that the clock of {zone} skips, such as {keys[2]}, "
        f"with the created_at {str(first)[:10]}"
    )
    assert build("number").missing == 5
    rows("uuid7").filter(pk__in=keys[2:4]).delete()
    assert fill("uuid7", 2).filled == 3
    assert times_are_right("uuid7")
    assert verify(find("uuid7")).other_time == 0


@refused
def test_rows_with_an_id_are_not_looked_at():
    insert_orders([SUMMER, SKIPPED])
    rows("uuid7").filter(pk=rows("uuid7")[0].pk).update(
        uuid7=field_of("uuid7").scheme.generate(datetime(2024, 3, 10, 7, 30, tzinfo=UTC))
    )
    assert fill("uuid7").filled == 1


def test_a_stopped_run_goes_on_in_the_same_zone_only(settings):
    insert_orders([SUMMER] * 5)
    with pytest.raises(ZeroDivisionError):
        fill("uuid7", 3, lambda filled: 1 // 0)
    settings.TIME_ZONE = "Asia/Tokyo"
    with pytest.raises(BackfillError) as caught:
        plan.build(find("uuid7"), 10)
    assert "time_zone = 'America/New_York', and now it is time_zone = 'Asia/Tokyo'" in str(
        caught.value
    )
    settings.TIME_ZONE = "America/New_York"
    assert fill("uuid7").filled == 2
    assert is_strict("uuid7")


# PostgreSQL has instants, and that of Tokyo is one that a scheme holds.
@pytest.mark.parametrize(
    "zone", ["Asia/Tokyo"] * (connection.vendor != "postgresql") + ["America/New_York"]
)
def test_the_end_of_the_calendar_is_refused(settings, zone):
    settings.TIME_ZONE = zone
    insert_orders([SUMMER, datetime.max], name="")  # noqa: DTZ901
    with pytest.raises(BackfillError, match="is too new"):
        build("uuid7")
