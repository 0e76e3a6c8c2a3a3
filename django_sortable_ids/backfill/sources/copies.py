"""History models: each history row gets the id of its original."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet

from ...errors import BackfillError
from ...fields import SortableIDField
from ..target import Row
from .derived import Derived


@dataclass(frozen=True)
class Copies(Derived):
    """The place of a history row is the key of its original, in ``source``."""

    original: type[models.Model] = field(kw_only=True)

    created_from = None
    given = ""
    generates = False
    may_be_edited = False
    time_range = None

    @property
    def described(self) -> str:
        return f"{self.original._meta.label}.{self.field.name}, copied to its history rows"

    @property
    def notes(self) -> Iterator[str]:
        yield (
            "rows whose original was deleted get one id for each original, of the time of its "
            "first row here"
        )

    @property
    def own_options(self) -> dict[str, Any]:
        return {"copied_from": f"{self.original._meta.label}.{self.field.name}"}

    @property
    def originals(self) -> QuerySet[Any]:
        return QuerySet(self.original, using=self.using)

    def at(self, created: Any) -> datetime:
        raise AssertionError("ids of history rows don't come from times")

    def named(self, row: Row) -> str:
        label = self.original._meta.label
        return f"{self.model._meta.label} {row[1]}, a history row of {label} {row[0]}"

    def load_place(self, saved: str) -> Any:
        return self.source.to_python(saved)

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        return Q()

    def check(self) -> None:
        """Raise ``BackfillError`` if an original has no id yet."""
        name = self.field.name
        key = OuterRef(self.source.name)
        waiting = Exists(self.originals.filter(Q(**{f"{name}__isnull": True}), pk=key))
        count = self.without_id.filter(waiting).count()
        if count:
            raise BackfillError(
                f"{count:,} rows of {self.model._meta.label} belong to originals that have no id "
                f"yet: run `manage.py backfill_ids {self.original._meta.label}.{name}` first; "
                f"nothing was written."
            )


def target_of(
    model: type[models.Model], field: SortableIDField, using: str, original: type[models.Model]
) -> Copies:
    key = original._meta.pk
    if original._meta.is_composite_pk or field.name == key.name:
        raise BackfillError(
            f"{field} is in a history model, whose rows find their originals by their copy of "
            f"this key: it can't be filled"
        )
    source: Any = model._meta.get_field(key.attname)
    return Copies(model, field, source, using, original=original)
