"""A serializer whose relations output and accept public texts."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.constants import LOOKUP_SEP
from rest_framework import serializers
from rest_framework.relations import (
    HyperlinkedIdentityField,
    HyperlinkedRelatedField,
    ManyRelatedField,
    PrimaryKeyRelatedField,
    RelatedField,
    SlugRelatedField,
)

from .. import fields as columns
from ..fields.of_model import id_at, referenced_id
from .fields import (
    PublicHyperlinkedIdentityField,
    PublicHyperlinkedRelatedField,
    SortableIDField,
    SortableIDHyperlinkedIdentityField,
    SortableIDHyperlinkedRelatedField,
    SortableIDRelatedField,
    SortableIDSlugRelatedField,
    model_at,
)

if TYPE_CHECKING:
    ModelSerializer = serializers.ModelSerializer[Any]
else:
    ModelSerializer = serializers.ModelSerializer


class SortableIDModelSerializer(ModelSerializer):
    """A ``ModelSerializer`` whose relations also output and accept public texts: relations of the
    model, and DRF's related fields that the class declares.

    With hyperlinks: ``class OrderSerializer(SortableIDModelSerializer,
    HyperlinkedModelSerializer)``.
    """

    def get_fields(self) -> Any:
        fields = super().get_fields()
        return type(fields)(
            (name, _with_public_texts(field, field.source or name, self.Meta.model))
            for name, field in fields.items()
        )

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        built = super().build_standard_field(field_name, model_field)
        return _through_key(*built, referenced_id(model_field))

    def build_relational_field(self, field_name: str, relation_info: Any) -> Any:
        field_class, kwargs = super().build_relational_field(field_name, relation_info)
        related = relation_info.related_model
        if field_class in (HyperlinkedRelatedField, PublicHyperlinkedRelatedField):
            return SortableIDHyperlinkedRelatedField, kwargs | {"model": related}
        slug = kwargs.get("slug_field")
        if slug and isinstance(related._meta.get_field(slug), columns.SortableIDField):
            return SortableIDSlugRelatedField, kwargs
        return _through_key(field_class, kwargs, id_at(related, "pk"))

    def build_nested_field(self, field_name: str, relation_info: Any, nested_depth: int) -> Any:
        nested, kwargs = super().build_nested_field(field_name, relation_info, nested_depth)
        return type(nested.__name__, (SortableIDModelSerializer, nested), {}), kwargs

    def build_property_field(self, field_name: str, model_class: type[models.Model]) -> Any:
        for field in model_class._meta.fields:
            target = referenced_id(field) if field.attname == field_name else None
            if target is not None:
                options = {"read_only": True, "allow_null": field.null}
                return SortableIDField, {"model_field": target, **options}
        return super().build_property_field(field_name, model_class)

    def build_url_field(self, field_name: str, model_class: type[models.Model]) -> Any:
        field_class, kwargs = super().build_url_field(field_name, model_class)
        if field_class in (HyperlinkedIdentityField, PublicHyperlinkedIdentityField):
            return SortableIDHyperlinkedIdentityField, kwargs | {"model": model_class}
        return field_class, kwargs


def _through_key(field_class: Any, kwargs: Any, key: columns.SortableIDField | None) -> Any:
    if key is None or not issubclass(field_class, PrimaryKeyRelatedField):
        return field_class, kwargs
    key_field = SortableIDField(key, read_only=False)
    return _combined(SortableIDRelatedField, field_class), kwargs | {"pk_field": key_field}


def _with_public_texts(field: Any, source: str, model: type[models.Model]) -> Any:
    """A field of a serializer of the model, changed to use public texts instead of ids."""
    if isinstance(field, ManyRelatedField):
        child = field.child_relation
        new_child = _relation_with_public_texts(child, model_at(child, source, model))
        if new_child is not child:
            field.child_relation = new_child
            new_child.bind(field_name="", parent=field)
        return field
    if isinstance(field, RelatedField):
        return _relation_with_public_texts(field, model_at(field, source, model))
    if type(field) in (serializers.ReadOnlyField,):
        target = id_at(model, source.replace(".", LOOKUP_SEP))
        if target is not None:
            return SortableIDField(target, **field._kwargs | {"read_only": True})
    return field


def _relation_with_public_texts(relation: Any, related: type[models.Model] | None) -> Any:
    if related is None:
        return relation
    base: Any
    extra: dict[str, Any] = {}
    match relation:
        case PrimaryKeyRelatedField() if vars(relation).get("pk_field") is None:
            base, target = SortableIDRelatedField, id_at(related, "pk")
            extra["pk_field"] = target and SortableIDField(target, read_only=False)
        case SlugRelatedField():
            base, target = SortableIDSlugRelatedField, id_at(related, relation.slug_field)
        case SortableIDHyperlinkedRelatedField():
            return relation
        case HyperlinkedRelatedField():
            is_own = isinstance(relation, HyperlinkedIdentityField)
            base = (
                SortableIDHyperlinkedIdentityField if is_own else SortableIDHyperlinkedRelatedField
            )
            target = id_at(related, relation.lookup_field)
            extra["model"] = related
        case _:
            return relation
    if target is None:
        return relation
    return _combined(base, relation.__class__)(*relation._args, **relation._kwargs | extra)


@lru_cache
def _combined(base: type[Any], declared: type[Any]) -> Any:
    """``base``, or a class of ``base`` and ``declared`` if that is a subclass of DRF's field."""
    if issubclass(base, declared):
        return base
    return declared if issubclass(declared, base) else type(declared.__name__, (base, declared), {})
