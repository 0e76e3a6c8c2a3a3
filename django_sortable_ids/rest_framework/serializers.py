"""A serializer whose relations give and take public texts."""

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
from ..fields.of_model import id_at
from .fields import (
    SortableIDField,
    SortableIDHyperlinkedIdentityField,
    SortableIDHyperlinkedRelatedField,
    SortableIDRelatedField,
    SortableIDSlugRelatedField,
)
from .masked import (
    MaskedHyperlinkedIdentityField,
    MaskedHyperlinkedRelatedField,
    MaskedKeyRelatedField,
)
from .relations import model_at

if TYPE_CHECKING:
    ModelSerializer = serializers.ModelSerializer[Any]
else:
    ModelSerializer = serializers.ModelSerializer


class SortableIDModelSerializer(ModelSerializer):
    """A ``ModelSerializer`` whose relations give and take public texts, too: those of the model,
    and the related fields of DRF that the class declares.

    With hyperlinks: ``class OrderSerializer(SortableIDModelSerializer,
    HyperlinkedModelSerializer)``.
    """

    def get_fields(self) -> Any:
        found = super().get_fields()
        return type(found)(
            (name, _declared(field, field.source or name, self.Meta.model))
            for name, field in found.items()
        )

    def build_standard_field(self, field_name: str, model_field: Any) -> Any:
        built = super().build_standard_field(field_name, model_field)
        return _through_key(*built, id_at(model_field.model, model_field.name))

    def build_relational_field(self, field_name: str, relation_info: Any) -> Any:
        field_class, kwargs = super().build_relational_field(field_name, relation_info)
        related = relation_info.related_model
        if field_class in (HyperlinkedRelatedField, MaskedHyperlinkedRelatedField):
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
            target = id_at(model_class, field.name) if field.attname == field_name else None
            if target is not None:
                return SortableIDField, {"model_field": target, "read_only": True}
        return super().build_property_field(field_name, model_class)

    def build_url_field(self, field_name: str, model_class: type[models.Model]) -> Any:
        field_class, kwargs = super().build_url_field(field_name, model_class)
        if field_class in (HyperlinkedIdentityField, MaskedHyperlinkedIdentityField):
            return SortableIDHyperlinkedIdentityField, kwargs | {"model": model_class}
        return field_class, kwargs


def _through_key(field_class: Any, kwargs: Any, key: columns.SortableIDField | None) -> Any:
    if key is None or not issubclass(field_class, PrimaryKeyRelatedField):
        return field_class, kwargs
    key_field = SortableIDField(key, read_only=False)
    return _mixed(SortableIDRelatedField, field_class), kwargs | {"pk_field": key_field}


def _declared(field: Any, source: str, model: type[models.Model]) -> Any:
    """A field that a serializer of the model declares, with public texts in place of ids."""
    if isinstance(field, ManyRelatedField):
        child = field.child_relation
        made = _declared_relation(child, model_at(child, source, model))
        if made is not child:
            field.child_relation = made
            made.bind(field_name="", parent=field)
        return field
    if isinstance(field, RelatedField):
        return _declared_relation(field, model_at(field, source, model))
    if type(field) in (serializers.ReadOnlyField,):
        target = id_at(model, source.replace(".", LOOKUP_SEP))
        if target is not None:
            return SortableIDField(target, **field._kwargs | {"read_only": True})
    return field


def _declared_relation(relation: Any, related: type[models.Model] | None) -> Any:
    if related is None:
        return relation
    base: Any
    more: dict[str, Any] = {}
    match relation:
        case PrimaryKeyRelatedField(pk_field=None):
            base, target = SortableIDRelatedField, id_at(related, "pk")
            more["pk_field"] = target and SortableIDField(target, read_only=False)
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
            more["model"] = related
        case _:
            return relation
    if target is None:
        return relation
    return _mixed(base, relation.__class__)(*relation._args, **relation._kwargs | more)


@lru_cache
def _mixed(base: type[Any], usual: type[Any]) -> Any:
    """The class of a field that does what ``base`` does, where a subclass was to be used."""
    if usual is MaskedKeyRelatedField or issubclass(base, usual):
        return base
    return usual if issubclass(usual, base) else type(usual.__name__, (base, usual), {})
