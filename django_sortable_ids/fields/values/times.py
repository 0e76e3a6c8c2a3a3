"""The instants that values of Django's fields of times and days stand for."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo

from django.conf import settings
from django.utils import timezone

MICROSECOND = timedelta(microseconds=1)


def local_zone() -> tzinfo:
    """The time zone of calendars: the current one, or ``TIME_ZONE`` with ``USE_TZ=False``."""
    return timezone.get_current_timezone() if settings.USE_TZ else timezone.get_default_timezone()


def aware(at: date) -> datetime:
    """The time of a value, aware: a naive one is in ``TIME_ZONE``; a day stands for its midnight
    there.
    """
    if not isinstance(at, datetime):
        at = datetime.combine(at, time.min)
    return timezone.make_aware(at, timezone.get_default_timezone()) if timezone.is_naive(at) else at


def in_utc(at: date) -> datetime:
    """The time of a value in UTC: Python compares and subtracts two times of the same zone by their
    local time.
    """
    at = aware(at)
    try:
        return at.astimezone(UTC)
    except OverflowError:  # the first or the last hours of the calendar
        return at.replace(tzinfo=UTC)


def first_moment(day: date) -> datetime:
    """The start of a day of ``local_zone``, in UTC; if the clock is put forward over midnight, the
    moment of the change.
    """
    zone = local_zone()
    local = datetime.combine(day, time.min, tzinfo=zone)
    start, day_before = in_utc(local), in_utc(local.replace(fold=1))
    while start - day_before > MICROSECOND:
        middle = day_before + (start - day_before) / 2
        if middle.astimezone(zone).date() < day:
            day_before = middle
        else:
            start = middle
    return start
