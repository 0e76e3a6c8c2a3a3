"""Where the creation times of a table's rows come from, if nobody says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db import models
from django.db.models.constants import LOOKUP_SEP

from ..backfill.sources.columns import find_source
from ..backfill.sources.find import Given, check_given
from ..errors import BackfillError
from ..fields import SortableIDField
from ..schemes import TimeScheme

Model = type[models.Model]


def choose(found: Mapping[str, Model], given: Given, using: str) -> dict[str, Given]:
    """The source for the key of each model, by label: the given field where the model has it, the
    old key if it contains a time, a field with ``auto_now_add`` or the only time that every row
    has, the same of a row that it requires, the given period, or the order of the old key.

    Raises ``BackfillError`` if no model has the given field, or if it has no times."""
    if given.start or given.end or given.created_from == "pk":
        check_given(replace(given, created_from="pk"))
    chosen = _having(given.created_from, found, using)
    for label, model in found.items():
        if label in chosen:
            continue
        if name := _own(model):
            chosen[label] = Given(created_from=name)
        elif _has_time(model._meta.pk):
            chosen[label] = Given(convert_from=model._meta.pk.name)
    # A row may require one that requires one: each round finds the next of such a chain.
    while missing := [label for label in found if label not in chosen]:
        related = {label: _related(found[label], chosen) for label in missing}
        if not any(related.values()):
            break
        chosen |= {label: source for label, source in related.items() if source}
    return {label: chosen.get(label) or _without_time(found[label], given) for label in found}


def _has_time(key: Any) -> bool:
    return isinstance(key, SortableIDField) and isinstance(key.scheme, TimeScheme)


def _having(name: str | None, found: Mapping[str, Model], using: str) -> dict[str, Given]:
    """The models with the field of times that ``--created-from`` names."""
    if name in (None, "pk"):
        return {}
    chosen, problems = {}, []
    for label, model in found.items():
        try:
            find_source(model, name, using)
        except BackfillError as error:
            problems.append(str(error))
        else:
            chosen[label] = Given(created_from=name)
    if not chosen:
        raise BackfillError("\n".join(problems))
    return chosen


def _own(model: Model) -> str | None:
    fields = [
        each
        for each in model._meta.local_fields
        if isinstance(each, models.DateTimeField) and not each.null and not each.auto_now
    ]
    set_once = [each.name for each in fields if each.auto_now_add]
    names = set_once or [each.name for each in fields]
    return names[0] if set_once or len(names) == 1 else None


def _related(model: Model, chosen: Mapping[str, Given]) -> Given | None:
    field: Any
    for field in model._meta.fields:
        if field.is_relation and not field.null and field.related_model is not model:
            source = chosen.get(field.related_model._meta.label)
            if source and source.created_from and source.created_from != "pk":
                return Given(created_from=f"{field.name}{LOOKUP_SEP}{source.created_from}")
    return None


def _without_time(model: Model, given: Given) -> Given:
    if given.start and isinstance(model._meta.pk, models.IntegerField):
        return Given(created_from="pk", start=given.start, end=given.end)
    return Given(created_at="now")
