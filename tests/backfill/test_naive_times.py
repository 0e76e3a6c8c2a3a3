"""``USE_TZ = False``: naive times are those of ``TIME_ZONE``, which skips and repeats hours."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.errors import BackfillError
from django_sortable_ids.backfill.verify import verify
from django_sortable_ids.models import BackfillRun

from .shop.models import Tight
from .support import (
    FIELDS,
    SECOND,
    TIMED,
    build,
    field_of,
    fill,
    find,
    ids,
    insert,
    insert_orders,
    is_strict,
    rows,
    saved_run,
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


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("name", FIELDS)
def test_naive_times_are_local_ones(name, size):
    insert_orders([SUMMER + i // 3 * SECOND for i in range(20)])
    assert fill(name, size).filled == 20
    assert is_strict(name)
    if name in TIMED:
        assert times_are_right(name)
        first = field_of(name).scheme.created_at(ids(name)[0])
        assert first == datetime(2024, 7, 1, 16, 0, tzinfo=UTC)


def test_the_plan_says_so():
    insert_orders([SUMMER])
    assert build("uuid7").warnings == (
        "created_at is naive (USE_TZ=False) and is read as America/New_York",
    )


@pytest.mark.parametrize("size", [4, 40])
@pytest.mark.parametrize("start", [SKIPPED, REPEATED], ids=["skipped", "repeated"])
@pytest.mark.parametrize("name", TIMED)
def test_days_when_clocks_change_keep_the_order(name, start, size):
    insert_orders([start + (i // 2 - 10) * 10 * MINUTE for i in range(40)])
    assert fill(name, size).filled == 40
    assert is_strict(name)


@pytest.mark.skipif(connection.vendor == "postgresql", reason="PostgreSQL moves such times itself")
@pytest.mark.parametrize("size", [1, 3, 20])
def test_what_is_pressed_into_one_tick_leaves_room_for_what_follows(size):
    """2:30 is read as 3:30, and the rows of 3:00 to 3:29 sort behind it."""
    insert(Tight, [{"created_at": SKIPPED}])
    insert(Tight, [{"created_at": SKIPPED + (31 + i) * MINUTE} for i in range(7)])
    assert fill("shop.Tight.eighth", size).filled == 8
    assert is_strict("shop.Tight.eighth")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="PostgreSQL tells the two apart")
@pytest.mark.parametrize("size", [1, 3, 20])
def test_the_second_of_two_equal_hours_sorts_behind_the_first(size):
    with connection.cursor() as cursor:
        for minute in (0, 15, 30, 45, 60, 75, 90, 105):
            cursor.execute(
                "INSERT INTO shop_tight (created_at) VALUES (timestamptz '2024-11-03 05:00Z' + "
                "%s * interval '1 minute')",
                [minute],
            )
    assert fill("shop.Tight.eighth", size).filled == 8
    assert is_strict("shop.Tight.eighth")


@pytest.mark.parametrize("start", [SKIPPED, REPEATED, SUMMER])
def test_late_rows_are_sorted_in(start):
    insert_orders([start + i // 3 * MINUTE for i in range(9)])
    late = [start, start + MINUTE, start - MINUTE]
    calls = []

    def progress(filled):
        calls.append(filled)
        if len(calls) == 3:
            insert_orders(late)

    assert run.execute(build("kuuid", 3), progress).filled == 12
    assert start == SKIPPED or is_strict("kuuid")


def test_verify_passes():
    insert_orders([SUMMER + i // 3 * SECOND for i in range(20)])
    fill("uuid7", 7)
    found = verify(find("uuid7"))
    assert (found.failures, found.other_time) == ([], 0)


def test_a_stopped_run_goes_on_in_the_same_zone_only(settings):
    insert_orders([SUMMER] * 5)
    with pytest.raises(ZeroDivisionError):
        fill("uuid7", 3, lambda filled: 1 // 0)
    settings.TIME_ZONE = "Asia/Tokyo"
    with pytest.raises(BackfillError) as caught:
        plan.build(find("uuid7"), 10)
    assert "time_zone = 'America/New_York', and now it is 'Asia/Tokyo'" in str(caught.value)
    settings.TIME_ZONE = "America/New_York"
    assert fill("uuid7").filled == 2
    assert is_strict("uuid7")


def test_a_project_that_turns_to_aware_times_can_still_verify(settings):
    insert_orders([SUMMER] * 5)
    fill("uuid7", 3)
    run_before = saved_run("uuid7")
    settings.USE_TZ = True
    rows("uuid7").update(created_at=datetime(2024, 7, 1, 16, 0, tzinfo=UTC))
    assert verify(find("uuid7")).failures == []
    assert BackfillRun.objects.get().cursor == run_before.cursor


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_the_end_of_the_calendar_is_refused(settings, zone):
    settings.TIME_ZONE = zone
    insert_orders([SUMMER, datetime.max], name="")  # noqa: DTZ901
    with pytest.raises(BackfillError, match="is too new"):
        build("uuid7")
