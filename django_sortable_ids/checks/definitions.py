"""Checks of the models and settings; no database is queried."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import django
from django.apps import AppConfig, apps
from django.conf import settings
from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured
from django.db import models
from django.urls import get_resolver

from .. import conf
from ..fields import SortableIDField, history
from ..fields.of_model import is_unique_with_others, own_fields, usable_fields
from ..schemes import TimeScheme
from .generic_relations import check_generic_relations
from .messages import message

Configs = Iterable[AppConfig] | None
_APPS = ("graphene_django", "ninja", "strawberry_django")
"""Apps that work without being installed: they define no models."""


def check_definitions(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """Problems of the models of these apps; of all apps for None."""
    return [
        *_check_prefixes(app_configs),
        *_check_settings(app_configs),
        *(
            found
            for model in _models(app_configs)
            for found in (*check_generic_relations(model), *_check_fields(model))
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
        for field in usable(app_configs)
        if (workers := _workers(field)) and field.generates_ids
    ]


def check_packages(app_configs: Configs = None, **_: Any) -> list[CheckMessage]:
    """Packages in use that aren't installed, and so show ids as they are in Python, if public texts
    differ from that.
    """
    if not getattr(settings, "ROOT_URLCONF", None):
        return []
    field = next(filter(_has_another_public_text, usable(None)), None)
    if field is None:
        return []
    len(get_resolver().url_patterns)  # imports the views, and so the packages that they use
    return [
        message("W008", app=app, field=field)
        for app in _APPS
        if app in sys.modules and not apps.is_installed(app)
    ]


def _has_another_public_text(field: SortableIDField) -> bool:
    return bool(field.masked or field.prefix or field.encoding or field.scheme.value_type is int)


def _models(app_configs: Configs) -> list[type[models.Model]]:
    if app_configs is None:
        return apps.get_models()
    return [model for config in app_configs for model in config.get_models()]


def usable(app_configs: Configs) -> Iterator[SortableIDField]:
    """The ids in the models of these apps, except those with wrong options."""
    for model in _models(app_configs):
        yield from usable_fields(model)


def _check_prefixes(app_configs: Configs) -> Iterator[CheckMessage]:
    by_prefix: dict[str, list[SortableIDField]] = defaultdict(list)
    for field in usable(None):
        if not history.is_copy(field):
            for prefix in filter(None, field.public_text.accepted_prefixes):
                by_prefix[prefix].append(field)
    for field in usable(app_configs):
        if history.is_copy(field):
            continue
        for prefix in field.public_text.accepted_prefixes:
            others = [other for other in by_prefix[prefix] if not _same(field, other)]
            if others:
                named = ", ".join(map(str, others))
                yield message("E001", field, prefix=prefix, others=named)


def _same(field: SortableIDField, other: SortableIDField) -> bool:
    """Whether both are the same column: two models may share a table."""
    table, other_table = field.model._meta.db_table, other.model._meta.db_table
    return (table, field.column) == (other_table, other.column)


def _check_settings(app_configs: Configs) -> Iterator[CheckMessage]:
    try:
        conf.guard_migrations()
        conf.rollback_rule()
        conf.lease_seconds()
        worker = conf.worker()
        for field in usable(app_configs):
            scheme = field.scheme
            if isinstance(worker, int) and isinstance(scheme, TimeScheme) and _workers(field):
                scheme.layout.suffixes_of(worker)
    except (ImproperlyConfigured, ValueError) as error:
        yield message("E003", reason=error)


def _workers(field: SortableIDField) -> int:
    """How many worker numbers fit into the ids; 0 if they have none."""
    return (isinstance(field.scheme, TimeScheme) and field.scheme.layout.workers) or 0


def _check_fields(model: type[models.Model]) -> Iterator[CheckMessage]:
    generic = {getattr(each, "fk_field", None) for each in model._meta.private_fields}
    for field in own_fields(model):
        if field.primary_key:
            if not field.generates_ids and django.VERSION < (6, 1):
                yield message("W002", field)
        elif (
            field.name not in generic
            and not is_unique_with_others(field)
            and not history.is_copy(field)
        ):
            fix = "Add unique=True, or a UniqueConstraint with other fields."
            if field.null:
                fix = (
                    "Fill the column by `manage.py backfill_ids`, which then says what to write "
                    "here."
                )
            yield message("W001", field, fix=fix)
