"""The sortable ids of a model."""

from __future__ import annotations

from django.db import models

from .base import SortableIDField


def own_fields(model: type[models.Model]) -> list[SortableIDField]:
    """The sortable ids in the model's own table."""
    if model._meta.proxy:
        return []
    return [field for field in model._meta.local_fields if isinstance(field, SortableIDField)]


def is_unique_with_others(field: SortableIDField) -> bool:
    """Whether a constraint has the field: by itself, or with others, such as a tenant."""
    meta = field.model._meta
    groups = [
        *meta.unique_together,
        *(constraint.fields for constraint in meta.total_unique_constraints),
        [each.name for each in getattr(meta, "pk_fields", ())],
    ]
    return field.unique or any(field.name in group for group in groups)
