"""How the time of an id is written."""

from datetime import UTC, datetime

from django.utils import timezone

from ..schemes import MILLISECOND, SECOND, Scheme, TimeScheme


def as_utc(scheme: Scheme, created: datetime) -> str:
    """ISO 8601 with as many digits as the scheme has."""
    return _iso(scheme, created.astimezone(UTC)).replace("+00:00", "Z")


def as_local(scheme: Scheme, created: datetime) -> str | None:
    """The same in the current time zone; None if that has no such year."""
    at = local(created)
    return None if at is None else _iso(scheme, at)


def local(created: datetime) -> datetime | None:
    """The time in the current time zone; None if that has no such year."""
    try:
        return timezone.localtime(created)
    except (OverflowError, ValueError):
        return None


def _iso(scheme: Scheme, at: datetime) -> str:
    tick_ns = scheme.tick_ns if isinstance(scheme, TimeScheme) else 1
    for unit, precision in ((SECOND, "seconds"), (MILLISECOND, "milliseconds")):
        if tick_ns % unit == 0:
            return at.isoformat(timespec=precision)
    return at.isoformat(timespec="microseconds")
