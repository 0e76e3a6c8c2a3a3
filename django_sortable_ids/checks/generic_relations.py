"""Whether a generic relation finds its rows: which columns compare as equal, on which server.

These facts were observed on each server, for each storage and each type of ``object_id``;
``tests/checks/test_generic_relations.py`` verifies them.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

from django.core.checks import CheckMessage
from django.core.exceptions import FieldDoesNotExist
from django.db import connections, models, router
from django.db.backends.base.base import BaseDatabaseWrapper

from ..fields import SortableIDField
from ..fields.of_model import referenced_id
from ..fields.values.storage import BinaryStorage, IntegerStorage, Storage, TextStorage, UUIDStorage
from ..schemes import Scheme, TimeScheme
from ..schemes.encodings.text_forms import Digits, TextForm, UUIDText
from . import messages

Server = Literal["sqlite", "postgresql", "mysql", "mariadb", "mariadb without uuid"]

_OFFLINE: dict[str, tuple[Server, ...]] = {
    "sqlite": ("sqlite",),
    "postgresql": ("postgresql",),
    "mysql": ("mysql", "mariadb", "mariadb without uuid"),
}
_DIFFERENT = (
    "the two columns store an id differently: the database finds no rows, finds rows of other "
    "ids, or refuses to compare the columns"
)
_HEXADECIMAL = UUIDText(hyphens=False)
_LARGEST_INTEGER = 2**63 - 1


def check_generic_relations(model: type[models.Model]) -> Iterator[CheckMessage]:
    """Relations that fail on every server that the settings allow; no database is queried."""
    connection = connections[router.db_for_write(model)]
    servers = _OFFLINE.get(connection.vendor, ())
    for relation, key, object_id in _joins(model):
        if servers and (reason := _failure(key, object_id, connection, servers)):
            yield messages.generic_relation_finds_nothing(relation, key, object_id, reason)


def check_generic_relations_on_server(
    model: type[models.Model], connection: BaseDatabaseWrapper
) -> Iterator[CheckMessage]:
    """Relations that fail on this server only: MySQL and MariaDB share a backend."""
    if connection.vendor != "mysql":
        return
    server = _server(connection)
    for relation, key, object_id in _joins(model):
        if _failure(key, object_id, connection, _OFFLINE["mysql"]):
            continue  # check_generic_relations reports it
        if reason := failure(key, object_id, connection, server):
            yield messages.generic_relation_finds_nothing(relation, key, object_id, reason)


def _server(connection: Any) -> Server:
    if not connection.mysql_is_mariadb:
        return "mysql"
    return "mariadb" if connection.features.has_native_uuid_field else "mariadb without uuid"


def _joins(model: type[models.Model]) -> Iterator[tuple[Any, SortableIDField, Any]]:
    """The generic relations of a model with a sortable key: relation, key, joined column."""
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
            if not getattr(object_id, "wrong_options", None):
                yield relation, key, object_id


def _failure(
    key: SortableIDField,
    object_id: models.Field[Any, Any],
    connection: BaseDatabaseWrapper,
    servers: tuple[Server, ...],
) -> str | None:
    """Why none of the servers finds the rows; None if one of them does."""
    reasons = [failure(key, object_id, connection, server) for server in servers]
    return reasons[0] if all(reasons) else None


def failure(
    key: SortableIDField,
    object_id: models.Field[Any, Any],
    connection: BaseDatabaseWrapper,
    server: Server,
) -> str | None:
    """Why a join of the key with that ``object_id`` finds no rows; None if it finds them."""
    stored = key.stored(connection)
    if isinstance(object_id, SortableIDField):
        other = object_id.stored(connection)
        accepts_all = _accepts_all(object_id, key.scheme)
        return None if accepts_all and _compare(stored, other, server) else _DIFFERENT
    if isinstance(object_id, models.UUIDField):
        is_uuid = key.scheme.value_type is uuid.UUID
        return None if is_uuid and _compare(stored, UUIDStorage(()), server) else _DIFFERENT
    if isinstance(object_id, models.IntegerField):
        if not isinstance(stored, IntegerStorage):
            return _DIFFERENT
        return _too_small(key.scheme, object_id, connection)
    if isinstance(object_id, models.CharField | models.TextField):
        if not _compares_with_text(key, stored, server):
            return _DIFFERENT
        return _too_short(key.scheme, object_id)
    return _DIFFERENT


def _accepts_all(object_id: SortableIDField, scheme: Scheme) -> bool:
    """Whether the field accepts every id of the scheme."""
    if object_id.scheme == scheme:
        return True
    if object_id.scheme.value_type is not scheme.value_type:
        return False
    if scheme.value_type is int:
        smallest, largest = _integers(scheme)
        return object_id.scheme.holds(smallest) and object_id.scheme.holds(largest)
    return object_id.accept_other_versions


def _integers(scheme: Scheme) -> tuple[int, int]:
    """The smallest and the largest id that a column holds."""
    if not isinstance(scheme, TimeScheme):
        return 0, _LARGEST_INTEGER
    smallest, largest = scheme.whole_range
    return smallest, min(largest, _LARGEST_INTEGER)


def _compare(stored: Storage, other: Storage, server: Server) -> bool:
    """Whether columns of these two storages compare as equal for the same id."""
    if server == "mariadb" and UUIDStorage in (type(stored), type(other)):
        # MariaDB converts values that it compares with a column of type uuid.
        return _reads_as_uuid(stored) and _reads_as_uuid(other)
    form, other_form = _form(stored, server), _form(other, server)
    if form is not None and other_form is not None:
        return _same_text(form, other_form, server)
    if isinstance(stored, BinaryStorage | IntegerStorage):
        return type(stored) is type(other)
    return type(stored) is type(other) is UUIDStorage


def _compares_with_text(key: SortableIDField, stored: Storage, server: Server) -> bool:
    """Whether a column compares as equal with the text of its ids, ``str(key)``."""
    if isinstance(stored, IntegerStorage):
        # MySQL compares numbers with text as rounded floats, and so finds other rows.
        return server in ("sqlite", "mariadb", "mariadb without uuid")
    if server == "mariadb" and isinstance(stored, UUIDStorage):
        return _spells_uuid(key.scheme.canonical)
    form = _form(stored, server)
    return form is not None and _same_text(form, key.scheme.canonical, server)


def _same_text(form: TextForm, other: TextForm, server: Server) -> bool:
    ignores_case = server in ("mysql", "mariadb without uuid")
    return form == other or (ignores_case and _is_hexadecimal(form) and _is_hexadecimal(other))


def _form(stored: Storage, server: Server) -> TextForm | None:
    """The form of the text that a column holds; None if it holds no text."""
    if isinstance(stored, TextStorage):
        return stored.form
    has_type = server in ("postgresql", "mariadb")
    return _HEXADECIMAL if isinstance(stored, UUIDStorage) and not has_type else None


def _reads_as_uuid(stored: Storage) -> bool:
    if isinstance(stored, TextStorage):
        return _spells_uuid(stored.form)
    return isinstance(stored, UUIDStorage) or stored == BinaryStorage(16)


def _spells_uuid(form: TextForm) -> bool:
    return isinstance(form, UUIDText) or _is_hexadecimal(form)


def _is_hexadecimal(form: TextForm) -> bool:
    """Whether the form is 32 hexadecimal digits, in upper or lower case."""
    if isinstance(form, Digits):
        return form.alphabet.lower() == "0123456789abcdef" and form.length == 32
    return form == _HEXADECIMAL


def _too_small(
    scheme: Scheme, object_id: models.Field[Any, Any], connection: BaseDatabaseWrapper
) -> str | None:
    try:
        largest = connection.ops.integer_field_range(object_id.get_internal_type())[1]
    except KeyError:
        return None  # a custom type
    needed = _integers(scheme)[1]
    if largest is None or largest >= needed:
        return None
    return f"it holds numbers up to {largest:,}, but ids go up to {needed:,}"


def _too_short(scheme: Scheme, object_id: models.Field[Any, Any]) -> str | None:
    is_number = scheme.value_type is int
    needed = len(str(_integers(scheme)[1])) if is_number else scheme.canonical.length
    if object_id.max_length is None or object_id.max_length >= needed:
        return None
    return f"it holds {object_id.max_length} characters, but an id has up to {needed}"
