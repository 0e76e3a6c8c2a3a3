"""Finds the columns that contain values of a primary key, in the models of a migration's state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.apps.registry import Apps
from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.migrations.state import ProjectState

from ...fields import history
from .moved import GenericReference, MovedKey, Reference


def rendered(state: ProjectState) -> ProjectState:
    """The same state with models that refer to each other. After a change of a plain field, Django
    leaves models that refer to the class of the model before it."""
    found = state.clone()
    found.__dict__.pop("apps", None)
    return found


def key_field(apps: Apps, key: MovedKey) -> models.Field[Any, Any]:
    """The primary key of the model, as the state has it."""
    field: models.Field[Any, Any] = apps.get_model(key.model)._meta.pk
    return field


def references(apps: Apps, keys: Iterable[MovedKey]) -> list[Reference]:
    """Every column that contains values of these keys: foreign keys, one-to-one fields, links of
    multi-table inheritance, the tables of many-to-many fields, and copies in history models."""
    keys = list(keys)
    moved = {key_field(apps, key): key.model for key in keys}
    found = {
        Reference(model._meta.db_table, str(field.column), moved[target])
        for model, field in _columns(apps)
        if field is not (target := final_target(field)) and target in moved
    }
    found |= {
        Reference(field.model._meta.db_table, str(field.column), key)
        for field, key in copies(apps, keys)
    }
    return sorted(found)


def copies(apps: Apps, keys: Iterable[MovedKey]) -> Iterator[tuple[Any, str]]:
    """Each field of a history model that copies one of these keys and is no foreign key, with the
    model of the key."""
    moved = {key_field(apps, key): key.model for key in keys}
    for model, field in _columns(apps):
        original = history.original_of(model)
        if original is None or field.is_relation:
            continue
        try:
            copied: Any = original._meta.get_field(field.name)
        except FieldDoesNotExist:
            continue
        if copied in moved:
            yield field, moved[copied]


def final_target(field: Any) -> Any:
    """The field whose values the column contains: the field itself, or the end of the chain of
    foreign keys."""
    while field.remote_field is not None:
        field = field.target_field
    return field


def field_of(apps: Apps, table: str, column: str) -> Any | None:
    """The field of a column; None if no model has it."""
    for model, field in _columns(apps):
        if (model._meta.db_table, field.column) == (table, column):
            return field
    return None


def models_of(apps: Apps, key: MovedKey) -> Iterator[tuple[str, str]]:
    """The content types whose rows the key identifies: of the model, and of its proxies and
    children."""
    pk = key_field(apps, key)
    for model in apps.get_models():
        if final_target(model._meta.pk) is pk or _proxied(model)._meta.pk is pk:
            yield model._meta.app_label, str(model._meta.model_name)


def generic_references(apps: Apps) -> list[GenericReference]:
    """Each column of a ``GenericForeignKey``, and that of the admin's log.

    ``apps`` are those of the project: states of migrations have no ``GenericForeignKey``.
    """
    found = set()
    for model in apps.get_models():
        for field in model._meta.private_fields:
            if hasattr(field, "ct_field"):
                found.add(_generic(model, field.ct_field, field.fk_field))
    if apps.is_installed("django.contrib.admin"):
        found.add(_generic(apps.get_model("admin", "LogEntry"), "content_type", "object_id"))
    return sorted(found)


def _generic(model: type[models.Model], content_type: str, object_id: str) -> GenericReference:
    names = (model._meta.get_field(each) for each in (object_id, content_type))
    column, type_column = (str(getattr(each, "column", "")) for each in names)
    return GenericReference(model._meta.db_table, column, type_column)


def _columns(apps: Apps) -> Iterator[tuple[type[models.Model], Any]]:
    for model in apps.get_models(include_auto_created=True):
        if not model._meta.proxy:
            for field in model._meta.local_concrete_fields:
                yield model, field


def _proxied(model: type[models.Model]) -> type[models.Model]:
    return model._meta.concrete_model or model
