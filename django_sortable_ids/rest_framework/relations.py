"""Relations of serializers that are not ours: related ids are public texts there, too."""

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
from ..schemes import ID
from .fields import (
    MappedSortableIDField,
    SortableIDField,
    SortableIDHyperlinkedRelatedField,
    SortableIDSlugRelatedField,
)
from .texts import ValueText


class PublicKey:
    """The ``pk_field`` of every ``PrimaryKeyRelatedField``: what was passed, else one for public
    texts if the key of the related model is a sortable id.
    """

    def __set__(self, relation: Any, pk_field: Any) -> None:
        state = relation.__dict__
        state["pk_field"] = pk_field
        if pk_field is not None:
            state["_pk_field"] = pk_field

    def __get__(self, relation: Any, owner: type) -> Any:
        if relation is None:
            return self
        try:
            return relation.__dict__["_pk_field"]
        except KeyError:
            model = _related_model(relation)
            if model is None:
                return None  # not yet in a serializer
            key = id_at(model, "pk")
            pk_field = None if key is None else _KeyField(key, read_only=False)
            relation.__dict__["_pk_field"] = pk_field
            return pk_field


class _KeyField(SortableIDField):
    """The message about an object that doesn't exist contains what this returns for input."""

    def to_internal_value(self, data: Any) -> ID:
        value = super().to_internal_value(data)
        return ValueText(self.to_representation(value), value)


class PublicHyperlinkedRelatedField(SortableIDHyperlinkedRelatedField):
    """For a plain ``HyperlinkedModelSerializer``, which doesn't pass the related model."""

    def __init__(self, view_name: str | None = None, **kwargs: Any) -> None:
        super(SortableIDHyperlinkedRelatedField, self).__init__(view_name, **kwargs)

    @cached_property
    def model(self) -> Any:  # type: ignore[override]
        return _related_model(self)

    def _id(self) -> columns.SortableIDField | None:
        return None if self.model is None else id_at(self.model, self.lookup_field)


class PublicHyperlinkedIdentityField(PublicHyperlinkedRelatedField, HyperlinkedIdentityField):
    """The URL of the object itself."""


def _create_as(declared: Any, public: type[Any]) -> None:
    """Fields of exactly the class ``declared`` become those of its subclass ``public``; a project's
    own subclass is left alone.
    """
    usual = declared.__new__

    def create(cls: type[Any], *args: Any, **kwargs: Any) -> Any:
        return usual(public if cls is declared else cls, *args, **kwargs)

    declared.__new__ = create


def _related_model(relation: Any) -> type[models.Model] | None:
    """The related model; None until the relation is in a serializer, unless it has a queryset."""
    bound = relation.parent if isinstance(relation.parent, ManyRelatedField) else relation
    model = getattr(getattr(bound.parent, "Meta", None), "model", None)
    return model_at(relation, bound.source or "", model)


def model_at(relation: Any, source: str, model: Any) -> type[models.Model] | None:
    """The related model of a relation with this source, in a serializer of ``model``."""
    if relation.queryset is not None:
        related: type[models.Model] = relation.queryset.model
        return related
    for name in () if source == "*" else source.split("."):
        step = get_field_info(model).relations.get(name) if model else None
        model = None if step is None else step.related_model
    return model if isinstance(model, type) and issubclass(model, models.Model) else None


def register() -> None:
    """Make serializers use these fields; called once, when the app is ready."""
    plain, linked = serializers.ModelSerializer, serializers.HyperlinkedModelSerializer
    plain.serializer_field_mapping[columns.SortableIDField] = MappedSortableIDField
    PrimaryKeyRelatedField.pk_field = PublicKey()  # type: ignore[assignment]
    _create_as(SlugRelatedField, SortableIDSlugRelatedField)
    _create_as(HyperlinkedIdentityField, PublicHyperlinkedIdentityField)
    _create_as(HyperlinkedRelatedField, PublicHyperlinkedRelatedField)
    related = "serializer_related_field"
    defaults: list[tuple[Any, str, Any, Any]] = [
        (plain, "serializer_related_to_field", SlugRelatedField, SortableIDSlugRelatedField),
        (plain, "serializer_url_field", HyperlinkedIdentityField, PublicHyperlinkedIdentityField),
        (linked, related, HyperlinkedRelatedField, PublicHyperlinkedRelatedField),
    ]
    for serializer, attribute, default, public in defaults:
        # Not a field that the project has set.
        if getattr(serializer, attribute) is default:
            setattr(serializer, attribute, public)
