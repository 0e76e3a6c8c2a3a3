"""Packages that store keys, compare them or generate them: django-guardian, django-taggit,
django-tree-queries, model_bakery."""

import uuid
from collections.abc import Sequence
from typing import Any

from django.db import NotSupportedError, connections, models

from ..fields import SortableIDField
from ..fields.of_model import all_field_classes, id_at
from ..fields.storage import BinaryStorage, UUIDStorage
from . import replace


def guardian(shortcuts: Any) -> None:
    """django-guardian finds objects by permissions whose ``object_pk`` is the text of an id.

    It compares that text with the text of the key in SQL, except for numbers and for UUIDs that the
    database stores as those of Django.
    """
    replace(
        (shortcuts, "_handle_pk_field", _comparable_key),
        (shortcuts, "filter_perms_queryset_by_objects", _permissions),
    )


def _comparable_key(usual: Any, queryset: Any) -> Any:
    """The conversion that makes a text of ``object_pk`` comparable with the key; None for none."""
    return None if _is_stored_otherwise(queryset) else usual(queryset)


def _permissions(usual: Any, permissions: Any, objects: Any) -> Any:
    """The permissions for these objects, or more: guardian then filters the objects themselves."""
    return permissions if _is_stored_otherwise(objects) else usual(permissions, objects)


def _is_stored_otherwise(rows: Any) -> bool:
    """Whether the key of a queryset is a sortable id that guardian can't compare with its text. Of
    a key that is a relation, guardian also asks for the field that it references."""
    field = id_at(rows.model, "pk") if isinstance(rows, models.QuerySet) else None
    if field is None or field.scheme.value_type is int:
        return False
    as_django = isinstance(field.stored(connections[rows.db]), UUIDStorage)
    return not (as_django and field.scheme.value_type is uuid.UUID)


def taggit(managers: Any) -> None:
    """``prefetch_related("tags")`` of models whose key is an id."""
    replace((managers._TaggableManager, "get_prefetch_querysets", _prefetched))


def _prefetched(
    usual: Any, manager: Any, instances: Sequence[models.Model], querysets: Any = None
) -> tuple[Any, ...]:
    from taggit.models import CommonGenericTaggedItemBase

    tags, key_of_tag, *rest = usual(manager, instances, querysets)
    field = id_at(instances[0]._meta.model, "pk")
    if field is None:
        return tags, key_of_tag, *rest
    if issubclass(manager.through, CommonGenericTaggedItemBase):
        read = field.to_python  # object_id has a type of its own
    else:
        read = field.stored(connections[tags.db]).reader(field.scheme, field)
    return tags, lambda tag: read(key_of_tag(tag)), *rest


def tree_queries(compiler: Any) -> None:
    """The path of a node has values of its key, by which ancestors are found.

    Descendants are found by the text of a key in the path. Where the database has no arrays, this
    can't find keys that are stored as bytes.
    """
    replace(
        (compiler.TreeArrayField, "from_db_value", _path),
        (compiler.TreeArrayContains, "as_sql", _contains),
    )


def _path(usual: Any, column: Any, stored: Any, expression: Any, connection: Any) -> Any:
    from tree_queries.compiler import SEPARATOR

    key = column.source_field
    if stored is None or not isinstance(key, SortableIDField):
        return usual(column, stored, expression, connection)
    members = stored.split(SEPARATOR)[1:-1] if isinstance(stored, str) else stored
    if key.scheme.value_type is int:
        members = map(int, members)
    return list(map(key.stored(connection).reader(key.scheme, key), members))


def _contains(usual: Any, lookup: Any, compiler: Any, connection: Any) -> Any:
    key = lookup.lhs.output_field.source_field
    if isinstance(key, SortableIDField) and isinstance(key.stored(connection), BinaryStorage):
        raise NotSupportedError(
            f"{key}: {connection.vendor} can't search the trees of keys that are stored as bytes. "
            "Store them otherwise, such as by storage='uuid'"
        )
    return usual(lookup, compiler, connection)


def model_bakery(generators: Any) -> None:
    """model_bakery leaves ids to the INSERT, which generates them."""
    for field_class in all_field_classes():
        generators.default_mapping.setdefault(field_class, lambda: None)
