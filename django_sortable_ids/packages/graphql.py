"""graphene-django and strawberry-graphql-django: ids are of type ``ID``, their texts are public.

That includes global ids of Relay. Input goes to lookups, which take public texts.
"""

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

from django.db import models

from ..fields import SortableIDField
from ..fields.of_model import all_field_classes, field_at, id_at, referenced_id
from . import replace, shown


def _key(root: models.Model) -> Any:
    return shown(id_at(root._meta.model, "pk"), root.pk)


def graphene_django(package: Any) -> None:
    import graphene
    from graphene_django.converter import convert_django_field, get_django_field_description

    def converted(field: SortableIDField, registry: Any = None) -> Any:
        description = get_django_field_description(field)
        column = graphene.Field(graphene.ID, description=description, required=not field.null)
        usual = column.wrap_resolve

        def wrap_resolve(parent_resolver: Any) -> Callable[..., Any]:
            resolver = usual(parent_resolver)
            return lambda *args, **kwargs: shown(field, resolver(*args, **kwargs))

        column.wrap_resolve = wrap_resolve
        return column

    convert_django_field.register(SortableIDField, converted)
    package.DjangoObjectType.resolve_id = lambda root, info: _key(root)


def strawberry_django(package: Any) -> None:
    import strawberry
    from strawberry.types.fields.resolver import StrawberryResolver
    from strawberry_django.fields.field import StrawberryDjangoField
    from strawberry_django.fields.types import DjangoModelType, field_type_map

    def key(root: models.Model) -> strawberry.ID:
        return _key(root)

    # The package has a function of the same name as this module.
    types = import_module("strawberry_django.type")
    replace(
        (StrawberryDjangoField, "get_result", _result),
        (types, "resolve_model_id", _node_id),
        (types, "resolve_model_nodes", _nodes),
    )
    for field_class in all_field_classes():
        field_type_map.setdefault(field_class, strawberry.ID)
    definition: Any = DjangoModelType
    definition.__strawberry_definition__.get_field("pk").base_resolver = StrawberryResolver(key)


@cache
def _id_column(model: type[models.Model], name: str) -> SortableIDField | None:
    """The sortable id that an attribute has; a relation's attribute has an instance."""
    field = field_at(model, name)
    names_of_values = ("pk", getattr(field, "attname", None))
    is_instance = field is not None and field.is_relation and name not in names_of_values
    return None if is_instance else referenced_id(field)


def _result(usual: Any, field: Any, source: Any, info: Any, args: Any, kwargs: Any) -> Any:
    """The value of a field of a GraphQL type, with an id as its public text."""
    result = usual(field, source, info, args, kwargs)
    if field.base_resolver is not None or not isinstance(source, models.Model):
        return result
    return shown(_id_column(source._meta.model, field.django_name or field.python_name), result)


def _node_id(usual: Any, source: Any, root: models.Model, *, info: Any = None) -> Any:
    """The part of a global id that names the object."""
    node_id = usual(source, root, info=info)
    return shown(_id_column(root._meta.model, source.resolve_id_attr()), node_id)


def _nodes(usual: Any, source: Any, *, node_ids: Iterable[Any] | None = None, **kwargs: Any) -> Any:
    definition = getattr(source, "__strawberry_django_definition__", None)
    if node_ids is not None and definition is not None:
        field = _id_column(definition.model, source.resolve_id_attr())
        if field is not None:
            # The package compares them with the texts of the values.
            texts = (getattr(node, "node_id", node) for node in node_ids)
            node_ids = [str(field.canonical(text)) for text in texts]
    return usual(source, node_ids=node_ids, **kwargs)
