"""Ids that the database makes with ``at`` have the time that Django reads in that column."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.db import connection

from django_sortable_ids.functions import GenerateID
from django_sortable_ids.schemes import get
from tests.testapp.models import Order

pytestmark = pytest.mark.django_db
AT = datetime(2024, 7, 1, 12, 30, 0, 123_000, tzinfo=UTC)


def made_at():
    Order.objects.update(ulid=GenerateID("ulid", at="created_at"))
    return get("ulid").created_at(Order.objects.get().ulid)


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("use_tz", [True, False])
def test_in_every_zone(settings, zone, use_tz):
    settings.USE_TZ, settings.TIME_ZONE = use_tz, zone
    expected = AT if use_tz else datetime(2024, 7, 1, 12, 30, tzinfo=ZoneInfo(zone))
    Order.objects.create(name="", created_at=AT if use_tz else expected.replace(tzinfo=None))
    assert made_at() == expected


@pytest.mark.skipif(connection.vendor != "postgresql", reason="no other engine has two types")
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize("use_tz", [True, False])
def test_of_a_timestamp_without_zone(settings, zone, use_tz):
    settings.USE_TZ, settings.TIME_ZONE = use_tz, zone
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE testapp_order ALTER created_at TYPE timestamp")
        cursor.execute(
            "INSERT INTO testapp_order (name, created_at) VALUES ('', '2024-07-01 12:30')"
        )
    at = made_at()
    assert at == datetime(2024, 7, 1, 12, 30, tzinfo=UTC if use_tz else ZoneInfo(zone))
    as_compared = at if use_tz else at.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    assert Order.objects.filter(created_at=as_compared).exists()
