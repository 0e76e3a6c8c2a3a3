"""The sources that arguments name, and the target of a backfill that they give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import models, router
from django.db.models import QuerySet

from ...errors import BackfillError
from ...fields import SortableIDField, history_models
from .base import Given, Source, Wanted
from .columns import InColumn
from .conversion import Conversion
from .id_column import check_applied, check_schema, find_field, last_run
from .originals import Originals
from .periods import Fixed, Spread
from .target import POLICIES, EveryRow, Target

SOURCES: tuple[type[Source], ...] = (Spread, Fixed, Conversion, Originals, InColumn)
"""Tried in this order: ``InColumn`` takes what the others leave."""
ARGUMENTS = {name: settings for source in SOURCES for name, settings in source.arguments.items()}
"""All that name a source, in the order of ``--help``."""


def find(label: str, given: Given, using: str | None) -> Target:
    """The target ``app.Model.field``; ``BackfillError`` if it can't be filled.

    Without arguments, the source is that of the last run on the target. ``using`` None means the
    database that routers write the model to.
    """
    model, field = find_field(label)
    original = history_models.original_of(model)
    if original is not None and given:
        raise BackfillError(
            f"{model._meta.label} is a history of {original._meta.label} and gets its ids: omit "
            f"the source of times"
        )
    target = target_of(model, field, given, using or router.db_for_write(model))
    check_applied(model, field, target.using)
    return target


def target_of(
    model: type[models.Model], field: SortableIDField, given: Given, using: str
) -> Target:
    """The target with the given source. The model may be one of a migration's state."""
    check_given(given)
    check_schema(model, field, using)
    last = last_run(str(field), using)
    rows: QuerySet[Any] = QuerySet(model, using=using)
    missing = rows.filter(**{f"{field.name}__isnull": True})
    if last and not given:
        given = given_by(last.options)
    return Target(field, _source_of(Wanted(model, field, using, given, last, missing)))


def of_run(
    options: dict[str, Any], model: type[models.Model], field: SortableIDField, using: str
) -> Target:
    """The target of a run with these stored options, and its policies."""
    target = target_of(model, field, given_by(options), using)
    return replace(target, **options.get(POLICIES, {}))


def every_row(
    model: type[models.Model], field: SortableIDField, given: Given, using: str
) -> EveryRow:
    """A target whose rows all get an id, without checks and without an earlier run."""
    wanted = Wanted(model, field, using, given, None, QuerySet(model, using=using))
    return EveryRow(field, _source_of(wanted))


def _source_of(wanted: Wanted) -> Source:
    return next(filter(None, (source.named_by(wanted) for source in SOURCES)))


def given_by(options: Mapping[str, Any]) -> Given:
    """The arguments of a run with these stored options."""
    return {name: value for source in SOURCES for name, value in source.given_by(options).items()}


def check_given(given: Given) -> None:
    """Raise ``BackfillError`` for arguments that no source can have."""
    for source in SOURCES:
        source.check(given)
