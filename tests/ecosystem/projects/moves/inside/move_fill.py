"""Inserts rows by the ORM, with values that fit the fields.

    python move_fill.py ROWS [empty]

Each table of a model gets that many rows; with ``empty``, only tables without rows. Tables that
stay empty are printed.
"""

import sys
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from typing import Any
from uuid import uuid4

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.db import DatabaseError, models, transaction

TRIES = 25
numbers = count(int(datetime.now(UTC).timestamp()) % 100_000 * 100)


def main(rows: int, *, only_empty: bool) -> None:
    wanted = [model for model in apps.get_models(include_auto_created=True) if _has_table(model)]
    # A model may need rows of one that comes later.
    waiting = [model for model in wanted if not (only_empty and _any(model))]
    errors: dict[str, str] = {}
    # Generic references last, when the others have rows.
    waiting.sort(key=lambda model: bool(_generic(model)))
    for _ in range(4):
        waiting = [model for model in waiting if not _filled(model, rows, errors)]
    for model in waiting:
        print(f"{model._meta.label}, {errors.get(model._meta.label)}".replace("\n", " "))


def _has_table(model: Any) -> bool:
    meta = model._meta
    own = meta.app_label in ("django_sortable_ids", "contenttypes", "sessions")
    return meta.managed and not meta.proxy and not meta.swapped and not own


def _any(model: Any) -> Any:
    return model._base_manager.first()


def _filled(model: Any, rows: int, errors: dict[str, str]) -> bool:
    done = 0
    # A generic reference to a row of each model.
    rows = max(rows, len(_with_rows())) if _generic(model) else rows
    for attempt in range(rows + TRIES):
        if done == rows:
            break
        try:
            with transaction.atomic():
                models.Model.save(_instance(model, attempt), force_insert=True)
            done += 1
        except (DatabaseError, LookupError, TypeError, ValueError, AttributeError) as error:
            errors[model._meta.label] = f"{type(error).__name__}: {error}"[:200]
    return done > 0


def _instance(model: Any, attempt: int) -> Any:
    meta, values = model._meta, {}
    for field in meta.concrete_fields:
        is_parent = field.remote_field and getattr(field.remote_field, "parent_link", False)
        if not is_parent and not (field is meta.pk and field.blank):
            values[field.attname] = _value(field, attempt)
    for kind, key in _generic(model):
        target = _with_rows()[attempt % len(_with_rows())]
        values[kind.attname] = ContentType.objects.get_for_model(target).pk
        values[key.attname] = str(_row(target, attempt).pk)
    return model(**values)


def _generic(model: Any) -> list[tuple[Any, Any]]:
    """The fields of each generic reference: type and key. Columns of numbers have none, because a
    move refuses those with keys."""
    names = [
        (each.ct_field, each.fk_field)
        for each in model._meta.private_fields
        if hasattr(each, "ct_field")
    ]
    if model._meta.label == "admin.LogEntry":
        names.append(("content_type", "object_id"))
    found = [(model._meta.get_field(kind), model._meta.get_field(key)) for kind, key in names]
    return [(kind, key) for kind, key in found if not isinstance(key, models.IntegerField)]


def _with_rows() -> list[Any]:
    return [each for each in apps.get_models() if _has_table(each) and _any(each)]


def _row(model: Any, attempt: int) -> Any:
    """One of the rows, another one in each attempt."""
    found = model._base_manager.order_by("pk")
    total = found.count()
    # The last first: the others are more often referred to by one-to-one fields.
    return found[total - 1 - (attempt * 7 + attempt // 3) % total] if total else None


def _value(field: Any, attempt: int) -> Any:
    if field.remote_field:
        target = _row(field.related_model, attempt)
        if target is None:
            if field.null:
                return None
            raise LookupError(f"{field.name} needs a {field.related_model._meta.label}")
        return getattr(target, field.target_field.attname)
    if field.null and (field.name.startswith(("old_", "entity_object")) or attempt % 3 == 2):
        return None
    if field.choices and not callable(field.choices):
        return field.flatchoices[attempt % len(field.flatchoices)][0]
    if field.has_default() and not field.unique:
        return field.get_default()
    return _generated(field)


def _generated(field: Any) -> Any:
    number = next(numbers)
    match field:
        case models.BooleanField():
            return bool(number % 2)
        case models.DateTimeField():
            return datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=number % 500_000)
        case models.DateField():
            return date(2024, 1, 1) + timedelta(days=number % 900)
        case models.TimeField():
            return time(number % 24)
        case models.DurationField():
            return timedelta(minutes=number % 100)
        case models.DecimalField():
            return Decimal(number % 90)
        case models.FloatField():
            return number % 90 + 0.5
        case models.SmallIntegerField():
            return number % 30_000
        case models.IntegerField():
            return number
        case models.UUIDField():
            return uuid4()
        case models.JSONField():
            return {"number": number}
        case models.GenericIPAddressField():
            return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        case models.EmailField():
            return f"n{number}@example.com"
        case models.URLField():
            return f"https://example.com/{number}"
        case models.BinaryField():
            return b"%d" % number
    text = f"n{number}"
    return text[-field.max_length :] if field.max_length else text


if __name__ == "__main__":
    main(int(sys.argv[1]), only_empty="empty" in sys.argv[2:])
