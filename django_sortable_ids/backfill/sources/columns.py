"""Creation times in a column: of the row, of a related row, or days."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.db import connections, models
from django.db.models import Q
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone
from django.utils.functional import cached_property

from ...errors import BackfillError, counted
from ...fields.times import in_utc, in_zone
from ...functions.time_columns import TimeColumn, column_of
from ...schemes.support import nearest
from .base import CREATED_FROM, Expectation, Source, Wanted
from .id_column import names_of, require_table
from .target import SORTED_AT_ONCE

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class InColumn(Source):
    """A date or time in a column. A row has none if it is in a related row that is missing."""

    arguments = {"created_from": CREATED_FROM}

    @classmethod
    def named_by(cls, wanted: Wanted) -> Source:
        model, using, given = wanted.model, wanted.using, wanted.given
        field = field_of_times(model, given.get("created_from"), using)
        source = Times if isinstance(field, models.DateTimeField) else Days
        return source(model, field, using)

    @property
    def options(self) -> dict[str, Any]:
        return {"created_from": self.field.name}

    @property
    def needs_sort(self) -> bool:
        """Whether the times are in another table, so that no index has the order of the rows."""
        return LOOKUP_SEP in self.field.name or self.field.model is not self.model

    @property
    def notes(self) -> Sequence[str]:
        order = ", ".join(self.order)
        sorts = f"the rows are sorted by ({order}) once for each {SORTED_AT_ONCE:,}"
        return [f"{sorts}, since no index has this order"] if self.needs_sort else []

    @property
    def shown_range(self) -> tuple[datetime, datetime] | None:
        if connections[self.using].vendor != "postgresql":
            return None
        return datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)

    @property
    def mostly_future(self) -> str:
        """How many rows have a time after now, by more than a day, if most have; else empty."""
        timed, tomorrow = self.rows.filter(self.has_shown_time), datetime.now(UTC) + _DAY
        future = timed.filter(self.between(tomorrow, None)).count()
        if not future or 2 * future <= (count := timed.count()):
            return ""
        many = f"{future:,} of {counted(count, 'row')} of {self.model._meta.label}"
        return f"{many} have a {self.field.name} after now"


class Times(InColumn):
    """A ``DateTimeField``."""

    @cached_property
    def times(self) -> TimeColumn:
        return column_of(self.field, self.using)

    @property
    def selected_place(self) -> Any:
        return self.times.selected

    def compared(self, sign: str, place: Any) -> Q:
        return super().compared(sign, self.times.operand(place))

    def at(self, place: Any) -> datetime:
        return self.times.at(place)

    def load_place(self, saved: str) -> Any:
        return self.times.load(saved)

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        place_at, condition = self.times.place_at, Q()
        if start is not None:
            condition &= self.compared("gte", place_at(start))
        if end is not None:
            condition &= self.compared("lt", place_at(end))
        return condition


class Days(InColumn):
    """A ``DateField``: midnight in ``TIME_ZONE``."""

    needs_sort = True

    @property
    def described(self) -> str:
        return f"{self.field.name}, midnight in {settings.TIME_ZONE}"

    @property
    def options(self) -> dict[str, Any]:
        return super().options | {"time_zone": settings.TIME_ZONE}

    @property
    def expected(self) -> Expectation:
        usual = super().expected
        return Expectation(usual.earlier, usual.later + _DAY)

    def at(self, place: Any) -> datetime:
        return in_utc(place)

    def load_place(self, saved: str) -> Any:
        return date.fromisoformat(saved)

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        name = self.field.name
        condition = Q(**{f"{name}__isnull": False})
        if start is not None:
            first = first_day_from(start)
            condition &= Q(**({f"{name}__gte": first} if first else {f"{name}__gt": date.max}))
        if end is not None:
            stop = first_day_from(end)
            condition &= Q(**({f"{name}__lt": stop} if stop else {f"{name}__lte": date.max}))
        return condition


def first_day_from(at: datetime) -> date | None:
    """The first day that begins at or after an aware time; None after the calendar's last one."""
    at = in_utc(at)
    day = in_zone(at, timezone.get_default_timezone()).date()
    if in_utc(day) >= at:
        return day
    return None if day == date.max else day + _DAY


def times_of_creation(model: type[models.Model]) -> list[str]:
    """The fields that may say when a row was created: fields that are set once, if there are any,
    and no field that changes with each update."""
    for field_type in (models.DateTimeField, models.DateField):
        typed = (field for field in model._meta.fields if isinstance(field, field_type))
        kept = {field.name: field.auto_now_add for field in typed if not field.auto_now}
        if kept:
            return [name for name, is_set_once in kept.items() if is_set_once] or list(kept)
    return []


def field_of_times(
    model: type[models.Model], created_from: str | None, using: str
) -> models.Field[Any, Any]:
    """The field of the date or time that ``created_from`` names. If it is in a related row, its
    name is the whole path."""
    if created_from is None and (times := names_of(model, models.DateField)):
        raise BackfillError(
            f"say where creation times come from: --created-from, one of {', '.join(times)}"
        )
    *path, name = (created_from or "").split(LOOKUP_SEP)
    reached = model
    for step in path:
        label = reached._meta.label
        try:
            relation: Any = reached._meta.get_field(step)
        except FieldDoesNotExist:
            known = [field.name for field in reached._meta.fields if field.is_relation]
            raise BackfillError(
                f"--created-from {created_from}: {label} has no field {step!r}; its relations: "
                f"{', '.join(known) or 'none'}{nearest(step, known)}"
            ) from None
        if not (relation.many_to_one or relation.one_to_one) or relation.related_model is None:
            raise BackfillError(
                f"--created-from {created_from}: {label}.{step} leads to no other row, or to many: "
                f"use a ForeignKey or a OneToOneField"
            )
        reached = relation.related_model
        require_table(reached, using)
    named = next((field for field in reached._meta.fields if field.name == name), None)
    if isinstance(named, models.DateField):
        named = copy(named) if path else named
        named.name = created_from or name
        return named
    times = names_of(reached, models.DateField)
    raise BackfillError(
        f"{reached._meta.label} has no DateTimeField or DateField {name!r}; it has "
        f"{', '.join(times) or 'none'}{nearest(name, times)}. Without one, name the times of a "
        f"related row, --created-from order__created_at, old ids that contain times, "
        f"--convert-from uuid, a period to spread the rows over, --created-from pk --start "
        f"2015-01-01 --end 2024-06-30, or use --created-at now"
    )
