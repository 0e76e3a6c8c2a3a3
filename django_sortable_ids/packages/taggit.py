"""django-taggit: ``prefetch_related("tags")`` of models whose key is an id."""

from collections.abc import Sequence
from typing import Any

from django.db import connections, models
from taggit.managers import _TaggableManager
from taggit.models import CommonGenericTaggedItemBase

from ..fields.of_model import id_at

_usual = _TaggableManager.get_prefetch_querysets


def register() -> None:
    _TaggableManager.get_prefetch_querysets = _get_prefetch_querysets


def _get_prefetch_querysets(
    manager: Any, instances: Sequence[models.Model], querysets: Any = None
) -> tuple[Any, ...]:
    tags, key_of_tag, *others = _usual(manager, instances, querysets)
    field = id_at(type(instances[0]), "pk")
    if field is None:
        return tags, key_of_tag, *others
    if issubclass(manager.through, CommonGenericTaggedItemBase):
        read = field.to_python  # object_id has a type of its own
    else:
        read = field.stored(connections[tags.db]).reader(field.scheme, field)
    return tags, lambda tag: read(key_of_tag(tag)), *others
