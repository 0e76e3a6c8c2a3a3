"""Ids that a generator or a move of keys wrote, and whose times no column or run tells."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models

from ...fields import SortableIDField
from .derived import Derived


class Unsourced(Derived):
    """The place of a row is its key."""

    created_from = None
    given = ""
    time_range = None

    @property
    def described(self) -> str:
        return "no known times"

    @property
    def is_numbered(self) -> bool:
        """Whether the keys are numbers that count up."""
        return isinstance(self.source, models.IntegerField) and not isinstance(
            self.source, SortableIDField
        )

    def at(self, created: Any) -> datetime:
        raise AssertionError("these rows have no known times")


def target_of(model: type[models.Model], field: SortableIDField, using: str) -> Unsourced:
    return Unsourced(model, field, model._meta.pk_fields[0], using)
