"""History models: each history row gets the id of its original, and --verify compares them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import models
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery

from ...errors import BackfillError
from ...fields import LexicalSequenceField, SortableIDField
from ...fields.values.times import aware
from ...schemes import ID
from ...sequences import counters
from .base import Derived, Row

_AT_A_TIME = 500
_TRIES = 10
_EXAMPLES = 5


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

    def known_ids(self, rows: Sequence[Row]) -> Sequence[ID]:
        """The ids of the rows' originals; for a deleted original that of its other history rows,
        or a new one."""
        keys = list(dict.fromkeys(key for key, _ in rows))
        ids: dict[Any, ID | None] = {}
        for start in range(0, len(keys), _AT_A_TIME):
            some = keys[start : start + _AT_A_TIME]
            known = dict(self._of_originals(some))
            gone = [key for key in some if key not in known]
            known |= self._of_other_copies(gone)
            ids |= known | self._new([key for key in gone if key not in known])
        for key, pk in rows:
            if ids[key] is None:
                label = self.original._meta.label
                raise BackfillError(
                    f"stopped at {self.model._meta.label} {pk}: {label} {key} has no id "
                    f"yet. Fill {label}.{self.field.name} first"
                )
        return [value for key, _ in rows if (value := ids[key]) is not None]

    def samples(self, rows: Sequence[Row]) -> Sequence[ID]:
        return ()

    def _of_originals(self, keys: Sequence[Any]) -> Iterator[tuple[Any, ID | None]]:
        rows = self.originals.filter(pk__in=keys)
        yield from rows.values_list("pk", self.field.name)

    def _of_other_copies(self, keys: Sequence[Any]) -> dict[Any, ID]:
        name = self.source.name
        given = Q(**{f"{name}__in": keys, f"{self.field.name}__isnull": False})
        rows = self.rows.filter(given).order_by("-pk")
        return dict(rows.values_list(self.source.attname, self.field.name))

    def _new(self, keys: Sequence[Any]) -> dict[Any, ID]:
        """A new id for each key, of the time of its first history row."""
        if not keys:
            return {}
        field = self.field
        if isinstance(field, LexicalSequenceField):
            # The counter of the originals: that of this table would repeat their ids.
            counted = self.original._meta.get_field(field.name)
            assert isinstance(counted, LexicalSequenceField)
            numbers = counters.take(counted, counted.scheme, len(keys), self.using)
            return dict(zip(keys, numbers, strict=True))
        rows = self.rows.filter(**{f"{self.source.name}__in": keys}).order_by()
        first = rows.values_list(self.source.attname).annotate(at=Min(_date_of(self)))
        times = dict(first)
        ids: dict[Any, ID] = {}
        for key in sorted(keys, key=lambda each: (times[each], str(each))):
            ids[key] = self._free(times[key], set(ids.values()))
        return ids

    def _free(self, at: datetime, taken: set[ID]) -> ID:
        """An id of that time that no row has."""
        scheme, name = self.scheme, self.field.name
        for _ in range(_TRIES):
            value = scheme.generate(aware(at).astimezone(UTC))
            same = Q(**{name: value})
            if value not in taken and not (
                self.originals.filter(same).exists() or self.rows.filter(same).exists()
            ):
                return value
        raise BackfillError(
            f"no free {scheme.title} of {at} after {_TRIES} tries: choose a scheme with more "
            f"random bits"
        )

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


def _date_of(target: Copies) -> str:
    """The field with the time of a history row; rows of a relation have it in their history row."""
    names = {each.name for each in target.model._meta.fields}
    return "history_date" if "history_date" in names else "history__history_date"


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
        examples=[f"{pk}" for pk in differ.order_by("pk").values_list("pk", flat=True)[:_EXAMPLES]],
    )
