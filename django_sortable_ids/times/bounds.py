"""Which creation times a scheme can hold."""

from datetime import MAXYEAR, UTC, datetime, timedelta

from ..schemes import TimeScheme

_LARGEST_INTEGER = 2**63 - 1


def time_range(scheme: TimeScheme) -> tuple[datetime, datetime]:
    """The first time, and the end, excluded, both aware."""
    # In the last year of the calendar the last tick is left out, whose end no datetime can show.
    last = latest(scheme)
    return scheme.earliest, last if last.year == MAXYEAR else last + _tick(scheme)


def shown(vendor: str, *, in_utc: bool) -> tuple[datetime, datetime] | None:
    """The times that Python can show, the end excluded, both aware; None where the database has no
    others.

    PostgreSQL also has -infinity, infinity, years before 1 and after 9999, MariaDB and MySQL have
    a time of zeros.
    """
    if vendor == "sqlite":
        return None
    # A zone would shift the first and the last day out of the calendar.
    margin = timedelta(0) if in_utc else timedelta(days=1)
    start, end = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    return start + margin, end - margin


def last_tick(scheme: TimeScheme) -> datetime:
    """The last time of which a row may have an id."""
    last = latest(scheme)
    return last - _tick(scheme) if last.year == MAXYEAR else last


def latest(scheme: TimeScheme) -> datetime:
    """The last time of the scheme that a column holds: integers there have a sign."""
    if scheme.value_type is int and scheme.holds(_LARGEST_INTEGER + 1):
        return scheme.created_at(scheme.from_int(_LARGEST_INTEGER))
    return scheme.latest


def _tick(scheme: TimeScheme) -> timedelta:
    return timedelta(microseconds=max(scheme.resolution_ns // 1000, 1))
