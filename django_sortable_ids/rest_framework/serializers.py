"""A serializer whose relations output and accept public texts."""

from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models.constants import LOOKUP_SEP
from rest_framework import serializers
from rest_framework.relations import ManyRelatedField, PrimaryKeyRelatedField

from ..fields.of_model import id_at, referenced_id
from .fields import PUBLIC_RELATIONS, SortableIDField, SortableIDRelatedField, combined

if TYPE_CHECKING:
    ModelSerializer = serializers.ModelSerializer[Any]
else:
    ModelSerializer = serializers.ModelSerializer

_PUBLIC: dict[Any, Any] = {PrimaryKeyRelatedField: SortableIDRelatedField, **PUBLIC_RELATIONS}


class SortableIDModelSerializer(ModelSerializer):
    """A ``ModelSerializer`` whose relations also output and accept public texts: relations of the
    model, and DRF's related fields that the class declares, or subclasses of them.

    With hyperlinks: ``class OrderSerializer(SortableIDModelSerializer,
    HyperlinkedModelSerializer)``.
    """

    def get_fields(self) -> Any:
        fields: dict[str, Any] = super().get_fields()
        for name, field in fields.items():
            relation = field.child_relation if isinstance(field, ManyRelatedField) else field
            for declared, public in _PUBLIC.items():
                if isinstance(relation, declared):
                    relation.__class__ = combined(public, relation.__class__)
                    break
            if type(field) in (serializers.ReadOnlyField,):
                path = (field.source or name).replace(".", LOOKUP_SEP)
                target = id_at(self.Meta.model, path)
                if target is not None:
                    fields[name] = SortableIDField(target, **field._kwargs | {"read_only": True})
        return fields

    def build_property_field(self, field_name: str, model_class: type[models.Model]) -> Any:
        for field in model_class._meta.fields:
            target = referenced_id(field) if field.attname == field_name else None
            if target is not None:
                options = {"read_only": True, "allow_null": field.null}
                return SortableIDField, {"model_field": target, **options}
        return super().build_property_field(field_name, model_class)
