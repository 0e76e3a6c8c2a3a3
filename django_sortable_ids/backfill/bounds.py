"""Which creation times a scheme can hold, as the database has them."""

from datetime import MAXYEAR, datetime, timedelta

from django.utils import timezone

from ..schemes import TimeScheme
from .times import from_aware


def held(scheme: TimeScheme) -> tuple[datetime, datetime]:
    """The first time, and the end, excluded."""
    tick = timedelta(microseconds=scheme.resolution_ns // 1000)
    # In the last year of the calendar the last tick is left out, whose end no datetime can show.
    end = scheme.latest if scheme.latest.year == MAXYEAR else scheme.latest + tick
    return _stored(scheme.earliest), _stored(end)


def last_tick(scheme: TimeScheme) -> datetime:
    """The last time of which a row may have an id."""
    tick = timedelta(microseconds=max(scheme.resolution_ns // 1000, 1))
    return scheme.latest - tick if scheme.latest.year == MAXYEAR else scheme.latest


def _stored(at: datetime) -> datetime:
    try:
        return from_aware(at, like=timezone.now())
    except OverflowError:
        # The last day of the calendar, shifted out of it by the zone.
        return at.replace(tzinfo=None)
