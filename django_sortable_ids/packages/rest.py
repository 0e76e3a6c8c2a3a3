"""REST framework's family: drf-writable-nested, drf-nested-routers, djangorestframework-jsonapi."""

from typing import Any

from django.db import models
from rest_framework import serializers

from ..fields.of_model import id_at
from . import replace, shown


def drf_writable_nested(mixins: Any) -> None:
    """drf-writable-nested finds rows by the public texts that its serializers output.

    It compares the text of the input with that of the key. A row whose key differs is deleted and
    inserted again.
    """
    replace((mixins.BaseNestedModelSerializer, "_get_related_pk", _related_pk))


def _related_pk(usual: Any, serializer: Any, data: Any, model: type[models.Model]) -> str | None:
    """The text of the key in the input, or of the row that was just saved, whose key it sets."""
    field = id_at(model, "pk")
    name = "pk" if data.get("pk") else model._meta.pk.attname
    text = data.get(name)
    if field is None or not text or type(text) is not str:
        key: str | None = usual(serializer, data, model)
        return key
    # The public form first: the key of a row that was just saved may be text in either.
    values = field.readings(text)[::-1]
    if not values:
        raise serializers.ValidationError({name: field.invalid(text).messages})
    return str(field.one_of(values))


def rest_framework_nested(relations: Any) -> None:
    """The links of drf-nested-routers have the public texts of the row and of its parents."""
    replace((relations.NestedHyperlinkedRelatedField, "get_url", _url))


def _url(usual: Any, relation: Any, obj: models.Model, *args: Any) -> Any:
    return usual(relation, _Shown(obj), *args)


class _Shown:
    """A row whose ids, and those of rows that it references, are public texts."""

    def __init__(self, row: models.Model) -> None:
        self._row = row

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._row, name)
        if isinstance(value, models.Model):
            return _Shown(value)
        return shown(id_at(self._row._meta.model, name), value)


def rest_framework_json_api(renderers: Any) -> None:
    """The id of a resource is the public text of its key.

    A serializer that has no field for the key, as is usual there, leaves the id to the renderer.
    """
    from rest_framework_json_api.serializers import ResourceIdentifierObjectSerializer

    replace(
        (renderers, "get_resource_id", _resource_id),
        (ResourceIdentifierObjectSerializer, "to_representation", _identifier),
    )


def _resource_id(usual: Any, row: Any, output: Any) -> Any:
    text = None if output and "id" in output else _public_key(row)
    return usual(row, output) if text is None else text


def _identifier(usual: Any, serializer: Any, row: Any) -> Any:
    identifier = usual(serializer, row)
    text = _public_key(row)
    return identifier if text is None else identifier | {"id": text}


def _public_key(row: Any) -> str | None:
    """The public text of a row's key; None if it has none, or if the key is no sortable id."""
    field = id_at(row._meta.model, "pk") if isinstance(row, models.Model) else None
    return None if field is None else field.shown(row.pk)
