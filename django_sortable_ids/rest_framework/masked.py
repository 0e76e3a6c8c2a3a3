"""Relation fields of plain ``ModelSerializer`` classes: like DRF's own, except for masked ids."""

from typing import Any

from django.db import models
from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.relations import (
    HyperlinkedIdentityField,
    HyperlinkedRelatedField,
    PrimaryKeyRelatedField,
    SlugRelatedField,
)

from .. import fields as columns
from .fields import (
    SortableIDField,
    SortableIDHyperlinkedRelatedField,
    SortableIDRelatedField,
    SortableIDSlugRelatedField,
)
from .relations import masked_id, related_model, replace


class MaskedKeyRelatedField(SortableIDRelatedField):
    """For a plain ``ModelSerializer``: a ``PrimaryKeyRelatedField``, except for masked keys."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if self.pk_field is None:
            del self.pk_field  # so that the first access computes the property

    @cached_property
    def pk_field(self) -> Any:  # type: ignore[override]
        key = masked_id(related_model(self), "pk")
        return None if key is None else SortableIDField(key, read_only=False)


class MaskedSlugRelatedField(SortableIDSlugRelatedField):
    """For a plain ``ModelSerializer``: a ``SlugRelatedField``, except for masked ids."""

    def _id_of(self, model: type[models.Model]) -> columns.SortableIDField | None:
        return masked_id(model, self.slug_field)


class MaskedHyperlinkedRelatedField(SortableIDHyperlinkedRelatedField):
    """For a plain ``HyperlinkedModelSerializer``: DRF's field, except for masked ids."""

    def __init__(self, view_name: str | None = None, **kwargs: Any) -> None:
        super(SortableIDHyperlinkedRelatedField, self).__init__(view_name, **kwargs)

    @cached_property
    def model(self) -> Any:  # type: ignore[override]
        return related_model(self)

    def _id(self) -> columns.SortableIDField | None:
        return masked_id(self.model, self.lookup_field)


class MaskedHyperlinkedIdentityField(MaskedHyperlinkedRelatedField, HyperlinkedIdentityField):
    """The URL of the object itself."""


def register() -> None:
    """Make ``ModelSerializer`` use these fields; called once, when the app is ready."""
    serializers.ModelSerializer.serializer_field_mapping[columns.SortableIDField] = SortableIDField
    plain, linked = serializers.ModelSerializer, serializers.HyperlinkedModelSerializer
    replace(plain, "serializer_related_field", PrimaryKeyRelatedField, MaskedKeyRelatedField)
    replace(plain, "serializer_related_to_field", SlugRelatedField, MaskedSlugRelatedField)
    replace(plain, "serializer_url_field", HyperlinkedIdentityField, MaskedHyperlinkedIdentityField)
    link = MaskedHyperlinkedRelatedField
    replace(linked, "serializer_related_field", HyperlinkedRelatedField, link)
