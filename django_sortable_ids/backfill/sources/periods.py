"""Rows without recorded creation times: spread over a period, all of one time, or of none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from django.db import models
from django.db.models import Q, QuerySet
from django.utils import timezone

from ...errors import BackfillError
from ...fields import SortableIDField
from ...fields.values.times import in_utc
from .base import Derived

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Period:
    """A period, both ends included, and the keys of its first and of its last instant."""

    start: datetime
    end: datetime
    first: int
    last: int

    def at(self, key: int) -> datetime:
        """The time of a row, linear in its key; ``start`` or ``end`` for keys outside."""
        if key <= self.first:
            return self.start
        if key >= self.last:
            return self.end
        length = (self.end - self.start) // _MICROSECOND
        return self.start + (key - self.first) * length // (self.last - self.first) * _MICROSECOND

    def key_from(self, at: datetime) -> int | None:
        """The least key whose time is ``at`` or later, between ``first`` and ``last``."""
        low, high = self.first, self.last
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.at(middle) >= at else (middle + 1, high)
        return low


@dataclass(frozen=True)
class Spread(Derived):
    """The place of a row is its key, an integer."""

    period: Period = field(kw_only=True)

    created_from = "pk"

    @property
    def given(self) -> str:
        return (
            f"--created-from pk --start {shown(self.period.start)} --end {shown(self.period.end)}"
        )

    @property
    def described(self) -> str:
        period = self.period
        return (
            f"times from {shown(period.start)} to {shown(period.end)}, linear in the keys from "
            f"{period.first} to {period.last}"
        )

    @property
    def own_options(self) -> dict[str, Any]:
        period = self.period
        return {
            "start": period.start.astimezone(UTC).isoformat(),
            "end": period.end.astimezone(UTC).isoformat(),
            "first_key": period.first,
            "last_key": period.last,
        }

    def at(self, created: Any) -> datetime:
        return self.period.at(created)

    def load_place(self, saved: str) -> int:
        return int(saved)

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        period, condition = self.period, Q()
        if start is not None and start > period.start:
            condition &= Q(pk__gte=period.key_from(start)) if start <= period.end else Q(pk__in=[])
        if end is not None and end <= period.end:
            condition &= Q(pk__lt=period.key_from(end)) if end > period.start else Q(pk__in=[])
        return condition


@dataclass(frozen=True)
class Fixed(Derived):
    """Every row has the time at which the run started."""

    moment: datetime = field(kw_only=True)

    created_from = None
    given = "--created-at now"

    @property
    def described(self) -> str:
        return f"{shown(self.moment)} for every row, in the order of the key"

    @property
    def notes(self) -> Iterator[str]:
        yield "this is the start of the run; a resumed run and --verify use the same time"

    @property
    def own_options(self) -> dict[str, Any]:
        return {"created_at": self.moment.astimezone(UTC).isoformat()}

    def at(self, created: Any) -> datetime:
        return self.moment

    def load_place(self, saved: str) -> datetime:
        return self.moment

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        is_from_start = start is None or start <= self.moment
        is_before_end = end is None or self.moment < end
        return Q() if is_from_start and is_before_end else Q(pk__in=[])

    def read(self, rows: QuerySet[Any], *names: Any) -> list[Any]:
        keys = [each.attname for each in self.key_fields]
        if len(keys) == 1:
            return [(self.moment, *row) for row in rows.values_list("pk", *names)]
        end = len(keys)
        columns = rows.values_list(*keys, *names)
        return [(self.moment, row[:end], *row[end:]) for row in columns]


def parsed(option: str, text: str) -> datetime:
    """The aware time of ``--start`` or ``--end``. A date means the start, or the last microsecond,
    of that day in ``TIME_ZONE``. Raises ``BackfillError`` for other texts."""
    is_end = option == "--end"
    try:
        day = date.fromisoformat(text)
    except ValueError:
        pass
    else:
        return in_utc(datetime.combine(day, time.max) if is_end else day)
    try:
        return in_utc(datetime.fromisoformat(text))
    except ValueError:
        raise BackfillError(
            f"{option} {text!r}: expected a day or a time, such as 2015-01-31 or 2015-01-31T08:30"
        ) from None


class Unsourced(Derived):
    """The place of a row is its key."""

    created_from = None
    given = ""
    time_range = None

    @property
    def described(self) -> str:
        return "no known times"

    @property
    def is_numbered(self) -> bool:
        """Whether the keys are numbers that count up."""
        return isinstance(self.source, models.IntegerField) and not isinstance(
            self.source, SortableIDField
        )

    def at(self, created: Any) -> datetime:
        raise AssertionError("these rows have no known times")

    @classmethod
    def of(cls, model: type[models.Model], field: SortableIDField, using: str) -> Unsourced:
        return cls(model, field, model._meta.pk_fields[0], using)


def shown(at: datetime) -> str:
    """A time as text, in ``TIME_ZONE``."""
    try:
        return at.astimezone(timezone.get_default_timezone()).isoformat()
    except OverflowError:
        return at.astimezone(UTC).isoformat()
