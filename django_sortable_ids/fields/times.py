"""The instants that values of Django's fields of times and days stand for, and the creation time of
a row that is about to be inserted: ``created_from="created_at"``."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any, TypeVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from ..schemes.clock_and_randomness import MICROSECOND
from ..schemes.support import nearest

_Time = TypeVar("_Time")


def local_zone() -> tzinfo:
    """The time zone of calendars: the current one, or ``TIME_ZONE`` with ``USE_TZ=False``."""
    return timezone.get_current_timezone() if settings.USE_TZ else timezone.get_default_timezone()


def aware(at: date) -> datetime:
    """The aware time of a value: a naive one is in ``TIME_ZONE``, a day is its midnight there."""
    if not isinstance(at, datetime):
        at = datetime.combine(at, time.min)
    if timezone.is_aware(at):
        return at
    return timezone.make_aware(at, timezone.get_default_timezone())


def in_zone(at: datetime, zone: tzinfo) -> datetime:
    """An aware time in the zone; at an end of the calendar, the nearest time of it."""
    try:
        return at.astimezone(zone)
    except OverflowError:
        return at.replace(tzinfo=zone)


def in_utc(at: date) -> datetime:
    """The time of a value in UTC: Python compares and subtracts two times of the same zone by their
    local time."""
    return in_zone(aware(at), UTC)


def first_moment(day: date) -> datetime:
    """The start of a day of ``local_zone``, in UTC; if the clock is put forward over midnight, the
    moment of the change."""
    zone = local_zone()
    local = datetime.combine(day, time.min, tzinfo=zone)
    start, day_before = in_utc(local), in_utc(local.replace(fold=1))
    return first_moment_when(lambda at: at.astimezone(zone).date() >= day, day_before, start)


def first_moment_when(
    is_after: Callable[[datetime], bool], before: datetime, after: datetime
) -> datetime:
    """The first microsecond for which ``is_after`` is true: not ``before``, but ``after``."""
    while after - before > MICROSECOND:
        middle = before + (after - before) / 2
        before, after = (before, middle) if is_after(middle) else (middle, after)
    return after


def time_of(instance: models.Model, name: str) -> datetime | None:
    """The time in the field ``name`` of the row, aware; midnight of a date.

    None means now: the field is empty, or ``auto_now`` or ``auto_now_add`` sets it with the INSERT.
    Raises ``ValidationError`` if the value is no time.
    """
    at = _value(instance, name)
    return None if at is None else aware(at)


def day_of(instance: models.Model, name: str | None) -> date:
    """The day in the field ``name`` of the row, in the ``local_zone``.

    It is today without a name, and where ``time_of`` is None. Raises ``ValidationError`` if the
    value is no time.
    """
    at = None if name is None else _value(instance, name)
    if at is None:
        return today()
    if not isinstance(at, datetime):
        return at
    return in_zone(aware(at), local_zone()).date()


def today() -> date:
    return datetime.now(local_zone()).date()


def generate_by_time(
    times: Sequence[_Time],
    period_of: Callable[[_Time], int | None],
    generate: Callable[[int, _Time], Iterable[Any]],
) -> list[Any]:
    """An id for each time, in order. Those of one period come from ``generate(count, time)``.

    ``period_of`` is a number, or None for now. Every process generates for the periods in ascending
    order: a period may have a counter that is locked, and so no two transactions deadlock.
    """
    periods = [*map(period_of, times)]
    time_in = dict(zip(periods, times, strict=True))
    counts = Counter(periods)
    ids = {
        period: iter(generate(counts[period], time_in[period]))
        for period in sorted(counts, key=lambda period: period or 0)
    }
    return [next(ids[period]) for period in periods]


def _value(instance: models.Model, name: str) -> date | None:
    """The date or datetime in the field; None if there is none before the INSERT."""
    field: Any = instance._meta.get_field(name)
    if field.auto_now or field.auto_now_add:
        return None
    value = getattr(instance, field.attname)
    value = value.value if isinstance(value, models.Value) else value
    if value is None or hasattr(value, "resolve_expression"):
        return None
    at: date = field.to_python(value)
    return at


def problem(model: type[models.Model], name: str) -> str | None:
    """Why rows of the model have no time in the field ``name``; None if they have."""
    names = [field.name for field in model._meta.fields if isinstance(field, models.DateField)]
    if name in names:
        return None
    listed = ", ".join(names) or "but the model has none"
    return (
        f"created_from={name!r}: expected a DateTimeField or DateField of {model._meta.label}: "
        f"{listed}{nearest(str(name), names)}"
    )
