"""djangorestframework-jsonapi: the id of a resource is the public text of its key.

A serializer that has no field for the key, as is usual there, leaves the id to the renderer.
"""

from typing import Any

from django.db import models
from rest_framework_json_api import renderers
from rest_framework_json_api.serializers import ResourceIdentifierObjectSerializer

from ..fields.of_model import id_at

_usual_id = renderers.get_resource_id
_usual_identifier = ResourceIdentifierObjectSerializer.to_representation


def register() -> None:
    renderers.get_resource_id = _get_resource_id
    ResourceIdentifierObjectSerializer.to_representation = _to_representation


def _get_resource_id(row: Any, output: Any) -> str | None:
    has_id = output and "id" in output
    text = None if has_id else _public_key(row)
    return _usual_id(row, output) if text is None else text


def _to_representation(serializer: Any, row: Any) -> Any:
    identifier = _usual_identifier(serializer, row)
    text = _public_key(row)
    return identifier if text is None else identifier | {"id": text}


def _public_key(row: Any) -> str | None:
    """None if there is no key, or one of another kind."""
    field = id_at(type(row), "pk") if isinstance(row, models.Model) else None
    return None if field is None or row.pk is None else field.public_text.format(row.pk)
