"""Which creation times a scheme can hold."""

from datetime import MAXYEAR, UTC, datetime, timedelta

from ..schemes import TimeScheme

_LARGEST_INTEGER = 2**63 - 1


def time_range(scheme: TimeScheme) -> tuple[datetime, datetime]:
    """The first time of the scheme and its end (exclusive), both aware."""
    # The last tick of year 9999 is left out: no datetime can represent its end.
    last = latest(scheme)
    return scheme.earliest, last if last.year == MAXYEAR else last + _tick(scheme)


def shown(vendor: str, *, in_utc: bool) -> tuple[datetime, datetime] | None:
    """The first time that Python can represent and the end (exclusive), both aware.

    None if the database has no others: only PostgreSQL has -infinity, infinity and years before 1
    and after 9999.
    """
    if vendor != "postgresql":
        return None
    # A time zone can shift the first and the last day out of the calendar.
    margin = timedelta(0) if in_utc else timedelta(days=1)
    start, end = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    return start + margin, end - margin


def last_tick(scheme: TimeScheme) -> datetime:
    """The last creation time for which a row can get an id."""
    last = latest(scheme)
    return last - _tick(scheme) if last.year == MAXYEAR else last


def latest(scheme: TimeScheme) -> datetime:
    """The last time of the scheme that a column can store: its integers are signed."""
    if scheme.value_type is int and scheme.holds(_LARGEST_INTEGER + 1):
        return scheme.created_at(scheme.from_int(_LARGEST_INTEGER))
    return scheme.latest


def _tick(scheme: TimeScheme) -> timedelta:
    return timedelta(microseconds=max(scheme.resolution_ns // 1000, 1))
