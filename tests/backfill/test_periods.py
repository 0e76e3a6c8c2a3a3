"""Rows whose times nobody recorded: spread over a period, or all of the time of the run."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from django.db import connection

from django_sortable_ids.backfill import plan, run
from django_sortable_ids.backfill.sources.find import find
from django_sortable_ids.models import BackfillRun
from tests.combinations import each_with

from .shop.models import BillLine, PairKey, TextKey, UUIDKey
from .support import command as call
from .support import insert, refusal

pytestmark = pytest.mark.django_db

NAME = "shop.BillLine.public_id"
PERIOD = ("--created-from=pk", "--start=2015-01-01", "--end=2024-06-30")
NEW_YORK = ZoneInfo("America/New_York")
LARGEST = 2**62 if connection.vendor == "mysql" else 2**63 - 1
"""After the largest of all, MariaDB and MySQL have no next key for the tests that follow."""
BEGIN = datetime(2015, 1, 1, tzinfo=NEW_YORK).astimezone(UTC)
END = datetime(2024, 7, 1, tzinfo=NEW_YORK).astimezone(UTC) - timedelta(microseconds=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def keys(*numbers):
    insert(BillLine, [{"id": number, "amount": 0} for number in numbers])


def filled(field="public_id", model=BillLine):
    return list(model.objects.exclude(**{field: None}).order_by(field).values_list("pk", field))


def wanted(key, first, last):
    """Milliseconds of the time of a key, by exact fractions."""
    share = Fraction(min(max(key, first), last) - first, max(last - first, 1))
    begin, length = ((at - EPOCH) // timedelta(microseconds=1) for at in (BEGIN, END))
    return int(begin + share * (length - begin)) // 1000


def assert_spread(first, last):
    found = filled()
    assert [pk for pk, _ in found] == sorted(BillLine.objects.values_list("pk", flat=True))
    assert [value.int >> 80 for _, value in found] == [wanted(pk, first, last) for pk, _ in found]


@pytest.mark.parametrize(
    ("numbers", "size"),
    each_with([range(1, 21), [5], [-7, 1, 3, 10**15], [1, 2, LARGEST]], [3, 100, 1]),
)
def test_times_are_linear_in_the_key(numbers, size):
    keys(*numbers)
    printed = call(NAME, *PERIOD, f"--batch-size={size}")
    assert printed[0] == (
        f"{NAME}: UUIDv7 of times from 2015-01-01T05:00:00+00:00 to "
        f"2024-07-01T03:59:59.999999+00:00, linear in the keys from {min(numbers)} to "
        f"{max(numbers)}"
    )
    assert_spread(min(numbers), max(numbers))
    lines = call(NAME, "--verify")
    assert lines[1] == "all different, strictly in order, and of their rows' times"


def test_times_and_zones_may_be_said():
    keys(1, 2)
    call(NAME, "--created-from=pk", "--start=2015-01-01T08:00", "--end=2016-01-01T08:00:00+02:00")
    begins = datetime(2015, 1, 1, 13, tzinfo=UTC), datetime(2016, 1, 1, 6, tzinfo=UTC)
    assert [value.int >> 80 for _, value in filled()] == [
        int(at.timestamp() * 1000) for at in begins
    ]


def test_the_time_of_one_row_is_found():
    keys(7)
    given = {"created_from": "pk", "start": "2015-01-01", "end": "2024-06-30"}
    source = find(NAME, given, None).source
    middle = datetime(2020, 1, 1, tzinfo=UTC)
    assert source.at(7) < middle
    assert BillLine.objects.filter(source.between(None, middle)).exists()
    assert not BillLine.objects.filter(source.between(middle, None)).exists()


def test_late_rows_have_the_time_of_their_key():
    keys(10, 20, 40)
    call(NAME, *PERIOD)
    assert BackfillRun.objects.get().options["first_key"] == 10
    keys(1, 30, 50, 60)
    assert "4 rows filled." in call(NAME, *PERIOD)
    assert_spread(10, 40)
    assert "strictly in order" in call(NAME, "--verify")[1]
    keys(25)
    assert "1 row filled." in call(NAME)
    assert_spread(10, 40)


def test_late_rows_at_the_first_moment_of_a_tick():
    keys(*range(1, 52))
    second = "2020-01-01T00:00:00"
    period = ("--created-from=pk", f"--start={second}.000995", f"--end={second}.001005")
    call(NAME, *period)
    BillLine.objects.filter(pk__range=(27, 30)).update(public_id=None)
    call(NAME, *period)
    assert "strictly in order" in call(NAME, "--verify")[1]


def test_ids_of_the_application_are_no_part_of_it():
    keys(1, 2, 3)
    own = BillLine.objects.create(id=9)
    call(NAME, *PERIOD)
    assert BackfillRun.objects.get().options["last_key"] == 3
    assert BillLine.objects.get(pk=9).public_id == own.public_id
    assert "1 id of the application or of another run: " in call(NAME, "--verify")[1]


def test_a_resumed_run_keeps_the_period():
    keys(*range(1, 11))
    given = {"created_from": "pk", "start": "2015-01-01", "end": "2024-06-30"}
    with pytest.raises(ZeroDivisionError):
        run.execute(plan.build(find(NAME, given, None), 4), lambda count: 1 // 0)
    keys(100)
    assert refusal(NAME, "--created-from=pk", "--start=2016-01-01", "--end=2024-06-30").startswith(
        f"a run on {NAME} has filled 4 rows with --created-from pk --start "
        f"2015-01-01T05:00:00+00:00 --end 2024-07-01T03:59:59.999999+00:00, and now it is "
        f"--created-from pk --start 2016-01-01T05:00:00+00:00"
    )
    assert "continues after 4 rows" in " ".join(call(NAME, "--dry-run"))
    call(NAME)
    assert_spread(1, 10)


def test_another_period_after_a_run_whose_ids_are_gone_has_its_own_keys():
    keys(1, 10)
    given = {"created_from": "pk", "start": "2015-01-01", "end": "2023-06-30"}
    planned = plan.build(find(NAME, given, None), 1)
    with pytest.raises(ZeroDivisionError):
        run.execute(planned, lambda count: 1 // 0)
    BillLine.objects.update(public_id=None)
    keys(100)
    call(NAME, *PERIOD)
    assert_spread(1, 100)


def test_several_rows_of_one_tick_and_one_tick_too_many():
    keys(*range(1, 18))
    second = ("--created-from=pk", "--start=2020-01-01T00:00:00", "--end=2020-01-01T00:00:00.001")
    message = refusal("shop.BillLine.eighth", *second)
    assert "more than 8 rows were created at 2020-01-01T05:00:00" in message
    assert filled("eighth") == []
    BillLine.objects.filter(pk__gt=9).delete()
    call("shop.BillLine.eighth", *second, "--batch-size=3")
    assert [pk for pk, _ in filled("eighth")] == list(range(1, 10))


def test_a_run_of_no_rows_decides_nothing_for_those_that_come():
    call(NAME, *PERIOD)
    keys(1, 2, 30)
    call(NAME, *PERIOD)
    assert_spread(1, 30)
    BackfillRun.objects.all().delete()
    own = BillLine.objects.create(id=31)
    call(NAME, "--created-at=now")
    keys(40)
    call(NAME, "--created-at=now")
    assert BillLine.objects.get(pk=40).public_id.int > own.public_id.int


ALL_THREE = (
    "--created-from pk spreads the rows over a period, --start 2015-01-01 --end 2024-06-30: "
)
BAD = {
    ("--created-from=pk",): ALL_THREE,
    ("--created-from=pk", "--start=2015-01-01"): ALL_THREE,
    ("--created-from=pk", "--end=2015-01-01"): ALL_THREE,
    ("--created-from=day", "--start=2015-01-01", "--end=2016-01-01"): ALL_THREE,
    ("--created-from=pk", "--start=2016-01-01", "--end=2015-01-01"): (
        "--start 2016-01-01 --end 2015-01-01: expected a start before the end, "
    ),
    ("--created-from=pk", "--start=2016", "--end=2017-01-01"): (
        "--start '2016': expected a day or a time, such as 2015-01-31 or 2015-01-31T08:30"
    ),
    ("--created-from=pk", "--start=1969-01-01", "--end=2017-01-01"): (
        "--start 1969-01-01 --end 2017-01-01: UUIDv7 has times from 1970-01-01 "
    ),
    ("--created-at=now", "--created-from=day"): (
        "--created-at sets the time of every row: give no other source"
    ),
    ("--created-from=pk", "--convert-from=ulid", "--start=2015-01-01", "--end=2016-01-01"): (
        "--created-from and --convert-from: give only one of them"
    ),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.items(), ids=str)
def test_bad_periods(arguments, message):
    keys(1)
    for option in [(), ("--dry-run",), ("--verify",)]:
        assert refusal(NAME, *arguments, *option).startswith(message)
    assert filled() == []
    assert not BackfillRun.objects.exists()


def test_an_end_in_the_future():
    keys(1)
    tomorrow = datetime.now(NEW_YORK) + timedelta(days=1)
    message = refusal(NAME, *PERIOD[:2], f"--end={tomorrow:%Y-%m-%d}")
    assert "an end before now" in message


@pytest.mark.parametrize(
    ("model", "kind"), [(UUIDKey, "UUIDField"), (TextKey, "CharField"), (PairKey, "Composite")]
)
def test_keys_that_do_not_count_up(model, kind):
    message = refusal(f"{model._meta.label}.public_id", *PERIOD)
    assert message.startswith("--created-from pk derives times from integers that count up")
    assert f"is of type {kind}" in message


# All of one time


@pytest.mark.parametrize("size", [3, 100])
def test_every_row_has_the_time_at_which_the_first_run_started(size):
    keys(*range(20, 0, -1))
    begin = datetime.now(UTC)
    printed = call(NAME, "--created-at=now", f"--batch-size={size}")
    end = datetime.now(UTC)
    assert "for every row, in the order of the key" in printed[0]
    found = filled()
    assert [pk for pk, _ in found] == list(range(1, 21))
    (tick,) = {value.int >> 80 for _, value in found}
    assert int(begin.timestamp() * 1000) <= tick <= end.timestamp() * 1000
    assert printed[1].strip().startswith("this is the start of the first run; later runs and")
    keys(30)
    call(NAME, "--created-at=now")
    assert {value.int >> 80 for _, value in filled()} == {tick}
    assert call(NAME, "--verify")[1] == "all different, strictly in order, and of their rows' times"


def test_begun_again_without_any_id_it_has_the_time_of_that():
    keys(1, 2)
    call(NAME, "--created-at=now")
    before = filled()[0][1]
    BillLine.objects.update(public_id=None)
    call(NAME, "--created-at=now")
    assert filled()[0][1].int >> 80 > before.int >> 80
