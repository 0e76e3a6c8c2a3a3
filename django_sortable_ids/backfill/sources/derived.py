"""The base of targets whose creation times are not in a column of their table."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone
from django.utils.functional import cached_property

from ...times.columns import TimeColumn
from ..target import Target


class Derived(Target):
    """A sortable id that may be NULL, and creation times that Python derives.

    The place of a row is the value that its time is derived from, and its key.
    """

    needs_sort = False
    """Whether no index can provide the order of the rows."""

    @property
    def own_time(self) -> bool:
        return False

    @property
    def has_times(self) -> bool:
        return False

    @property
    def may_be_indexed(self) -> bool:
        return False

    @cached_property
    def times(self) -> TimeColumn:
        """Values that are no times are compared as they are."""
        return super().times if self.has_times else TimeColumn(self.source, self.using)


class InOrderOfKeys(Derived):
    """Its rows are in the order of the primary key, which has an index."""

    @property
    def order(self) -> tuple[str, ...]:
        return ("pk",)

    def after(self, created: Any, pk: Any) -> Q:
        return Q(pk__gt=pk)

    def _within(self, created: Any, in_time: Q) -> Q:
        return in_time


def midnight(day: date) -> datetime:
    """The first instant of a day in ``TIME_ZONE``, in UTC: Python compares and subtracts two times
    of the same zone by their local time."""
    return in_utc(datetime.combine(day, time.min))


def in_utc(at: datetime) -> datetime:
    """A time in UTC; a naive one is in ``TIME_ZONE``."""
    if timezone.is_naive(at):
        at = timezone.make_aware(at, timezone.get_default_timezone())
    try:
        return at.astimezone(UTC)
    except OverflowError:  # the first or the last hours of the calendar
        return at.replace(tzinfo=UTC)


def first_day_from(at: datetime) -> date | None:
    """The first day that begins at or after an aware time; None after the calendar's last one."""
    at = in_utc(at)
    try:
        day = at.astimezone(timezone.get_default_timezone()).date()
    except OverflowError:
        day = at.date()
    if midnight(day) >= at:
        return day
    return None if day == date.max else day + timedelta(days=1)


def shown(at: datetime) -> str:
    """A time as text, in ``TIME_ZONE``."""
    try:
        return at.astimezone(timezone.get_default_timezone()).isoformat()
    except OverflowError:
        return at.astimezone(UTC).isoformat()
