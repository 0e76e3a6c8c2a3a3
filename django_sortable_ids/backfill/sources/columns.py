"""Creation times in a column: of the row, of a related row, or days."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models import Q
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone

from ...errors import BackfillError
from ...fields.values.times import in_utc
from ...schemes.support import nearest
from .base import SORTED_AT_ONCE, Target
from .fields import check_table, names_of

_NONE = (
    "name one in a related row, --created-from order__created_at, a period to spread the rows "
    "over, --created-from pk --start 2015-01-01 --end 2024-06-30, or use --created-at now"
)


class OtherColumn(Target):
    """The name of its source is the whole path, which works in lookups, orders and values like the
    name of a column. If the related row is missing, the row has no time."""

    has_own_times = False
    needs_sort = True

    @property
    def notes(self) -> Iterator[str]:
        yield (
            f"the rows are sorted by ({', '.join(self.order)}) once for each {SORTED_AT_ONCE:,}, "
            f"since no index has this order"
        )


class Days(OtherColumn):
    """A ``DateField``, which may be in the table itself."""

    has_times = False

    @property
    def described(self) -> str:
        return f"{self.source.name}, midnight in {settings.TIME_ZONE}"

    @property
    def own_options(self) -> dict[str, Any]:
        return {"time_zone": settings.TIME_ZONE}

    def at(self, created: Any) -> datetime:
        return in_utc(created)

    def load_place(self, saved: str) -> Any:
        return date.fromisoformat(saved)

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        name = self.source.name
        found = Q(**{f"{name}__isnull": False})
        if start is not None:
            first = first_day_from(start)
            found &= Q(**({f"{name}__gte": first} if first else {f"{name}__gt": date.max}))
        if end is not None:
            stop = first_day_from(end)
            found &= Q(**({f"{name}__lt": stop} if stop else {f"{name}__lte": date.max}))
        return found


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


def kind_of(source: models.Field[Any, Any]) -> type[Target]:
    """The class of a target with that source."""
    if not isinstance(source, models.DateTimeField):
        return Days
    return OtherColumn if LOOKUP_SEP in source.name else Target


def find_source(
    model: type[models.Model], created_from: str | None, using: str
) -> models.Field[Any, Any]:
    """The field of the date or time that ``created_from`` names, which may be in a related row."""
    if created_from is not None and LOOKUP_SEP in created_from:
        for related in _models_on(model, created_from):
            check_table(related, using)
        return _at_the_end_of(model, created_from)
    found = next((each for each in model._meta.fields if each.name == created_from), None)
    if isinstance(found, models.DateField):
        return found
    name, times = model._meta.label, names_of(model, models.DateField)
    if found is not None:
        raise BackfillError(
            f"{name}.{created_from} is a {type(found).__name__}, and creation times come from a "
            f"DateTimeField or a DateField: add one, and copy the times into it, with their time "
            f"zone and their time of day"
        )
    if not times:
        raise BackfillError(f"{name} has no field with times: {_NONE}")
    known = ", ".join(times)
    if created_from is None:
        raise BackfillError(f"say where creation times come from: --created-from, one of {known}")
    raise BackfillError(
        f"{name} has no field {created_from!r} with times; it has {known}"
        f"{nearest(created_from, times)}"
    )


def _at_the_end_of(model: type[models.Model], path: str) -> models.Field[Any, Any]:
    """The field of the date or time at the end of a path of relations; its name is the path."""
    name = path.split(LOOKUP_SEP)[-1]
    reached = [model, *_models_on(model, path)][-1]
    try:
        found: Any = reached._meta.get_field(name)
    except FieldDoesNotExist:
        found = None
    if not isinstance(found, models.DateField):
        times = names_of(reached, models.DateField)
        what = f"is a {type(found).__name__}" if found else "does not exist"
        raise BackfillError(
            f"{reached._meta.label}.{name} {what}, and creation times come from a DateTimeField or "
            f"a DateField; {reached._meta.label} has {', '.join(times) or 'none'}"
            f"{nearest(name, times)}"
        )
    source: models.Field[Any, Any] = copy(found)
    source.name = path
    return source


def _models_on(model: type[models.Model], path: str) -> list[type[models.Model]]:
    """The models that the relations of a path lead to, one after the other."""
    reached, models_on_path = model, []
    for step in path.split(LOOKUP_SEP)[:-1]:
        label = reached._meta.label
        try:
            relation: Any = reached._meta.get_field(step)
        except FieldDoesNotExist:
            known = [each.name for each in reached._meta.fields if each.is_relation]
            raise BackfillError(
                f"--created-from {path}: {label} has no field {step!r}; it has the relations "
                f"{', '.join(known) or 'none'}{nearest(step, known)}"
            ) from None
        if not (relation.many_to_one or relation.one_to_one) or relation.related_model is None:
            raise BackfillError(
                f"--created-from {path}: {label}.{step} leads to no other row, or to many: use a "
                f"ForeignKey or a OneToOneField"
            )
        reached = relation.related_model
        models_on_path.append(reached)
    return models_on_path
