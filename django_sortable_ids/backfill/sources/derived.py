"""The base of targets in the order of the primary key, and of those without a column of times."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property

from ...fields.values.times import in_utc
from ...times.columns import TimeColumn
from ..target import Target


class InOrderOfKeys(Target):
    """Its rows are in the order of the primary key, which has an index."""

    @property
    def order(self) -> tuple[str, ...]:
        return ("pk",)

    def after(self, created: Any, pk: Any) -> Q:
        return Q(pk__gt=pk)

    def _within(self, created: Any, in_time: Q) -> Q:
        return in_time


class Derived(InOrderOfKeys):
    """A sortable id that may be NULL, and creation times that Python derives.

    The place of a row is the value that its time is derived from, and its key.
    """

    own_time = False
    has_times = False

    @cached_property
    def times(self) -> TimeColumn:
        """Values that are no times are compared as they are."""
        return TimeColumn(self.source, self.using)


def first_day_from(at: datetime) -> date | None:
    """The first day that begins at or after an aware time; None after the calendar's last one."""
    at = in_utc(at)
    try:
        day = at.astimezone(timezone.get_default_timezone()).date()
    except OverflowError:
        day = at.date()
    if in_utc(day) >= at:
        return day
    return None if day == date.max else day + timedelta(days=1)


def shown(at: datetime) -> str:
    """A time as text, in ``TIME_ZONE``."""
    try:
        return at.astimezone(timezone.get_default_timezone()).isoformat()
    except OverflowError:
        return at.astimezone(UTC).isoformat()
