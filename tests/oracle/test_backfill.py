"""The ids of invoices, filled by ``backfill_ids`` and decoded by somebody else."""

import uuid
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from django.core.management import call_command

from django_sortable_ids.fields import SortableIDField
from django_sortable_ids.schemes import TimeScheme
from tests.backfill.support import insert
from tests.support import execute

from .decoders import FORMATS
from .models import Invoice

pytestmark = pytest.mark.django_db

TABLE = Invoice._meta.db_table
each_format = pytest.mark.parametrize("name", FORMATS)


def moments() -> list[datetime]:
    """Chinook's 412 days from 2009 to 2013, and whatever a clock can do."""
    start = datetime(2009, 1, 1, tzinfo=UTC)
    found = [start + timedelta(days=round(n * 4.43)) for n in range(412)]
    recent = datetime(2026, 3, 4, 5, 6, 7, 890_123, tzinfo=UTC)
    found += [recent] * 9
    found += [recent + timedelta(microseconds=n) for n in (-1, 1, 9, 10, 99, 100, 999, 1000)]
    found += [recent + timedelta(microseconds=n * 1_000) for n in (3, 4, 5, 9, 10, 11)]
    for zone, days in (
        ("America/New_York", ("2026-03-08", "2026-11-01")),
        ("Europe/Berlin", ("2026-03-29", "2026-10-25")),
    ):
        for day in days:
            midnight = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
            found += [midnight + timedelta(minutes=30 * n) for n in range(10)]
    for year in (1970, 1999, 2001, 2010, 2011, 2014, 2015, 2020, 2025, 2038, 2039, 2046, 2084):
        found += [datetime(year, 1, 1, tzinfo=UTC), datetime(year, 6, 9, 1, 2, 3, 999_999, UTC)]
    for year in (2089, 2100, 2106, 2149, 2150, 2199, 2262, 2300, 5235, 5237, 6429, 8888, 9998):
        found += [datetime(year, 1, 1, tzinfo=UTC), datetime(year, 12, 31, 23, 59, 59, 5, UTC)]
    # Every format's own ends, and the moments beside them.
    for each in FORMATS.values():
        for end in (each.epoch if each.start is None else each.start, each.end):
            for shift in (-1, 0, 1):
                microseconds = end // 1_000 + shift
                if 0 <= microseconds < 253_402_214_400 * 1_000_000:
                    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
                    found.append(at)
    return found


@pytest.fixture
def invoices():
    """Rows whose keys are in another order than their times."""
    times = moments()
    times = times[1::2] + times[::2][::-1]
    insert(
        Invoice,
        [{"customer": n % 59, "total": n, "invoice_date": at} for n, at in enumerate(times)],
    )
    return len(times)


def raw(name, order):
    """The key, the time and the stored value of each row, as the driver gives them."""
    found = execute(f"SELECT id, {name} FROM {TABLE} ORDER BY {order}")
    times = dict(Invoice.objects.values_list("pk", "invoice_date"))
    return [(key, times[key], value) for key, value in found]


def fill(name, on_out_of_range="skip"):
    label = f"oracle.Invoice.{name}"
    call_command(
        "backfill_ids",
        label,
        created_from="invoice_date",
        batch_size=100,
        on_out_of_range=on_out_of_range,
        verbosity=0,
    )


def test_every_scheme_with_a_time_is_here():
    fields = {each.name: each for each in Invoice._meta.fields if isinstance(each, SortableIDField)}
    assert set(fields) == set(FORMATS)
    known = {each.scheme.name for each in fields.values()}
    assert all(isinstance(each.scheme, TimeScheme) for each in fields.values())
    from django_sortable_ids.schemes import all_schemes

    timed = {each.name for each in all_schemes() if isinstance(each, TimeScheme)}
    assert timed - known == {"uuid1"}, "which doesn't sort by time"


@each_format
def test_time_order_and_bits(invoices, name):
    fill(name)
    form = FORMATS[name]
    rows = raw(name, "invoice_date, id")
    assert len(rows) == invoices
    filled = [(key, at, value) for key, at, value in rows if value is not None]
    assert {key for key, _, _ in filled} == {key for key, at, _ in rows if form.holds(at)}
    assert len(filled) > 50

    wrong = [(key, at, value) for key, at, value in filled if form.time(value) != form.floor(at)]
    assert wrong == []

    numbers = [form.number(value) for _, _, value in filled]
    if form.reverse:
        numbers.reverse()
    assert all(before < after for before, after in pairwise(numbers))

    sorted_by_id = [key for key, _, value in raw(name, name) if value is not None]
    expected = [key for key, _, _ in filled]
    assert sorted_by_id == (expected[::-1] if form.reverse else expected)

    if form.version is not None:
        for number in numbers:
            assert number >> 76 & 0xF == form.version
            assert number >> 62 & 0b11 == 0b10
            assert uuid.UUID(int=number).variant == uuid.RFC_4122
