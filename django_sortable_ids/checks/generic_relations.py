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
from ..fields.auto_fields import plain_source
from ..fields.of_model import referenced_id
from ..fields.values.storage import IntegerStorage, TextStorage, UUIDStorage
from ..schemes import TimeScheme
from .messages import message

_DIFFERENT = (
    "the two columns store an id differently: the database finds no rows, finds rows of other "
    "ids, or refuses to compare the columns"
)
_LARGEST_INTEGER = 2**63 - 1


def check_generic_relations(
    model: type[models.Model], connection: Any = None
) -> Iterator[CheckMessage]:
    """The relations of a model that fail. Without a connection no database is queried, and so
    nothing is known of MySQL and MariaDB, which share a backend."""
    database = connection or connections[router.db_for_write(model)]
    key = referenced_id(model._meta.pk)
    if key is None or key.wrong_options or (database.vendor == "mysql") != bool(connection):
        return
    for relation in model._meta.private_fields:
        # A GenericRelation. It can't be imported unless contenttypes is installed.
        name = getattr(relation, "object_id_field_name", None)
        inherited = getattr(relation, "mti_inherited", False)
        if name is None or inherited or isinstance(relation.related_model, str):
            continue
        with suppress(FieldDoesNotExist):
            column = relation.related_model._meta.get_field(name)
            if getattr(column, "wrong_options", None):
                continue
            problem = _problem(key, column, database)
            if problem:
                reason, fix = problem
                kind = type(column).__name__
                given = {"relation": relation, "key": key, "kind": kind, "reason": reason}
                yield message("E002", relation.model, fix=fix, **given)


def _problem(key: SortableIDField, column: Any, connection: Any) -> tuple[str, str] | None:
    """Why the two columns don't match, and what to do."""
    scheme = key.scheme
    is_int = scheme.value_type is int
    fix = f"Make {column} a BigIntegerField"
    if not _compare(key, column, connection):
        if not is_int:
            storage = "char" if scheme.value_type is str else "char36"
            needed = scheme.canonical.length
            is_text = isinstance(column, models.CharField | models.TextField)
            is_long = is_text and (column.max_length or needed) >= needed
            text = "" if is_long else f"make it a CharField(max_length={needed}), and "
            fix = (
                f"If {column} references such keys only, make it a {plain_source(key)}; or "
                f"{text}store the key as text, with storage={storage!r}"
            )
        return _DIFFERENT, fix
    if isinstance(column, SortableIDField | models.UUIDField):
        return None
    largest = _LARGEST_INTEGER
    if isinstance(scheme, TimeScheme):
        largest = min(scheme.whole_range[1], largest)
    if isinstance(column, models.IntegerField):
        with suppress(KeyError):  # a custom type
            most = connection.ops.integer_field_range(column.get_internal_type())[1]
            if most is not None and most < largest:
                return f"it holds numbers up to {most:,}, but ids go up to {largest:,}", fix
        return None
    needed = len(str(largest)) if is_int else scheme.canonical.length
    if column.max_length is None or column.max_length >= needed:
        return None
    reason = f"it holds {column.max_length} characters, but an id has up to {needed}"
    return reason, fix if is_int else f"Make {column} a CharField(max_length={needed})"


def _compare(key: SortableIDField, column: Any, connection: Any) -> bool:
    """Whether both columns compare as equal for one id."""
    stored = key.stored(connection)
    is_mariadb = connection.vendor == "mysql" and bool(connection.mysql_is_mariadb)
    if isinstance(column, SortableIDField):
        return bool(column.scheme == key.scheme and column.stored(connection) == stored)
    is_uuid = isinstance(stored, UUIDStorage) and key.scheme.value_type is uuid.UUID
    if isinstance(column, models.UUIDField):
        return is_uuid
    if isinstance(column, models.IntegerField):
        return isinstance(stored, IntegerStorage)
    if not isinstance(column, models.CharField | models.TextField):
        return False
    if isinstance(stored, IntegerStorage):
        # MySQL compares numbers with text as rounded floats, and so finds other rows.
        return is_mariadb or bool(connection.vendor == "sqlite")
    if is_uuid:  # MariaDB converts the text that it compares with its type uuid.
        return is_mariadb and bool(connection.features.has_native_uuid_field)
    return isinstance(stored, TextStorage) and stored.form == key.scheme.canonical
