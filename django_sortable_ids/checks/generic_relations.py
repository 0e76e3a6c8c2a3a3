"""Whether a generic relation finds its rows: the join compares the two columns as they are stored.

What passes was observed to work on each server; ``tests/checks/test_generic_relations.py`` tries
every storage with every kind of ``object_id``.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from django.core.checks import CheckMessage
from django.core.exceptions import FieldDoesNotExist
from django.db import connections, models, router

from ..fields import SortableIDField
from ..fields.of_model import referenced_id
from ..fields.values.storage import IntegerStorage, TextStorage, UUIDStorage
from ..schemes import Scheme, TimeScheme
from . import messages

_DIFFERENT = (
    "the two columns store an id differently: the database finds no rows, finds rows of other "
    "ids, or refuses to compare the columns"
)
_LARGEST_INTEGER = 2**63 - 1


def check_generic_relations(model: type[models.Model], connection: Any = None) -> Iterator[Any]:
    """The relations of a model that fail. Without a connection no database is queried, and so
    nothing is known of MySQL and MariaDB, which share a backend."""
    database = connection or connections[router.db_for_write(model)]
    if (database.vendor == "mysql") == (connection is not None):
        yield from _failures(model, database)


def _failures(model: type[models.Model], connection: Any) -> Iterator[CheckMessage]:
    key = referenced_id(model._meta.pk)
    if key is None or key.wrong_options:
        return
    for relation in model._meta.private_fields:
        # A GenericRelation. It can't be imported unless contenttypes is installed.
        name = getattr(relation, "object_id_field_name", None)
        inherited = getattr(relation, "mti_inherited", False)
        if name is None or inherited or isinstance(relation.related_model, str):
            continue
        with suppress(FieldDoesNotExist):
            object_id = relation.related_model._meta.get_field(name)
            if getattr(object_id, "wrong_options", None):
                continue
            reason = _too_small(key.scheme, object_id, connection)
            if not _compare(key, object_id, connection):
                reason = _DIFFERENT
            if reason:
                yield messages.generic_relation_finds_nothing(relation, key, object_id, reason)


def _compare(key: SortableIDField, object_id: models.Field[Any, Any], connection: Any) -> bool:
    """Whether both columns compare as equal for one id."""
    stored = key.stored(connection)
    is_mariadb = connection.vendor == "mysql" and bool(connection.mysql_is_mariadb)
    if isinstance(object_id, SortableIDField):
        return bool(object_id.scheme == key.scheme and object_id.stored(connection) == stored)
    is_uuid = isinstance(stored, UUIDStorage) and key.scheme.value_type is uuid.UUID
    if isinstance(object_id, models.UUIDField):
        return is_uuid
    if isinstance(object_id, models.IntegerField):
        return isinstance(stored, IntegerStorage)
    if not isinstance(object_id, models.CharField | models.TextField):
        return False
    if isinstance(stored, IntegerStorage):
        # MySQL compares numbers with text as rounded floats, and so finds other rows.
        return is_mariadb or bool(connection.vendor == "sqlite")
    if is_uuid:  # MariaDB converts the text that it compares with its type uuid.
        return is_mariadb and bool(connection.features.has_native_uuid_field)
    return isinstance(stored, TextStorage) and stored.form == key.scheme.canonical


def _too_small(scheme: Scheme, object_id: models.Field[Any, Any], connection: Any) -> str | None:
    """Why the column can't hold the largest id; None if it can."""
    if isinstance(object_id, SortableIDField):
        return None
    largest = _LARGEST_INTEGER
    if isinstance(scheme, TimeScheme):
        largest = min(scheme.whole_range[1], largest)
    if isinstance(object_id, models.IntegerField):
        with suppress(KeyError):  # a custom type
            most = connection.ops.integer_field_range(object_id.get_internal_type())[1]
            if most is not None and most < largest:
                return f"it holds numbers up to {most:,}, but ids go up to {largest:,}"
        return None
    needed = len(str(largest)) if scheme.value_type is int else scheme.canonical.length
    if (
        object_id.max_length is None
        or isinstance(object_id, models.UUIDField)
        or object_id.max_length >= needed
    ):
        return None
    return f"it holds {object_id.max_length} characters, but an id has up to {needed}"
