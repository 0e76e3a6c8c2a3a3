"""strawberry-graphql-django: ids are of type ``ID``, and their texts are public.

That includes global ids of Relay, and the keys of related objects. Input goes to lookups, which
take public texts.
"""

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from typing import Any

import strawberry
from django.core.exceptions import FieldDoesNotExist, ValidationError
from django.db import models
from strawberry.types.fields.resolver import StrawberryResolver
from strawberry_django.fields.field import StrawberryDjangoField
from strawberry_django.fields.types import DjangoModelType, field_type_map
from strawberry_django.relay import utils as relay_utils

from ..fields import SortableIDField
from ..fields.of_model import all_field_classes, id_at
from . import shown

_usual_result = StrawberryDjangoField.get_result
_usual_node_id = relay_utils.resolve_model_id
_usual_nodes = relay_utils.resolve_model_nodes


def register() -> None:
    for field_class in all_field_classes():
        field_type_map.setdefault(field_class, strawberry.ID)
    StrawberryDjangoField.get_result = _result
    definition: Any = DjangoModelType
    key = definition.__strawberry_definition__.get_field("pk")
    key.base_resolver = StrawberryResolver(_key)
    # The package has a function of the same name as this module.
    types = import_module("strawberry_django.type")
    types.resolve_model_id = _node_id  # type: ignore[attr-defined]
    types.resolve_model_nodes = _nodes  # type: ignore[attr-defined]


@cache
def _id_column(model: type[models.Model], name: str) -> SortableIDField | None:
    """The sortable id that an attribute has; a relation's attribute has an instance."""
    try:
        field = model._meta.pk if name == "pk" else model._meta.get_field(name)
    except FieldDoesNotExist:
        return None
    is_instance = field.is_relation and name not in ("pk", getattr(field, "attname", None))
    return None if is_instance else id_at(model, name)


def _result(field: Any, source: Any, info: Any, args: Any, kwargs: Any) -> Any:
    """What a field of a GraphQL type returns."""
    found = _usual_result(field, source, info, args, kwargs)
    if field.base_resolver is not None or not isinstance(source, models.Model):
        return found
    return shown(_id_column(type(source), field.django_name or field.python_name), found)


def _key(root: models.Model) -> strawberry.ID:
    text: strawberry.ID = shown(id_at(type(root), "pk"), root.pk)
    return text


def _node_id(source: Any, root: models.Model, *, info: Any = None) -> Any:
    """The part of a global id that names the object."""
    found = _usual_node_id(source, root, info=info)
    field = _id_column(type(root), source.resolve_id_attr())
    is_text = field is not None and isinstance(found, str)
    return shown(field, field.to_python(found) if is_text else found)  # type: ignore[union-attr]


def _nodes(source: Any, *, node_ids: Iterable[Any] | None = None, **kwargs: Any) -> Any:
    definition = getattr(source, "__strawberry_django_definition__", None)
    if node_ids is not None and definition is not None:
        field = _id_column(definition.model, source.resolve_id_attr())
        if field is not None:
            # The package compares them with the texts of the values.
            node_ids = [_bare(field, getattr(each, "node_id", each)) for each in node_ids]
    return _usual_nodes(source, node_ids=node_ids, **kwargs)


def _bare(field: SortableIDField, text: str) -> str:
    try:
        return str(field.to_python(text))
    except ValidationError:
        return text
