"""What an instance's id says: its public text and its creation time."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone

from .fields import SortableIDField
from .schemes import ID, OutOfRange, TimeScheme


def id_field(model: type[models.Model], name: str | None = None) -> SortableIDField:
    """The model's sortable id with that name; for None its key, or its first unique one, or its
    first one.

    Raises ``FieldDoesNotExist`` where there is none.
    """
    candidates = id_fields(model)
    if name is not None:
        candidates = [field for field in candidates if field.name == name]
    if not candidates:
        wanted = "no sortable id" if name is None else f"no sortable id named {name!r}"
        raise FieldDoesNotExist(f"{model._meta.label} has {wanted}")
    return min(candidates, key=lambda field: (not field.primary_key, not field.unique))


def id_fields(model: type[models.Model]) -> list[SortableIDField]:
    """The model's sortable ids, in the order of its fields."""
    return [field for field in model._meta.fields if isinstance(field, SortableIDField)]


def id_at(model: type[models.Model], path: str) -> SortableIDField | None:
    """The sortable id that a lookup path leads to, None where it leads elsewhere.

    ``"id"``, ``"pk"``, ``"order__id"``; a relation, ``"order"``, stands for the column that it
    points to.
    """
    field = field_at(model, path)
    while field is not None and field.related_model is not None:
        field = field.target_field
    return field if isinstance(field, SortableIDField) else None


def field_at(model: type[models.Model], path: str) -> Any:
    """The field or relation at the end of a lookup path, None where there is none."""
    reached: Any = model
    field: Any = None
    for name in path.split(LOOKUP_SEP):
        if reached is None:
            return None
        try:
            field = reached._meta.pk if name == "pk" else reached._meta.get_field(name)
        except FieldDoesNotExist:
            return None
        reached = field.related_model
    return field


def public_id(instance: models.Model, field: str | None = None) -> str | None:
    """The public text of the instance's id, as URLs and REST show it; None where it has none yet.

    ``field`` names one of several; see ``id_field`` for which it is otherwise.
    """
    found = id_field(type(instance), field)
    value = getattr(instance, found.attname)
    return None if value is None else found.public_text.format(value)


def created_at(instance: models.Model, field: str = "id") -> datetime | None:
    """When the instance's id was made; None where it has none yet, or an accepted one of another
    UUID version, which carries no time.

    Aware and in the current time zone, or naive local time with ``USE_TZ=False``. Raises
    ``OutOfRange`` past the year 9999 and ``NotTimeOrdered`` for a sequence.
    """
    found = id_field(type(instance), field)
    value = getattr(instance, found.attname)
    if value is None or is_of_another_version(found, value):
        return None
    return local_time(found, value)


def is_of_another_version(field: SortableIDField, value: ID) -> bool:
    """Whether it is a UUID that the field only accepts: its bits are no time."""
    scheme = field.scheme
    return (
        field.accept_other_versions
        and isinstance(scheme, TimeScheme)
        and not scheme.carries_time(value)
    )


def local_time(field: SortableIDField, value: ID) -> datetime:
    """The creation time of a value of the field, as a ``DateTimeField`` would show it."""
    made = field.scheme.created_at(value)
    try:
        return timezone.localtime(made) if settings.USE_TZ else timezone.make_naive(made)
    except OverflowError:
        text = field.scheme.format(value)
        raise OutOfRange(f"{text} was made after the year 9999 of the time zone") from None
