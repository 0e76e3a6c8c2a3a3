"""The sortable ids of a model, by name, by path and by instance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import FieldDoesNotExist, FieldError
from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.constants import LOOKUP_SEP

from ..schemes import ID, OutOfRange
from ..schemes.support import nearest
from . import history_models
from .base import SortableIDField
from .times import local_zone


def all_field_classes(base: type[SortableIDField] = SortableIDField) -> Iterator[type[Any]]:
    """Every class of sortable ids, also those of the project."""
    for subclass in base.__subclasses__():
        yield subclass
        yield from all_field_classes(subclass)


def own_fields(model: type[models.Model]) -> list[SortableIDField]:
    """The sortable ids in the model's own table."""
    if model._meta.proxy:
        return []
    return [field for field in model._meta.local_fields if isinstance(field, SortableIDField)]


def usable_fields(classes: Iterable[type[models.Model]]) -> list[SortableIDField]:
    """The ``own_fields`` of these models whose options are right."""
    return [field for model in classes for field in own_fields(model) if not field.wrong_options]


def fields_of(classes: Iterable[type[models.Model]]) -> list[SortableIDField]:
    """The ``usable_fields`` of these models, without the copies of history models."""
    return [field for field in usable_fields(classes) if not history_models.is_copy(field)]


def is_unique_alone(field: models.Field[Any, Any]) -> bool:
    """Whether the model declares the field unique by itself."""
    return field.unique or (field.name,) in map(tuple, _unique_groups(field.model))


def is_unique_with_others(field: SortableIDField) -> bool:
    """Whether the field is unique, by itself or with other fields, such as a tenant."""
    of_key = [part.name for part in getattr(field.model._meta, "pk_fields", ())]
    groups = *_unique_groups(field.model), of_key
    return field.unique or any(field.name in group for group in groups)


def _unique_groups(model: type[models.Model]) -> list[Sequence[str]]:
    """The names of the fields of each constraint that the model declares, without its key."""
    meta = model._meta
    return [*meta.unique_together, *(unique.fields for unique in meta.total_unique_constraints)]


def id_field(model: type[models.Model], name: str | None = None) -> SortableIDField:
    """The model's sortable id with that name. For None: its primary key, else its first unique
    sortable id, else its first one.

    Raises ``FieldDoesNotExist`` if there is none.
    """
    candidates = id_fields(model)
    if name is not None:
        candidates = [field for field in candidates if field.name == name]
    if not candidates:
        wanted = "no sortable id" if name is None else f"no sortable id named {name!r}"
        suggested = nearest(name, [field.name for field in id_fields(model)]) if name else ""
        raise FieldDoesNotExist(f"{model._meta.label} has {wanted}{suggested}")
    return main_field(candidates)


def main_field(fields: Iterable[SortableIDField]) -> SortableIDField:
    """The primary key if it is among them, else the first unique field, else the first one."""
    return min(fields, key=lambda field: (not field.primary_key, not field.unique))


def id_fields(model: type[models.Model]) -> list[SortableIDField]:
    return [field for field in model._meta.fields if isinstance(field, SortableIDField)]


def id_at(model: type[models.Model], path: str) -> SortableIDField | None:
    """The sortable id that a lookup path leads to; None if it leads to anything else.

    Examples: ``"id"``, ``"pk"``, ``"order__id"``; a relation, ``"order"``, stands for the column
    that it references.
    """
    return referenced_id(field_at(model, path))


def referenced_id(field: Any) -> SortableIDField | None:
    """The sortable id that a field is, or that a relation references; None for anything else."""
    column = referenced_column(field)
    return column if isinstance(column, SortableIDField) else None


def referenced_column(field: Any) -> Any:
    """The field itself; for a relation, the column that it references, which is no relation, or
    None if it references several."""
    try:
        while field is not None and field.related_model is not None:
            field = field.target_field
    except FieldError:
        return None
    return field


def field_at(model: type[models.Model], path: str) -> Any:
    """The field or relation at the end of a lookup path; None if there is none."""
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


def id_of(instance: models.Model, name: str | None = None) -> tuple[SortableIDField, ID | None]:
    """The sortable id of the instance and its value, also if a text of it was assigned. The field
    is that of ``id_field``, or, in a model without sortable ids, the one that its primary key
    references.

    Raises ``FieldDoesNotExist`` if there is none.
    """
    if not isinstance(instance, models.Model):
        raise TypeError(
            f"expected an instance of a model, found {type(instance).__name__}: pass the "
            f"row. For a value alone, with field = Order._meta.get_field('id'): "
            f"field.scheme.created_at(value), field.public_text.format(value)"
        )
    model = instance._meta.model  # not type(): request.user is a lazy object
    field = None if name is not None or id_fields(model) else id_at(model, "pk")
    if field is not None:
        value = instance.pk
    else:
        field = id_field(model, name)
        value = getattr(instance, field.attname)
    if hasattr(value, "resolve_expression"):
        return field, None  # The database has not generated it yet.
    return field, field.canonical(value)


def local_time(field: SortableIDField, value: ID) -> datetime:
    """The creation time of a value, as a ``DateTimeField`` shows it; may raise ``OutOfRange``."""
    try:
        local = field.scheme.created_at(value).astimezone(local_zone())
    except OverflowError:
        text = field.scheme.format(value)
        raise OutOfRange(f"{text} is after the year 9999 in the current time zone") from None
    return local if settings.USE_TZ else local.replace(tzinfo=None)


def is_same(
    old: models.Field[Any, Any], new: SortableIDField, connection: BaseDatabaseWrapper
) -> bool:
    """Whether both fields have the same ids in the same column; their public texts may differ."""
    return (
        isinstance(old, SortableIDField)
        and old.stored_scheme == new.stored_scheme
        and old.stored(connection) == new.stored(connection)
    )
