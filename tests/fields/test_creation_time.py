"""``created_at(instance)``, with time zones and without."""

import uuid
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import FieldDoesNotExist
from django.utils import timezone

from django_sortable_ids.ids import created_at
from django_sortable_ids.schemes import NotTimeOrdered, OutOfRange
from tests.testapp.models import Line, Order, SequenceKey, UUIDv7Key, around

MOMENT = datetime(2026, 3, 8, 12, 30, 15, 123456, tzinfo=UTC)


def floored(moment, scheme):
    resolution = timedelta(microseconds=scheme.resolution_ns / 1000)
    epoch = datetime(2000, 1, 1, tzinfo=UTC)
    return epoch + (moment - epoch) // resolution * resolution if resolution else moment


def made_at(model, moment, field="id"):
    return model(**{field: model._meta.get_field(field).scheme.generate(moment)})


def test_aware_and_in_the_current_zone(time_key):
    expected = floored(MOMENT, time_key._meta.pk.scheme)
    for zone in ("UTC", "America/New_York", "Europe/Berlin", "Pacific/Apia"):
        with timezone.override(zone):
            made = created_at(made_at(time_key, MOMENT))
        assert made == expected
        assert made.tzinfo == ZoneInfo(zone)


def test_naive_and_local_without_time_zones(time_key, settings):
    settings.USE_TZ = False
    made = created_at(made_at(time_key, MOMENT))
    assert made.tzinfo is None
    expected = floored(MOMENT, time_key._meta.pk.scheme)
    assert made == expected.astimezone(ZoneInfo("America/New_York")).replace(tzinfo=None)


def test_new_ids_are_of_now(time_key):
    resolution = timedelta(microseconds=time_key._meta.pk.scheme.resolution_ns / 1000)
    before = timezone.now()
    made = created_at(time_key())
    assert before - resolution <= made <= timezone.now() + timedelta(seconds=1)


def test_other_fields_by_name():
    order = made_at(Order, MOMENT, "reversed_kuuid")
    assert created_at(order, "reversed_kuuid") == MOMENT.replace(microsecond=123000)
    assert created_at(order, "ulid") is None
    with pytest.raises(FieldDoesNotExist, match=r"testapp\.Order has no sortable id named 'id'"):
        created_at(order, "id")


def test_subclasses_and_halves_of_keys(time_key):
    special = around(time_key, "Special")()
    assert created_at(special) is not None
    assert created_at(made_at(Line, MOMENT)) == MOMENT.replace(microsecond=123000)


def test_none_where_there_is_no_id_yet():
    assert created_at(Order(), "ulid") is None
    assert created_at(SequenceKey()) is None


def test_sequences_carry_no_time():
    with pytest.raises(NotTimeOrdered):
        created_at(SequenceKey(pk="0001"))


LAST = "e677d21f-dbff-7fff-bfff-ffffffffffff"
"""The last millisecond of the year 9999, in UTC."""
FIRST = "e677d21f-dc00-7fff-bfff-ffffffffffff"
"""The next one."""


@pytest.mark.parametrize("use_tz", [True, False])
@pytest.mark.parametrize(
    ("value", "zone", "shown"),
    [
        (LAST, "UTC", datetime(9999, 12, 31, 23, 59, 59, 999000)),  # noqa: DTZ001
        (LAST, "America/New_York", datetime(9999, 12, 31, 18, 59, 59, 999000)),  # noqa: DTZ001
        (LAST, "Pacific/Apia", None),
        (FIRST, "UTC", None),
        (FIRST, "America/New_York", None),
        ("ffffffff-ffff-7fff-bfff-ffffffffffff", "UTC", None),
    ],
)
def test_the_end_of_the_calendar(settings, use_tz, value, zone, shown):
    """A legal id may be of a time that no datetime holds, or none in its zone."""
    settings.TIME_ZONE, settings.USE_TZ = zone, use_tz
    row = UUIDv7Key(pk=uuid.UUID(value))
    if shown is None:
        with pytest.raises(OutOfRange, match="after the year 9999"):
            created_at(row)
    else:
        assert created_at(row).replace(tzinfo=None) == shown
