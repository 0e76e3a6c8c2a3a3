"""Checks of the models and settings; no database is queried."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import django
from django.apps import AppConfig, apps
from django.conf import settings
from django.core.checks import CheckMessage
from django.core.exceptions import FieldDoesNotExist, ImproperlyConfigured
from django.db import connections, models, router

from .. import conf
from ..fields import SortableIDField, history_models, of_model
from ..fields.auto_fields import plain_source
from ..fields.storage import IntegerStorage, TextStorage, UUIDStorage
from ..ids import fields_by_prefix
from ..schemes import TimeScheme
from . import message

_COOKIES = "django.contrib.sessions.backends.signed_cookies"
Configs = Iterable[AppConfig] | None


def check_definitions(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """Problems of the models of these apps; of all apps for None."""
    return [
        *_check_prefixes(app_configs),
        *_check_settings(app_configs),
        *(
            problem
            for model in _models(app_configs)
            for problem in (*check_generic_relations(model), *_check_fields(model))
        ),
    ]


def check_workers(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """Fields that have bits for a worker number, if no worker number is set."""
    try:
        if conf.worker() is not None:
            return []
    except ImproperlyConfigured:
        return []  # check_definitions reports it
    return [
        message("W003", field, workers=workers, last=workers - 1)
        for field in of_model.usable_fields(_models(app_configs))
        if (workers := field.workers) and field.generates_ids
    ]


def _models(app_configs: Configs) -> list[type[models.Model]]:
    if app_configs is None:
        return apps.get_models()
    return [model for config in app_configs for model in config.get_models()]


def _check_prefixes(app_configs: Configs) -> Iterator[CheckMessage]:
    known = fields_by_prefix(tuple(apps.get_models()))
    for field in of_model.fields_of(_models(app_configs)):
        for prefix in filter(None, field.public_text.accepted_prefixes):
            # Two models may share a table.
            others = [other for other in known.get(prefix, ()) if _column(other) != _column(field)]
            if others:
                yield message("E001", field, prefix=prefix, others=", ".join(map(str, others)))


def _column(field: SortableIDField) -> tuple[str, str | None]:
    return field.model._meta.db_table, field.column


def _check_settings(app_configs: Configs) -> Iterator[CheckMessage]:
    try:
        for key in conf.KEYS:
            conf.get(key)
        worker = conf.worker()
        for field in of_model.usable_fields(_models(app_configs)):
            if isinstance(worker, int) and field.workers:
                field.with_worker(worker)
    except ImproperlyConfigured as error:
        yield message("E003", reason=error)


def _check_fields(model: type[models.Model]) -> Iterator[CheckMessage]:
    generic = {getattr(relation, "fk_field", None) for relation in model._meta.private_fields}
    for field in of_model.own_fields(model):
        if field.primary_key:
            if not field.generates_ids and django.VERSION < (6, 1):
                yield message("W002", field)
        elif (
            field.name not in generic
            and not of_model.is_unique_with_others(field)
            and not history_models.is_copy(field)
        ):
            fix = "Add unique=True, or a UniqueConstraint with other fields."
            if field.null:
                fix = (
                    "`manage.py backfill_ids` says what is next: how to fill the column, or what "
                    "to write here."
                )
            yield message("W001", field, fix=fix)


# Masked ids


def check_masks(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """Masked ids without a mask key, and session cookies that show masked ids."""
    masked = [field for field in of_model.usable_fields(_models(app_configs)) if field.masked]
    if not masked:
        return []
    problems = []
    with suppress(ImproperlyConfigured):  # check_definitions reports it
        conf.get("MASK_KEYS")
        try:
            conf.mask_keys()
        except ImproperlyConfigured as error:
            problems = [message("E011", field, reason=error) for field in masked]
    user_key = masked_user_key()
    if user_key in masked and settings.SESSION_ENGINE == _COOKIES:
        problems.append(message("W005", user_key))
    return problems


def masked_user_key() -> SortableIDField | None:
    try:
        user = apps.get_model(settings.AUTH_USER_MODEL)
    except (LookupError, ValueError):
        return None  # Django reports it
    key = of_model.id_at(user, "pk")
    return key if key is not None and key.masked else None


# Generic relations: the join compares the two columns as they are stored. What passes was observed
# to work on each server; tests/checks/test_generic_relations.py tries every storage with every kind
# of object_id.


def check_generic_relations(
    model: type[models.Model], connection: Any = None
) -> Iterator[CheckMessage]:
    """The relations of a model that fail. Without a connection no database is queried, and so
    nothing is known of MySQL and MariaDB, which share a backend."""
    key = of_model.referenced_id(model._meta.pk)
    if key is None or key.wrong_options:
        return
    for relation in model._meta.private_fields:
        # A GenericRelation. It can't be imported unless contenttypes is installed.
        name = getattr(relation, "object_id_field_name", None)
        inherited = getattr(relation, "mti_inherited", False)
        if name is None or inherited or isinstance(relation.related_model, str):
            continue
        # Not before: a router of shards may know no database for a model alone.
        database = connection or connections[router.db_for_write(model)]
        if (database.vendor == "mysql") != bool(connection):
            return
        with suppress(FieldDoesNotExist):
            column = relation.related_model._meta.get_field(name)
            is_wrong = getattr(column, "wrong_options", None)  # which its own check reports
            if is_wrong or (_compare(key, column, database) and _has_room(key, column, database)):
                continue
            values = {"relation": relation, "key": key, "kind": type(column).__name__}
            values["fix"] = _fix_of(key, column, database)
            yield message("E002", relation.model, column=column, **values)


def _fix_of(key: SortableIDField, column: Any, connection: Any) -> str:
    scheme = key.scheme
    is_text = isinstance(column, models.CharField | models.TextField)
    stored = "storage='char'" if scheme.value_type is str else "storage='char36'"
    if scheme.value_type is int:
        fix = f"Make {column} a BigIntegerField"
    elif is_text and _has_room(key, column, connection):
        return f"Store the key as text: give {key} {stored}"
    else:
        has_uuids = _compare(key, models.UUIDField(), connection)
        id_field = "UUIDField()" if has_uuids else plain_source(key)
        fix = (
            f"If {column} references such keys only, make it {id_field}; else make it a "
            f"CharField(max_length={scheme.canonical.length}), and give {key} {stored}"
        )
    return (
        f"{fix}. If it is of a package, use a model of your own instead. Before a move of the key, "
        f"take its edit back, change and migrate this column, and then edit the key"
    )


def _has_room(key: SortableIDField, column: Any, connection: Any) -> bool:
    """Whether the column holds the largest id."""
    scheme = key.scheme
    if isinstance(column, SortableIDField | models.UUIDField):
        return True
    if not isinstance(column, models.IntegerField):
        return column.max_length is None or bool(column.max_length >= scheme.canonical.length)
    largest = scheme.whole_range[1] if isinstance(scheme, TimeScheme) else 0
    with suppress(KeyError):  # a custom type
        most = connection.ops.integer_field_range(column.get_internal_type())[1]
        return most is None or bool(most >= largest)
    return True


def _compare(key: SortableIDField, column: Any, connection: Any) -> bool:
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
