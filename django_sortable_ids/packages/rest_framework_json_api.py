"""djangorestframework-jsonapi: the id of a resource is the public text of its key, everywhere.

A serializer that has no field for the key, as is usual there, leaves the id to the renderer. So do
relations that are fields of REST framework.
"""

from contextlib import suppress
from typing import Any

from django.db import models
from django.db.models.constants import LOOKUP_SEP
from rest_framework_json_api import renderers
from rest_framework_json_api.relations import ResourceRelatedField
from rest_framework_json_api.serializers import ResourceIdentifierObjectSerializer
from rest_framework_json_api.utils import format_field_name

from ..fields.of_model import id_at
from ..schemes import InvalidID

_usual_id = renderers.get_resource_id
_usual_identifier = ResourceIdentifierObjectSerializer.to_representation
_usual_relationships = renderers.JSONRenderer.extract_relationships.__func__


def register() -> None:
    """Make resources and the view of relationships output public texts; called once, at start."""
    renderers.get_resource_id = _get_resource_id
    ResourceIdentifierObjectSerializer.to_representation = _to_representation
    renderers.JSONRenderer.extract_relationships = classmethod(_extract_relationships)


def _get_resource_id(row: Any, output: Any) -> str | None:
    has_id = output and "id" in output
    text = None if has_id else _public_key(row)
    return _usual_id(row, output) if text is None else text


def _to_representation(serializer: Any, row: Any) -> Any:
    identifier = _usual_identifier(serializer, row)
    text = _public_key(row)
    return identifier if text is None else identifier | {"id": text}


def _extract_relationships(renderer: Any, fields: Any, resource: Any, row: Any) -> Any:
    found = _usual_relationships(renderer, fields, resource, row)
    for name, field in fields.items():
        relation = getattr(field, "child_relation", field)
        identifiers = (found or {}).get(format_field_name(name), {}).get("data")
        if not identifiers or isinstance(relation, ResourceRelatedField):
            continue
        key = id_at(type(row), field.source.replace(".", LOOKUP_SEP))
        for identifier in identifiers if isinstance(identifiers, list) else [identifiers]:
            if key is not None:
                with suppress(InvalidID):  # of another column
                    value = key.scheme.parse(identifier["id"])
                    identifier["id"] = key.public_text.format(value)
    return found


def _public_key(row: Any) -> str | None:
    """None if there is no key, or one of another kind."""
    field = id_at(type(row), "pk") if isinstance(row, models.Model) else None
    return None if field is None or row.pk is None else field.public_text.format(row.pk)
