"""Finds the target of a backfill from the arguments of the command."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.db import models, router
from django.db.models import QuerySet

from ...errors import BackfillError, WrongArguments
from ...fields import SortableIDField, history_models
from .base import Given, Source, Wanted
from .columns import InColumn
from .id_column import check_tables, find_field, last_run
from .old_ids import Conversion
from .originals import Originals
from .periods import PERIOD, Fixed, Spread, check_period, parsed
from .target import POLICIES, EveryRow, Target

_KINDS = (Fixed, Spread, Conversion, Originals, InColumn)
"""Tried in this order: ``InColumn`` takes what the others leave."""


def find(label: str, given: Given, using: str | None) -> Target:
    """The target ``app.Model.field``; ``BackfillError`` if it can't be filled.

    Without arguments, the source is that of the last run on the target. ``using`` None means the
    database that routers write the model to.
    """
    model, field = find_field(label)
    original = history_models.original_of(model)
    if original is not None and given != Given():
        raise BackfillError(
            f"{model._meta.label} is a history of {original._meta.label} and gets its ids: omit "
            f"the source of times"
        )
    return of_source(model, field, given, using or router.db_for_write(model))


def of_source(
    model: type[models.Model], field: SortableIDField, given: Given, using: str
) -> Target:
    """The target with the given source. The model may be that of a migration's state."""
    check_given(given)
    check_tables(model, field, using)
    last = last_run(str(field), using)
    rows: QuerySet[Any] = QuerySet(model, using=using)
    missing = rows.filter(**{f"{field.name}__isnull": True})
    if last and given == Given():
        given = Given.of(last.options)
    wanted = Wanted(model, field, using, given, last, missing)
    return Target(field, _named(wanted))


def of_run(
    options: dict[str, Any], model: type[models.Model], field: SortableIDField, using: str
) -> Target:
    """The target of a run with these stored options, and its policies."""
    target = of_source(model, field, Given.of(options), using)
    return replace(target, **options.get(POLICIES, {}))


def every_row(
    model: type[models.Model], field: SortableIDField, given: Given, using: str
) -> EveryRow:
    """As ``of_source``, but every row gets an id, and nothing is known of an earlier run."""
    wanted = Wanted(model, field, using, given, None, QuerySet(model, using=using))
    return EveryRow(field, _named(wanted))


def _named(wanted: Wanted) -> Source:
    found = (kind.named_by(wanted) for kind in _KINDS)
    return next(source for source in found if source is not None)


def check_given(given: Given) -> None:
    """Raise ``WrongArguments`` for arguments that contradict each other, and ``BackfillError`` for
    a period that no rows can have."""
    if given.created_at and replace(given, created_at=None) != Given():
        raise WrongArguments("--created-at sets the time of every row: give no other source")
    if given.created_from == "pk" and given.convert_from:
        raise WrongArguments("--created-from pk and --convert-from: give only one of them")
    if bool(given.start) != bool(given.end) or (given.start and given.created_from != "pk"):
        raise WrongArguments(f"{PERIOD}: give all three, or none of them")
    if given.start and given.end:
        check_period(parsed("--start", given.start), parsed("--end", given.end))
