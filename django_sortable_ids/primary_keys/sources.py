"""Where the creation times of a table's rows come from, if nobody says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.models.constants import LOOKUP_SEP

from ..backfill.sources.find import Given
from ..fields import SortableIDField
from ..schemes import TimeScheme

Model = type[models.Model]


def choose(found: Mapping[str, Model], given: Given) -> dict[str, Given]:
    """The source for the key of each model, by label: the given field where the model has it, the
    old key if it contains a time, a field with ``auto_now_add`` or the only time that every row
    has, the same of a row that it requires, the given period, or the order of the old key."""
    chosen: dict[str, Given] = {}
    for label, model in found.items():
        name = _own(model, given.created_from)
        if name:
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


def _own(model: Model, wanted: str | None) -> str | None:
    if wanted and wanted != "pk" and _has(model, wanted):
        return wanted
    fields = [
        each
        for each in model._meta.local_fields
        if isinstance(each, models.DateTimeField) and not each.null and not each.auto_now
    ]
    set_once = [each.name for each in fields if each.auto_now_add]
    names = set_once or [each.name for each in fields]
    return names[0] if set_once or len(names) == 1 else None


def _has(model: Model, path: str) -> bool:
    first, _, rest = path.partition(LOOKUP_SEP)
    try:
        field: Any = model._meta.get_field(first)
    except FieldDoesNotExist:
        return False
    return not rest or (field.many_to_one is True and _has(field.related_model, rest))


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
