"""Times as the database has them, and as Python compares them."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone


def knows_utc(connection: Any) -> bool:
    """Whether the database knows of each time when it was. Local times are Python's: servers
    convert them until 2037, if at all, and clock changes bring them out of order.
    """
    if connection.vendor == "postgresql" and settings.USE_TZ:
        return True
    return bool(connection.timezone_name == "UTC")


def aware(at: datetime) -> datetime:
    """A time from the database; naive ones, with ``USE_TZ=False``, are of ``TIME_ZONE``."""
    return timezone.make_aware(at, timezone.get_default_timezone()) if timezone.is_naive(at) else at


def as_stored(at: datetime) -> datetime:
    """An aware time as the database has times."""
    return from_aware(at, like=timezone.now())


def from_aware(at: datetime, like: datetime) -> datetime:
    """An aware time as the database has it: the inverse of ``aware``."""
    if timezone.is_aware(like):
        return at
    return timezone.make_naive(at, timezone.get_default_timezone())
