"""Django REST framework: the model and the field that a serializer's relation leads to."""

from typing import Any

from django.db import models
from rest_framework.relations import ManyRelatedField
from rest_framework.utils.model_meta import get_field_info

from ..fields import SortableIDField
from ..fields.of_model import id_at


def related_model(relation: Any) -> type[models.Model] | None:
    """The model that a relation leads to; known only once the relation is in a serializer."""
    bound = relation.parent if isinstance(relation.parent, ManyRelatedField) else relation
    model = getattr(getattr(bound.parent, "Meta", None), "model", None)
    return model_at(relation, bound.source or "", model)


def model_at(relation: Any, source: str, model: Any) -> type[models.Model] | None:
    """The model that a relation with this source leads to, in a serializer of ``model``."""
    if relation.queryset is not None:
        related: type[models.Model] = relation.queryset.model
        return related
    for name in () if source == "*" else source.split("."):
        step = get_field_info(model).relations.get(name) if model else None
        model = None if step is None else step.related_model
    return model if isinstance(model, type) and issubclass(model, models.Model) else None


def masked_id(model: type[models.Model] | None, path: str) -> SortableIDField | None:
    """The masked id at a lookup path; None if the path leads to anything else."""
    field = None if model is None else id_at(model, path)
    return field if field is not None and field.masked else None


def replace(serializer: Any, attribute: str, default: Any, ours: Any) -> None:
    """Replace DRF's field by ours, but not a field that the project has set."""
    if getattr(serializer, attribute) is default:
        setattr(serializer, attribute, ours)


def encodable(text: str) -> str:
    """Escapes halves of surrogate pairs: JSON input may contain them, no response can."""
    return text.encode(errors="backslashreplace").decode()


def all_encodable(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a message, which may contain input; see ``encodable``."""
    return {
        key: encodable(value) if isinstance(value, str) else value for key, value in params.items()
    }
