"""History models, as django-simple-history makes them: their rows are copies of other rows.

They are known by what they have; the package itself need not be there.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.db import models


def original_of(model: type[models.Model]) -> type[models.Model] | None:
    """The model whose rows the model has copies of; None for any other model."""
    if model.__module__ == "__fake__":  # of a migration
        try:
            now = apps.get_model(model._meta.label)
        except LookupError:
            return None
        found = original_of(now)
        return found and model._meta.apps.get_model(found._meta.label)
    original = getattr(model, "instance_type", None)
    if not isinstance(original, type) or not issubclass(original, models.Model):
        return None
    is_history = hasattr(model, "history_object") or hasattr(model, "m2m_history_id")
    return original if is_history else None


def is_copy(field: models.Field[Any, Any]) -> bool:
    """Whether the values of the field are those of another model's field."""
    model = getattr(field, "model", None)
    return model is not None and original_of(model) is not None
