"""Calendar spans, compared with a walk through the minutes of a time zone."""

from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise

import pytest
from django.utils import timezone

from django_sortable_ids.histograms.spans import UNITS, Span, end_of, local, spans, start_of
from tests.combinations import in_one_case

DAY = timedelta(days=1)
CHANGES = [
    pytest.param("Europe/Berlin", "2026-03-29", id="a day of 23 hours"),
    pytest.param("Europe/Berlin", "2026-10-25", id="a day of 25 hours"),
    pytest.param("America/New_York", "2026-03-08", id="an hour that is left out"),
    pytest.param("America/New_York", "2026-11-01", id="an hour that repeats"),
    pytest.param("Australia/Lord_Howe", "2026-04-05", id="half an hour that repeats"),
    pytest.param("Australia/Lord_Howe", "2026-10-04", id="half an hour that is left out"),
    pytest.param("Asia/Beirut", "2026-03-29", id="a day without midnight"),
    pytest.param("Asia/Beirut", "2026-10-24", id="a day that ends twice"),
    pytest.param("America/Sao_Paulo", "2018-11-04", id="midnight is left out"),
    pytest.param("America/Sao_Paulo", "2018-02-17", id="the hour before midnight repeats"),
    pytest.param("Pacific/Apia", "2011-12-30", id="a day that is left out"),
    pytest.param("Africa/Monrovia", "1972-01-07", id="45 minutes that are left out"),
    pytest.param("Asia/Kathmandu", "2025-12-31", id="no whole hour from UTC"),
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
    step = timedelta(seconds=60 if local(start).second == 0 else 30)
    instants = [start + step * number for number in range((end - start) // step)]
    for _, group in groupby(instants, lambda at: LABELS[unit](local(at))):
        alike = list(group)
        yield Span(alike[0], alike[-1] + step)


@pytest.mark.parametrize("unit", UNITS)
@each_change
def test_spans_are_those_that_the_clock_shows(zone, day, unit):
    days = days_around(day)
    with timezone.override(zone):
        assert list(spans(unit, *days)) == list(walked(unit, *days))


@pytest.mark.parametrize("unit", UNITS)
@each_change
def test_an_instant_lies_between_the_ends_of_its_unit(zone, day, unit):
    start, _end = days_around(day)
    with timezone.override(zone):
        for number in range(3 * 23 * 2):
            at = start + timedelta(minutes=31 * number, seconds=7)
            assert start_of(unit, at) <= at < end_of(unit, at)
            assert start_of(unit, start_of(unit, at)) == start_of(unit, at)
            assert end_of(unit, start_of(unit, at)) == end_of(unit, at)


@pytest.mark.parametrize("unit", ["year", "quarter", "month", "week"])
def test_longer_units_through_some_years(unit):
    start, end = datetime(2023, 11, 15, tzinfo=UTC), datetime(2028, 3, 3, tzinfo=UTC)
    with timezone.override("America/New_York"):
        found = list(spans(unit, start, end))
        labels = [LABELS[unit](local(span.start)) for span in found]
        for span in found:
            assert LABELS[unit](local(span.start)) == LABELS[unit](local(span.end - DAY))
        midnights = [local(span.end).time().isoformat() for span in found[:-1]]
    assert len(set(labels)) == len(labels) > 4
    assert set(midnights) == {"00:00:00"}
    assert all(first.end == second.start for first, second in pairwise(found))
    assert (found[0].start, found[-1].end) == (start, end)


def test_a_clock_that_is_put_back_after_midnight():
    """In Newfoundland, until 2011, one minute after midnight was followed by 23:01."""
    start, end = datetime(2010, 11, 6, tzinfo=UTC), datetime(2010, 11, 9, tzinfo=UTC)
    repeated = datetime(2010, 11, 7, 3, tzinfo=UTC)
    with timezone.override("America/St_Johns"):
        assert local(repeated).isoformat() == "2010-11-06T23:30:00-03:30"
        for unit in ("hour", "minute"):
            assert list(spans(unit, start, end)) == list(walked(unit, start, end))
        for unit in UNITS:
            found = list(spans(unit, start, end))
            assert (found[0].start, found[-1].end) == (start, end)
            assert all(first.end == second.start for first, second in pairwise(found))
            assert start_of(unit, repeated) <= repeated < end_of(unit, repeated)
        assert len(list(spans("day", start, end))) == 4


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
            assert start_of(unit, start) <= start


def test_without_time_zones_the_clock_is_that_of_the_setting(settings):
    settings.USE_TZ = False
    settings.TIME_ZONE = "Europe/Berlin"
    (day,) = spans(
        "day", datetime(2026, 3, 28, 23, tzinfo=UTC), datetime(2026, 3, 29, 22, tzinfo=UTC)
    )
    assert day.end - day.start == timedelta(hours=23)
