"""The creation time of a row that is about to be inserted: ``created_from="created_at"``."""

from datetime import date, datetime, time
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.utils import timezone


def time_of(instance: models.Model, name: str) -> datetime | None:
    """The time in the field ``name`` of the row, aware; midnight of a date.

    None means now: the field is empty, or ``auto_now`` or ``auto_now_add`` sets it with the INSERT.
    Raises ``ValidationError`` if the value is no time.
    """
    source: Any = instance._meta.get_field(name)
    if source.auto_now or source.auto_now_add:
        return None
    value = getattr(instance, source.attname)
    if value is None or hasattr(value, "resolve_expression"):
        return None
    at: date = source.to_python(value)
    if not isinstance(at, datetime):
        at = datetime.combine(at, time())
    return timezone.make_aware(at, timezone.get_default_timezone()) if at.tzinfo is None else at


def problem(model: type[models.Model], name: str) -> str | None:
    """Why rows of the model have no time in the field ``name``; None if they have."""
    fields = [each for each in model._meta.fields if isinstance(each, models.DateField)]
    names = ", ".join(each.name for each in fields) or "but the model has none"
    expected = f"expected a DateTimeField or DateField of {model._meta.label}: {names}"
    try:
        found = model._meta.get_field(name)
    except (FieldDoesNotExist, TypeError):
        return f"created_from={name!r}: {expected}"
    if isinstance(found, models.DateField):
        return None
    return f"created_from={name!r}: found a {type(found).__name__}, {expected}"
