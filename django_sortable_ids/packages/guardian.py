"""django-guardian: finds objects by permissions whose ``object_pk`` is the text of an id.

It compares that text with the text of the key in SQL, except for numbers and for UUIDs that the
database stores as those of Django.
"""

import uuid
from typing import Any

from django.db import connection, models
from guardian import shortcuts

from ..fields.of_model import id_at
from ..fields.values.storage import UUIDStorage

_usual_handler = shortcuts._handle_pk_field
_usual_restriction = shortcuts.filter_perms_queryset_by_objects


def register() -> None:
    shortcuts._handle_pk_field = _handle_pk_field
    shortcuts.filter_perms_queryset_by_objects = _filter_perms_queryset_by_objects


def _handle_pk_field(queryset: Any) -> Any:
    """What makes a text of ``object_pk`` comparable with the model's key; None to compare texts."""
    return None if _is_stored_otherwise(queryset.model) else _usual_handler(queryset)


def _filter_perms_queryset_by_objects(permissions: Any, objects: Any) -> Any:
    """The permissions for these objects, or more: guardian then filters the objects themselves."""
    if isinstance(objects, models.QuerySet) and _is_stored_otherwise(objects.model):
        return permissions
    return _usual_restriction(permissions, objects)


def _is_stored_otherwise(model: type[models.Model]) -> bool:
    """Whether the key is a sortable id that guardian can't compare with its text."""
    field = id_at(model, "pk")
    if field is None or field.scheme.value_type is int:
        return False
    as_django = isinstance(field.stored(connection), UUIDStorage)
    return not (as_django and field.scheme.value_type is uuid.UUID)
