"""What happens to counts that take long, with rows that each take two milliseconds to look at."""

import time
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import BooleanField, Count, Func, Value
from django.db.models.lookups import Exact
from django.utils import timezone

from django_sortable_ids import db
from django_sortable_ids.db.counting import Select, scalars
from django_sortable_ids.functions import histogram
from django_sortable_ids.histograms import counting
from django_sortable_ids.histograms.counting import Span
from django_sortable_ids.histograms.histogram import UNITS, drawn, spans, start_of
from tests.combinations import in_one_case
from tests.lookups.support import fill, utc
from tests.support import execute
from tests.testapp.models import Order

pytestmark = pytest.mark.django_db

START = utc(2026, 7, 1, 12)


class Slow(Func):
    """True, after two milliseconds for each row."""

    arity = 1
    output_field = BooleanField()

    def as_sqlite(self, compiler, connection, **extra):
        connection.connection.create_function("slow", 1, lambda _: time.sleep(0.002) or 1)
        return self.as_sql(compiler, connection, template="slow(%(expressions)s)")

    def as_postgresql(self, compiler, connection, **extra):
        template = "(CASE WHEN %(expressions)s > 0 THEN pg_sleep(0.002) END IS NOT NULL)"
        return self.as_sql(compiler, connection, template=template)

    def as_mysql(self, compiler, connection, **extra):
        # SLEEP is 1 where the time limit interrupts it.
        return self.as_sql(
            compiler, connection, template="(SLEEP(0.002 + %(expressions)s * 0) IN (0, 1))"
        )


@pytest.fixture
def slow(monkeypatch):
    """Two days with 600 and 3 rows, which take more than 1 s to count."""
    fill("uuid7", [START + timedelta(seconds=n) for n in range(600)])
    fill("uuid7", [START + timedelta(days=1, minutes=n) for n in range(3)])
    monkeypatch.setattr(counting, "_ROWS", 3 * 10)
    monkeypatch.setattr(db.counting, "_STEPS", 100)  # some ten rows
    return Order.objects.filter(Exact(Slow("id"), Value(True)))


def counted(rows, seconds):
    end = START + timedelta(days=2)
    bars = histogram(rows, "uuid7", "day", START, end, time_limit=seconds)
    return [(bar.count, bar.count.precision) for bar in bars][:2]


def test_counts_that_take_too_long_have_a_limit(slow):
    started = time.monotonic()
    assert counted(slow, 1.0) == [(11, "minimum"), (3, "exact")]
    assert time.monotonic() - started < 1.5


def test_counts_are_left_out_where_the_limit_takes_too_long_too(slow):
    started = time.monotonic()
    assert counted(slow, 0.005) == [(0, "minimum"), (0, "minimum")]
    assert time.monotonic() - started < 1.5


ESTIMATES = connection.vendor != "sqlite"
THOUSAND = 1_000 if ESTIMATES else 100
"""Rows: as many as it takes for an estimate."""


@pytest.fixture
def busy(monkeypatch):
    """Two days with three thousand rows and one, and no time for exact counts."""
    fill("uuid7", [START + timedelta(seconds=n) for n in range(3 * THOUSAND)])
    fill("uuid7", [START + timedelta(days=1, seconds=n) for n in range(THOUSAND)])
    if connection.vendor == "postgresql":
        execute(f"ANALYZE {Order._meta.db_table}")
    monkeypatch.setattr(counting, "_SHARE", 0)
    monkeypatch.setattr(counting, "_ROWS", 40)


def bars_of(rows):
    return histogram(rows, "uuid7", "day", START, START + timedelta(days=2), time_limit=5)


def test_counts_of_a_whole_table_are_estimates_where_the_database_has_some(busy):
    first, second, *_ = bars_of(Order.objects.all())
    if ESTIMATES:
        assert first.count.precision == "estimated"
        assert 2_000 < first.count < 4_000
        assert 500 < second.count < 2_000
        assert drawn([first])[0].count.startswith("about ")
        assert not drawn([first])[0].is_minimum
    else:
        assert [str(each.count) for each in (first, second)] == ["more than 10"] * 2
        assert drawn([first])[0].is_minimum


def test_bars_before_the_first_time_of_an_id_leave_the_others_their_estimates(busy):
    start = utc(1969, 1, 1)
    end = START + timedelta(days=2)
    first, *_, last = histogram(Order.objects.all(), "uuid7", "year", start, end, time_limit=5)
    assert (first.count, first.count.precision) == (0, "exact")
    expected = {"postgresql": ["estimated"], "sqlite": ["minimum"]}
    # InnoDB estimates a range from random pages, and MariaDB none that seems to have all rows.
    assert last.count.precision in expected.get(connection.vendor, ["estimated", "minimum"])


def test_other_rows_never_show_through_an_estimate(busy):
    bars = bars_of(Order.objects.exclude(name="of somebody else"))
    assert "estimated" not in {bar.count.precision for bar in bars}


def test_rows_that_a_join_may_repeat_are_not_estimated(busy, monkeypatch):
    monkeypatch.setattr(counting, "estimated_rows", lambda _: 9_000)
    orders = Order.objects.all()
    grouped = orders.annotate(n=Count("pk"))
    for rows, is_estimated in ((orders, True), (orders.distinct(), False), (grouped, False)):
        precisions = {bar.count.precision for bar in bars_of(rows)}
        assert ("estimated" in precisions) is is_estimated


def test_ends_that_are_not_found_in_time_are_an_error(slow):
    none = Order.objects.filter(Exact(Slow("id"), Value(False)))
    with pytest.raises(
        ValueError, match=r"the first and the last uuid7 were not found within 0\.1 "
    ):
        histogram(none, "uuid7", "day", time_limit=0.1)


SLOW = """
    SELECT MAX(a.id + b.id + c.id + d.id)
    FROM testapp_order a, testapp_order b, testapp_order c, testapp_order d
"""


@pytest.fixture
def rows():
    fill("uuid7", [START] * 200)


def test_the_next_statement_has_the_limit_that_was_set_before(rows):
    if connection.vendor != "postgresql":
        assert scalars("default", [Select(SLOW, [])], 0.05) is None
        assert len(Order.objects.raw("SELECT * FROM testapp_order ORDER BY name, number")) == 202
        return
    both = [Select("SELECT 1", []), Select("SELECT %s", [2])]
    for before, limit in (("0", 0.05), ("7s", 0.05), ("30ms", 60)):
        execute(f"SET LOCAL statement_timeout = '{before}'")
        assert scalars("default", both, limit) == (1, 2)
        assert scalars("default", [Select(SLOW, [])], limit) is None
        assert execute("SHOW statement_timeout") == [(before,)]


@pytest.mark.django_db(transaction=True)
def test_outside_of_a_transaction_nothing_is_left_over():
    Order.objects.create(name="x")
    assert not connection.in_atomic_block
    assert scalars("default", [Select("SELECT COUNT(*) FROM testapp_order", [])], 5) == (1,)
    assert not connection.in_atomic_block
    if connection.vendor == "postgresql":
        assert execute("SHOW statement_timeout") == [("0",)]


def test_other_errors_are_raised():
    with pytest.raises(DatabaseError), transaction.atomic():
        scalars("default", [Select("SELECT nothing FROM nowhere", [])], 5)


# Calendar spans, compared with a walk through the minutes of a time zone.


DAY = timedelta(days=1)
CHANGES = [
    pytest.param("America/New_York", "2026-03-08", id="an hour that is left out"),
    pytest.param("America/New_York", "2026-11-01", id="an hour that repeats"),
    pytest.param("Australia/Lord_Howe", "2026-04-05", id="half an hour that repeats"),
    pytest.param("Asia/Beirut", "2026-03-29", id="a day without midnight"),
    pytest.param("Asia/Beirut", "2026-10-24", id="a day that ends twice"),
    pytest.param("America/Sao_Paulo", "2018-11-04", id="midnight is left out"),
    pytest.param("Pacific/Apia", "2011-12-30", id="a day that is left out"),
    pytest.param("Africa/Monrovia", "1972-01-07", id="45 minutes that are left out"),
    pytest.param("UTC", "2024-02-29", id="UTC"),
]
LABELS = {
    "year": lambda at: at.year,
    "quarter": lambda at: (at.year, (at.month - 1) // 3),
    "month": lambda at: (at.year, at.month),
    "week": lambda at: at.isocalendar()[:2],
    "day": lambda at: at.date(),
    "hour": lambda at: (at.date(), at.hour, at.utcoffset()),
    "minute": lambda at: (at.date(), at.hour, at.minute, at.utcoffset()),
}


each_change = in_one_case(("zone", "day"), CHANGES)
"""With a day before a change of the clock, to a day after it."""


def days_around(day):
    middle = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return middle - DAY, middle + 2 * DAY


def walked(unit, start, end):
    """The spans by the clock of each minute. Where it shows another label, one ends."""
    # Monrovia was 44.5 minutes from UTC.
    step = timedelta(seconds=60 if timezone.localtime(start).second == 0 else 30)
    instants = [start + step * number for number in range((end - start) // step)]
    for _, group in groupby(instants, lambda at: LABELS[unit](timezone.localtime(at))):
        alike = list(group)
        yield Span(alike[0], alike[-1] + step)


@pytest.mark.parametrize("unit", ["day", "hour"])
@each_change
def test_spans_are_those_that_the_clock_shows(zone, day, unit):
    days = days_around(day)
    with timezone.override(zone):
        assert list(spans(unit, *days)) == list(walked(unit, *days))


def test_minutes_are_those_that_the_clock_shows():
    start = datetime(1972, 1, 7, 0, 30, tzinfo=UTC)
    with timezone.override("Africa/Monrovia"):
        span = start, start + timedelta(hours=3)
        assert list(spans("minute", *span)) == list(walked("minute", *span))


@pytest.mark.parametrize("unit", ["year", "quarter", "month", "week"])
def test_longer_units_through_some_years(unit):
    start, end = datetime(2023, 11, 15, tzinfo=UTC), datetime(2028, 3, 3, tzinfo=UTC)
    with timezone.override("America/New_York"):
        found = list(spans(unit, start, end))
        labels = [LABELS[unit](timezone.localtime(span.start)) for span in found]
        for span in found:
            assert LABELS[unit](timezone.localtime(span.start)) == LABELS[unit](
                timezone.localtime(span.end - DAY)
            )
        midnights = [timezone.localtime(span.end).time().isoformat() for span in found[:-1]]
    assert len(set(labels)) == len(labels) > 4
    assert set(midnights) == {"00:00:00"}
    assert all(first.end == second.start for first, second in pairwise(found))
    assert (found[0].start, found[-1].end) == (start, end)


@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
@pytest.mark.parametrize("unit", UNITS)
def test_the_ends_of_the_calendar(zone, unit):
    first = datetime.min.replace(tzinfo=UTC)
    last = datetime.max.replace(tzinfo=UTC)
    with timezone.override(zone):
        for start, end in ((first, first + DAY), (last - DAY, last)):
            found = list(spans(unit, start, end))
            assert (found[0].start, found[-1].end) == (start, end)
            assert all(each.start < each.end for each in found)
            assert start_of(unit, start, timezone.get_current_timezone()) <= start
