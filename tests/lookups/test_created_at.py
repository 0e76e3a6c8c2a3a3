"""``id__created_at`` finds what the same filter finds on a column of the same times."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise, product
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.utils import timezone

from tests.combinations import each_with, in_one_case
from tests.testapp.models import Order

from .support import (
    FIELDS,
    KINDS_OF_TICK,
    compare,
    each_field,
    each_kind_of_tick,
    fill,
    keys,
    scheme_of,
    utc,
)

pytestmark = pytest.mark.django_db

# A zone, and local days around which its clocks change: in Havana at midnight, and by what was
# still to come in 2025 nobody's tables agree. Apia went without 30 December 2011.
ZONES = {
    "America/Havana": [date(2024, 3, 10), date(2024, 11, 3), date(2024, 1, 1)],
    "America/New_York": [date(2026, 3, 8), date(2026, 11, 1), date(2026, 1, 1)],
    "Europe/Berlin": [date(2026, 3, 29), date(2025, 10, 26), date(2025, 12, 31)],
    "Pacific/Apia": [date(2011, 12, 30), date(2011, 12, 31), date(2012, 1, 1)],
}
each_kind_of_tick_in_a_zone = in_one_case(("name", "zone"), each_with(KINDS_OF_TICK, list(ZONES)))


COMPARISONS = ["", "__exact", "__gt", "__gte", "__lt", "__lte"]
MICROSECOND = timedelta(microseconds=1)


def moments_of(zone, days):
    """Moments around midnights, and around the hours in which clocks change."""
    found = set()
    for day in days:
        midnight = datetime.combine(day, time.min, ZoneInfo(zone)).astimezone(UTC)
        for shift in (-1, 0, 1, 2):
            shifted = midnight + timedelta(days=shift)
            found |= {shifted - timedelta(hours=1), shifted - MICROSECOND, shifted}
        found |= {midnight + timedelta(minutes=20 * n) for n in range(1, 12)}
    return sorted(found)


def rows_of(name):
    """The times of the stored rows, floored: ticks are 100 ns to a second long."""
    noon = utc(2026, 3, 8, 12, 0, 0, 500)
    steps = (1, 99, 100, 999, 1000, 1001, 999_999, 1_000_000, 3_600_000_000)
    microseconds = [0, *steps, *(-step for step in steps)]
    return fill(name, [utc(2025, 1, 1), *(noon + MICROSECOND * n for n in microseconds)])


@each_field
def test_moments(name):
    stored = rows_of(name)
    for lookup in COMPARISONS:
        for moment in stored[::5]:
            for value in (moment - MICROSECOND, moment, moment + MICROSECOND):
                compare(name, lookup, value)
        compare(name, lookup, stored[3].astimezone(ZoneInfo("Europe/Berlin")))


@each_kind_of_tick
def test_ranges_and_lists_of_moments(name):
    stored = rows_of(name)
    for first, last in [*pairwise(stored[::3]), (stored[0], stored[-1]), (stored[-1], stored[0])]:
        compare(name, "__range", (first, last))
        compare(name, "__range", (first + MICROSECOND, last))
        compare(name, "__in", [first, last])
    for ends in ((None, stored[3]), (stored[3], None), (None, None)):
        compare(name, "__range", ends)
        compare(name, "__date__range", [end and end.date() for end in ends])
    compare(name, "__in", [stored[0], None, stored[3], stored[3] + MICROSECOND])

    compare(name, "__in", stored)
    compare(name, "__in", [])
    compare(name, "__in", [None])
    found = Order.objects.filter(**{f"{name}__created_at__in": iter(stored[:1])})
    assert set(found.values_list("created_at", flat=True)) == {stored[0]}


def test_a_list_longer_than_the_depth_of_an_expression():
    stored = rows_of("ulid")
    assert compare("ulid", "__in", [stored[0] + timedelta(days=n) for n in range(1100)])[0]


@each_kind_of_tick
def test_isnull(name):
    rows_of(name)
    for path, value in product(("", "__date", "__year"), (True, False)):
        by_id = keys(**{f"{name}__created_at{path}__isnull": value})
        assert by_id == keys(created_at__isnull=value)


def on_day(zone, moment):
    return moment.astimezone(ZoneInfo(zone)).date()


DATE_LOOKUPS = {
    "": lambda found, day: found == day,
    "__gt": lambda found, day: found > day,
    "__gte": lambda found, day: found >= day,
    "__lt": lambda found, day: found < day,
    "__lte": lambda found, day: found <= day,
}


@each_kind_of_tick_in_a_zone
def test_dates(name, zone):
    days = ZONES[zone]
    stored = fill(name, moments_of(zone, days))
    with timezone.override(zone):
        for day in sorted(set(days) | {days[0] + timedelta(days=n) for n in (-2, -1, 1)}):
            for lookup, matches in DATE_LOOKUPS.items():
                found = Order.objects.filter(**{f"{name}__created_at__date{lookup}": day})
                expected = [moment for moment in stored if matches(on_day(zone, moment), day)]
                assert sorted(set(found.values_list("created_at", flat=True))) == expected
                if connection.features.has_zoneinfo_database:
                    compare(name, f"__date{lookup}", day)


@each_kind_of_tick_in_a_zone
def test_years(name, zone):
    days = ZONES[zone]
    fill(name, moments_of(zone, days))
    with timezone.override(zone):
        for year in sorted({day.year + n for day in days for n in (-1, 0, 1)}):
            for lookup in COMPARISONS:
                compare(name, f"__year{lookup}", year)
        compare(name, "__year", str(days[0].year))


@each_kind_of_tick_in_a_zone
def test_ranges_and_lists_of_dates_and_years(name, zone):
    days = ZONES[zone]
    stored = fill(name, moments_of(zone, days))
    dates = {at: on_day(zone, at) for at in stored}
    first, last = min(days), max(days)
    for path, of_rows, ends in [
        ("date", dates, (first, last)),
        ("year", {at: day.year for at, day in dates.items()}, (first.year - 1, last.year + 1)),
    ]:
        for lookup, value, wanted in [
            ("range", ends, {part for part in of_rows.values() if ends[0] <= part <= ends[1]}),
            ("range", ends[::-1], set()),
            ("in", [*ends, None], set(ends)),
            ("in", [], set()),
        ]:
            with timezone.override(zone):
                found = Order.objects.filter(**{f"{name}__created_at__{path}__{lookup}": value})
                moments = sorted(set(found.values_list("created_at", flat=True)))
            assert moments == [at for at in stored if of_rows[at] in wanted]


@pytest.mark.filterwarnings("ignore:DateTimeField .* received a naive datetime")
@each_field
def test_dates_texts_and_naive_times_for_moments(name):
    rows_of(name)
    for value in (
        date(2026, 3, 8),
        "2026-03-08",
        "2026-03-08 12:00:00",
        "2026-03-08T12:00:00Z",
        "2026-03-08T12:00:00.0005+00:00",
        datetime(2026, 3, 8, 8, 0, 0, 500),  # noqa: DTZ001
    ):
        for lookup in COMPARISONS:
            compare(name, lookup, value)


@pytest.mark.filterwarnings("ignore:DateTimeField .* received a naive datetime")
@in_one_case(("name", "zone"), each_with(FIELDS, ["UTC", "America/New_York", "Pacific/Apia"]))
def test_the_ends_of_the_calendar(name, zone, settings):
    rows_of(name)
    settings.TIME_ZONE = zone
    everything = Order.objects.filter(created_at__isnull=False).count()
    for low in (datetime.min, datetime.min.replace(tzinfo=UTC), date.min):  # noqa: DTZ901
        counts(name, low, {"gt": everything, "gte": everything, "lt": 0, "lte": 0, "exact": 0})
    for high in (datetime.max, datetime.max.replace(tzinfo=UTC), date.max):  # noqa: DTZ901
        counts(name, high, {"gt": 0, "gte": 0, "lt": everything, "lte": everything, "exact": 0})
    counts(name, date.min, {"date__gte": everything, "date__lt": 0, "date": 0})
    counts(name, date.max, {"date__lte": everything, "date__gt": 0, "date": 0})
    counts(name, 1, {"year__gte": everything, "year__lt": 0, "year": 0})
    counts(name, 9999, {"year__lte": everything, "year__gt": 0, "year": 0})
    whole = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
    counts(name, whole, {"range": everything})
    counts(name, (date.min, date.max), {"date__range": everything})
    counts(name, (1, 9999), {"year__range": everything})


def counts(name, value, expected):
    for lookup, count in expected.items():
        found = Order.objects.filter(**{f"{name}__created_at__{lookup}": value})
        assert found.count() == count, (lookup, value)


@each_field
def test_times_that_the_scheme_can_not_hold(name):
    """Nothing or all that have an id, never those without."""
    rows_of(name)
    scheme = scheme_of(name)
    everything = Order.objects.filter(created_at__isnull=False).count()
    before, after = scheme.earliest - timedelta(seconds=1), utc(9999, 12, 31, 23)
    counts(name, before, {"gte": everything, "gt": everything, "lt": 0, "lte": 0, "exact": 0})
    counts(name, after, {"gte": 0, "gt": 0, "lt": everything, "lte": everything, "exact": 0})
    counts(name, (before, after), {"range": everything})
    counts(name, (before - timedelta(days=1), before), {"range": 0})
    counts(name, [before, after], {"in": 0})
    if scheme.latest.year < 9999:
        counts(name, scheme.latest + timedelta(days=1), {"gte": 0, "lt": everything})
        counts(name, scheme.latest.year + 1, {"year": 0, "year__gte": 0, "year__lt": everything})


@each_kind_of_tick_in_a_zone
def test_without_time_zones(name, zone, settings):
    """The column then holds local times, and both compare in the zone of the settings."""
    settings.TIME_ZONE, settings.USE_TZ = zone, False
    moments = moments_of(zone, ZONES[zone][:1])
    stored = fill(name, [at for at in moments if is_single(at.astimezone(ZoneInfo(zone)))])
    assert len(stored) > 10
    for at in stored[::4]:
        for value in (at, at + timedelta(minutes=90)):
            if is_single(value.replace(tzinfo=ZoneInfo(zone))):
                for lookup in COMPARISONS:
                    compare(name, lookup, value)
    with timezone.override("Asia/Tokyo"):  # which then means nothing
        for at in stored[::7]:
            for lookup in COMPARISONS[1:]:
                compare(name, f"__date{lookup}", at.date())
                compare(name, f"__year{lookup}", at.year)
    compare(name, "__range", (stored[0], stored[-1]))


def is_single(local):
    """Whether the clock shows that time once, not twice and not never, so that a column without a
    zone can tell it.
    """
    return local.replace(fold=0).utcoffset() == local.replace(fold=1).utcoffset()
