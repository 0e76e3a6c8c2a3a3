"""History models of django-simple-history: their rows are copies of another model's rows.

They are recognized by their attributes; the package need not be installed.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import models


def original_of(model: type[models.Model]) -> type[models.Model] | None:
    """The model whose rows a history model copies; None for any other model."""
    if model.__module__ == "__fake__":  # of a migration
        try:
            current = apps.get_model(model._meta.label)
        except LookupError:
            return None
        current_original = original_of(current)
        return current_original and model._meta.apps.get_model(current_original._meta.label)
    original = getattr(model, "instance_type", None)
    if not isinstance(original, type) or not issubclass(original, models.Model):
        return None
    is_history = hasattr(model, "history_object") or hasattr(model, "m2m_history_id")
    return original if is_history else None


def is_copy(field: models.Field[Any, Any]) -> bool:
    """Whether the field's values are copies: it belongs to a history model."""
    model = getattr(field, "model", None)
    return model is not None and original_of(model) is not None
