"""History models of django-simple-history and django-pghistory: their rows are copies of another
model's rows.

They are recognized by their attributes; the packages need not be installed.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import models


def original_of(model: type[models.Model]) -> type[models.Model] | None:
    """The model whose rows a history model copies; None for any other model."""
    if model.__module__ == "__fake__":  # of a migration
        try:
            current_original = original_of(apps.get_model(model._meta.label))
            return current_original and model._meta.apps.get_model(current_original._meta.label)
        except LookupError:
            return None
    # The attributes of django-simple-history and of django-pghistory; models of several originals
    # have none.
    is_history = hasattr(model, "history_object") or hasattr(model, "m2m_history_id")
    original = getattr(model, "instance_type" if is_history else "pgh_tracked_model", None)
    is_model = isinstance(original, type) and issubclass(original, models.Model)
    return original if is_model else None


def time_path(model: type[models.Model]) -> str:
    """The path from a history model, perhaps a migration's, to the field with its rows' times."""
    if hasattr(model, "pgh_created_at"):
        return "pgh_created_at"
    return "history__history_date" if hasattr(model, "m2m_history_id") else "history_date"


def is_copy(field: models.Field[Any, Any]) -> bool:
    """Whether the field's values are copies: it belongs to a history model."""
    model = getattr(field, "model", None)
    return model is not None and original_of(model) is not None
