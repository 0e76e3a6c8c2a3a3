"""Relation fields of plain ``ModelSerializer`` classes: like DRF's own, except for masked ids."""

from typing import Any

from django.db import models
from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.relations import (
    HyperlinkedIdentityField,
    HyperlinkedRelatedField,
    ManyRelatedField,
    PrimaryKeyRelatedField,
    SlugRelatedField,
)
from rest_framework.utils.model_meta import get_field_info

from .. import fields as columns
from ..fields.of_model import id_at
from .fields import (
    MappedSortableIDField,
    SortableIDField,
    SortableIDHyperlinkedRelatedField,
    SortableIDRelatedField,
    SortableIDSlugRelatedField,
)


class MaskedKeyRelatedField(SortableIDRelatedField):
    """For a plain ``ModelSerializer``: a ``PrimaryKeyRelatedField``, except for masked keys."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if self.pk_field is None:
            del self.pk_field  # so that the first access computes the property

    @cached_property
    def pk_field(self) -> Any:  # type: ignore[override]
        key = _masked_id(_related_model(self), "pk")
        return None if key is None else SortableIDField(key, read_only=False)


class MaskedSlugRelatedField(SortableIDSlugRelatedField):
    """For a plain ``ModelSerializer``: a ``SlugRelatedField``, except for masked ids."""

    def _id_of(self, model: type[models.Model]) -> columns.SortableIDField | None:
        return _masked_id(model, self.slug_field)


class MaskedHyperlinkedRelatedField(SortableIDHyperlinkedRelatedField):
    """For a plain ``HyperlinkedModelSerializer``: DRF's field, except for masked ids."""

    def __init__(self, view_name: str | None = None, **kwargs: Any) -> None:
        super(SortableIDHyperlinkedRelatedField, self).__init__(view_name, **kwargs)

    @cached_property
    def model(self) -> Any:  # type: ignore[override]
        return _related_model(self)

    def _id(self) -> columns.SortableIDField | None:
        return _masked_id(self.model, self.lookup_field)


class MaskedHyperlinkedIdentityField(MaskedHyperlinkedRelatedField, HyperlinkedIdentityField):
    """The URL of the object itself."""


def _related_model(relation: Any) -> type[models.Model] | None:
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


def _masked_id(model: type[models.Model] | None, path: str) -> columns.SortableIDField | None:
    """The masked id at a lookup path; None if the path leads to anything else."""
    field = None if model is None else id_at(model, path)
    return field if field is not None and field.masked else None


def register() -> None:
    """Make ``ModelSerializer`` use these fields; called once, when the app is ready."""
    plain, linked = serializers.ModelSerializer, serializers.HyperlinkedModelSerializer
    plain.serializer_field_mapping[columns.SortableIDField] = MappedSortableIDField
    related = "serializer_related_field"
    defaults: list[tuple[Any, str, Any, Any]] = [
        (plain, related, PrimaryKeyRelatedField, MaskedKeyRelatedField),
        (plain, "serializer_related_to_field", SlugRelatedField, MaskedSlugRelatedField),
        (plain, "serializer_url_field", HyperlinkedIdentityField, MaskedHyperlinkedIdentityField),
        (linked, related, HyperlinkedRelatedField, MaskedHyperlinkedRelatedField),
    ]
    for serializer, attribute, default, masked in defaults:
        # Not a field that the project has set.
        if getattr(serializer, attribute) is default:
            setattr(serializer, attribute, masked)
