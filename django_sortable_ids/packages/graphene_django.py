"""graphene-django: ids are of type ``ID``, and their texts are public, also in global ids.

Input goes to lookups, which take public texts.
"""

from collections.abc import Callable
from typing import Any

import graphene
from django.db import models
from graphene_django import DjangoObjectType
from graphene_django.converter import convert_django_field, get_django_field_description

from ..fields import SortableIDField
from ..fields.of_model import id_at
from . import shown


def register() -> None:
    convert_django_field.register(SortableIDField, _converted)
    DjangoObjectType.resolve_id = _resolve_id


class PublicIDField(graphene.Field):  # type: ignore[misc]
    """A field of type ``ID`` that shows the values of a model field as public texts."""

    def __init__(self, id_field: SortableIDField, **kwargs: Any) -> None:
        super().__init__(graphene.ID, **kwargs)
        self._id_field = id_field

    def wrap_resolve(self, parent_resolver: Any) -> Callable[..., Any]:
        resolver = super().wrap_resolve(parent_resolver)

        def resolve(*args: Any, **kwargs: Any) -> Any:
            return shown(self._id_field, resolver(*args, **kwargs))

        return resolve


def _converted(field: SortableIDField, registry: Any = None) -> PublicIDField:
    description = get_django_field_description(field)
    return PublicIDField(field, description=description, required=not field.null)


def _resolve_id(root: models.Model, info: Any) -> Any:
    """The key in ``id`` fields, and in global ids."""
    return shown(id_at(type(root), "pk"), root.pk)
