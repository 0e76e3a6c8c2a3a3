"""The instants that values of Django's fields of times and days stand for."""

from datetime import UTC, date, datetime, time

from django.utils import timezone


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
