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
    return _followed(model) or _tracked(model)


def _followed(model: type[models.Model]) -> type[models.Model] | None:
    """The original of a model of django-simple-history."""
    is_history = hasattr(model, "history_object") or hasattr(model, "m2m_history_id")
    return _model(getattr(model, "instance_type", None)) if is_history else None


def _tracked(model: type[models.Model]) -> type[models.Model] | None:
    """The original of a model of django-pghistory; models of several originals have none."""
    return _model(getattr(model, "pgh_tracked_model", None))


def _model(found: Any) -> type[models.Model] | None:
    return found if isinstance(found, type) and issubclass(found, models.Model) else None


def time_path(model: type[models.Model]) -> str:
    """The path from a history model to the field with the times of its rows."""
    if _tracked(model):
        return "pgh_created_at"
    return "history__history_date" if hasattr(model, "m2m_history_id") else "history_date"


def is_copy(field: models.Field[Any, Any]) -> bool:
    """Whether the field's values are copies: it belongs to a history model."""
    model = getattr(field, "model", None)
    return model is not None and original_of(model) is not None
