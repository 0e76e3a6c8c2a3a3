"""Targets whose ids are in another table, so that every row of the model gets one."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q, QuerySet

from ...fields import SortableIDField
from ..target import Target
from . import columns


class EveryRow(Target):
    """``field`` is that of the other table."""

    @property
    def without_id(self) -> QuerySet[Any]:
        return self.rows

    @property
    def is_missing(self) -> Q:
        return Q()


class _Own(EveryRow, Target):
    """Its times are in the table itself."""


class _Other(EveryRow, columns.OtherColumn):
    """Its times are in a related row."""


class _Days(EveryRow, columns.Days):
    """Its times are days."""


_CLASSES: dict[type[Target], type[EveryRow]] = {
    Target: _Own,
    columns.OtherColumn: _Other,
    columns.Days: _Days,
}


def target_of(
    model: type[models.Model], field: SortableIDField, created_from: str, using: str
) -> EveryRow:
    """The target of a model with times in that column, whose ids are values of ``field``."""
    source = columns.find_source(model, created_from, using)
    return _CLASSES[columns.kind_of(source)](model, field, source, using)
