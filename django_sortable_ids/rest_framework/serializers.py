"""A serializer whose relations output and accept public texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from django.db.models.constants import LOOKUP_SEP
from rest_framework import serializers
from rest_framework.relations import (
    HyperlinkedRelatedField,
    ManyRelatedField,
    PrimaryKeyRelatedField,
    RelatedField,
    SlugRelatedField,
)

from ..fields.of_model import id_at, referenced_id
from ..mixins import Leftmost
from ..old_ids.resolving import old_row
from .fields import PUBLIC_RELATIONS, SortableIDField, SortableIDRelatedField, combined

_PUBLIC: dict[Any, Any] = {PrimaryKeyRelatedField: SortableIDRelatedField, **PUBLIC_RELATIONS}


class SortableIDModelSerializer(serializers.ModelSerializer):  # type: ignore[type-arg]
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


if TYPE_CHECKING:
    Serializer = serializers.Serializer[Any]
    Link = HyperlinkedRelatedField[Any]
    Relation = RelatedField[Any, Any, Any]
else:
    Serializer = Link = Relation = object


class AcceptOldIDs(Leftmost, Serializer):
    """For serializers: the input of each relation may also be the old id of a row, as a number, as
    text, or in a URL. Output has present ids only.

    It stands to the left of the other classes. The row must be among those of the relation's
    queryset. A present id needs no further query.
    """

    def get_fields(self) -> Any:
        fields = super().get_fields()
        for field in fields.values():
            relation = field.child_relation if isinstance(field, ManyRelatedField) else field
            for base, accepting in _ACCEPTING.items():
                if isinstance(relation, base) and not relation.read_only:
                    # The same object: a class to the right may have set its queryset.
                    relation.__class__ = combined(accepting, relation.__class__)
        return fields


class _OldKey(Relation):
    """A relation through a key or a slug."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            return super().to_internal_value(data)
        except serializers.ValidationError:
            row = _old_row(self, getattr(self, "slug_field", "pk"), data)
            if row is None:
                raise
            return row


class _OldLink(Link):
    """A relation through a URL."""

    def get_object(self, view_name: str, view_args: Any, view_kwargs: Any) -> Any:
        try:
            return super().get_object(view_name, view_args, view_kwargs)
        except (serializers.ValidationError, ObjectDoesNotExist):
            row = _old_row(self, self.lookup_field, view_kwargs[self.lookup_url_kwarg])
            if row is None:
                raise
            return row


_ACCEPTING: dict[Any, Any] = {
    PrimaryKeyRelatedField: _OldKey,
    SlugRelatedField: _OldKey,
    HyperlinkedRelatedField: _OldLink,
}


def _old_row(relation: Any, name: str, given: Any) -> Any:
    rows = relation.get_queryset()
    is_key = name in ("pk", rows.model._meta.pk.name)
    return old_row(rows.all(), given) if is_key else None
