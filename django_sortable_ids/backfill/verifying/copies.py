"""Checks that the rows of a history model have the ids of their originals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, OuterRef, Subquery

from ..sources.copies import Copies
from .verification import EXAMPLES


@dataclass(slots=True)
class Compared:
    """The result for a history model."""

    rows: int
    missing: int
    differ: int
    """History rows whose id is not that of their original."""
    split: int
    """Deleted originals whose history rows have several ids."""
    examples: list[str]

    @property
    def failures(self) -> list[str]:
        counts = {
            "rows have no id": self.missing,
            "rows have another id than their original": self.differ,
            "deleted originals have several ids": self.split,
        }
        return [f"{count:,} {what}" for what, count in counts.items() if count]

    def document(self) -> dict[str, Any]:
        """The result as JSON."""
        return {
            "rows": self.rows,
            "rows_with_id": self.rows - self.missing,
            "rows_without_id": self.missing,
            "not_of_original": self.differ,
            "originals_with_several_ids": self.split,
            "failures": self.failures,
            "examples": self.examples,
        }

    def lines(self) -> Iterator[str]:
        yield f"{self.rows:,} rows, {self.rows - self.missing:,} with an id"
        yield from self.failures or ["each has the id of its original"]
        yield from (f"  {example}" for example in self.examples)


def compare(target: Copies) -> Compared:
    """Compare the id of every history row with that of its original."""
    name, key = target.field.name, target.source.attname
    of_original = target.originals.filter(pk=OuterRef(key)).values(name)[:1]
    rows = target.rows.annotate(sortable_ids_original=Subquery(of_original))
    given = rows.filter(**{f"{name}__isnull": False})
    differ = given.exclude(**{name: F("sortable_ids_original")})
    differ = differ.filter(sortable_ids_original__isnull=False)
    gone = given.filter(sortable_ids_original__isnull=True).order_by()
    ids = gone.values(key).annotate(ids=Count(name, distinct=True)).filter(ids__gt=1)
    return Compared(
        rows=target.rows.count(),
        missing=target.without_id.count(),
        differ=differ.count(),
        split=ids.count(),
        examples=[f"{pk}" for pk in differ.order_by("pk").values_list("pk", flat=True)[:EXAMPLES]],
    )
