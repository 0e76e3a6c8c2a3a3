"""History models: each row gets the id of the row that it is a copy of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import models
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery

from ...errors import BackfillError
from ...fields import LexicalSequenceField, SortableIDField
from ...schemes import ID, TimeScheme
from ...sequences import counters
from ...times.columns import aware
from ..engines.statements import Row
from ..verifying.verification import EXAMPLES
from ..writing.batch import NOTHING, Batch, Written
from ..writing.cursor import Cursor
from ..writing.writer import Writer
from .periods import InOrderOfKeys

_AT_A_TIME = 500
_TRIES = 10


@dataclass(frozen=True)
class Copies(InOrderOfKeys):
    """The place of a row is the key of its original, which ``source`` has."""

    original: type[models.Model] = field(kw_only=True)

    makes_own = False

    @property
    def created_from(self) -> None:
        return None

    @property
    def held(self) -> None:
        return None

    @property
    def given(self) -> str:
        return ""

    @property
    def described(self) -> str:
        return f"{self.original._meta.label}.{self.field.name}: its rows are copies"

    @property
    def notes(self) -> Iterator[str]:
        yield (
            "rows whose original was deleted get one id for each original, of the time of its "
            "first row here"
        )

    @property
    def options(self) -> dict[str, Any]:
        return {"copied_from": f"{self.original._meta.label}.{self.field.name}"}

    @property
    def originals(self) -> QuerySet[Any]:
        return QuerySet(self.original, using=self.using)

    def at(self, created: Any) -> datetime:
        raise AssertionError("copies are not made of times")

    def load_place(self, saved: str) -> Any:
        return self.source.to_python(saved)

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        return Q()

    def check(self) -> None:
        """Originals come first."""
        name = self.field.name
        key = OuterRef(self.source.name)
        waiting = Exists(self.originals.filter(Q(**{f"{name}__isnull": True}), pk=key))
        count = self.without_id.filter(waiting).count()
        if count:
            raise BackfillError(
                f"{count:,} rows of {self.model._meta.label} are copies of rows that have no id "
                f"yet: run `manage.py backfill_ids {self.original._meta.label}.{name}` first; "
                f"nothing was written."
            )


def target_of(
    model: type[models.Model], field: SortableIDField, using: str, original: type[models.Model]
) -> Copies:
    label = f"{model._meta.label}.{field.name}"
    key = original._meta.pk
    if original._meta.is_composite_pk or field.name == key.name:
        raise BackfillError(
            f"{label} is in a history model, by whose copy of the key its rows find their "
            f"originals: it is never filled"
        )
    source: Any = model._meta.get_field(key.attname)
    return Copies(model, field, source, using, original=original)


class CopyWriter(Writer):
    target: Copies

    def next(self, cursor: Cursor | None, size: int) -> Batch:
        rows = self.target.read(self.behind.all(cursor)[:size])
        if not rows:
            return NOTHING
        ids = self.known(rows)
        place, pk = rows[-1]
        return Batch(
            rows,
            len(rows),
            lambda: Written(self.send(rows, ids), Cursor(place, pk, None), rows[-1]),
        )

    def known(self, rows: Sequence[Row]) -> Sequence[ID]:
        """The ids of the rows' originals; of the deleted ones those that other copies have."""
        keys = list(dict.fromkeys(key for key, _ in rows))
        ids: dict[Any, ID | None] = {}
        for start in range(0, len(keys), _AT_A_TIME):
            some = keys[start : start + _AT_A_TIME]
            found = dict(self._of_originals(some))
            gone = [key for key in some if key not in found]
            found |= self._of_other_copies(gone)
            ids |= found | self._new([key for key in gone if key not in found])
        for key, pk in rows:
            if ids[key] is None:
                label = self.target.original._meta.label
                raise BackfillError(
                    f"stopped at {self.target.model._meta.label} {pk}: {label} {key} has no id "
                    f"yet. Fill {label}.{self.target.field.name} first"
                )
        return [value for key, _ in rows if (value := ids[key]) is not None]

    def stopped(self, row: Row, error: Exception) -> BackfillError:
        return BackfillError(
            f"stopped at {self.target.model._meta.label} {row[1]}, a copy of "
            f"{self.target.original._meta.label} {row[0]}: {error}"
        )

    def _computing_ids(self) -> None:
        return None

    def _of_originals(self, keys: Sequence[Any]) -> Iterator[tuple[Any, ID | None]]:
        rows = self.target.originals.filter(pk__in=keys)
        yield from rows.values_list("pk", self.target.field.name)

    def _of_other_copies(self, keys: Sequence[Any]) -> dict[Any, ID]:
        target, name = self.target, self.target.source.name
        given = Q(**{f"{name}__in": keys, f"{target.field.name}__isnull": False})
        rows = target.rows.filter(given).order_by("-pk")
        return dict(rows.values_list(target.source.attname, target.field.name))

    def _new(self, keys: Sequence[Any]) -> dict[Any, ID]:
        """An id for each of these, of the time of its first copy."""
        if not keys:
            return {}
        target, field = self.target, self.target.field
        if isinstance(field, LexicalSequenceField):
            # The counter of the originals: that of this table would give ids that they have.
            counted = target.original._meta.get_field(field.name)
            assert isinstance(counted, LexicalSequenceField)
            numbers = counters.take(counted, counted.scheme, len(keys), target.using)
            return dict(zip(keys, numbers, strict=True))
        rows = target.rows.filter(**{f"{target.source.name}__in": keys}).order_by()
        first = rows.values_list(target.source.attname).annotate(at=Min(_date_of(target)))
        times = dict(first)
        ids: dict[Any, ID] = {}
        for key in sorted(keys, key=lambda each: (times[each], str(each))):
            ids[key] = self._free(times[key], set(ids.values()))
        return ids

    def _free(self, at: datetime, taken: set[ID]) -> ID:
        """An id of that time that no row has."""
        scheme, name = self.target.field.scheme, self.target.field.name
        assert isinstance(scheme, TimeScheme), "every other scheme has a time"
        for _ in range(_TRIES):
            made = scheme.generate(aware(at).astimezone(UTC))
            same = Q(**{name: made})
            if made not in taken and not (
                self.target.originals.filter(same).exists()
                or self.target.rows.filter(same).exists()
            ):
                return made
        raise BackfillError(f"{scheme.title} has no id of {at} that is free in {_TRIES} tries")


def _date_of(target: Copies) -> str:
    """Where a row says when it was written; those of a relation know it of their history row."""
    names = {each.name for each in target.model._meta.fields}
    return "history_date" if "history_date" in names else "history__history_date"


@dataclass(slots=True)
class Compared:
    """What was found in a history model."""

    rows: int
    missing: int
    differ: int
    """Rows with another id than their original."""
    split: int
    """Deleted originals whose rows have several ids."""
    examples: list[str]

    @property
    def failures(self) -> list[str]:
        found = {
            "rows have no id": self.missing,
            "rows have another id than their original": self.differ,
            "deleted originals have several ids": self.split,
        }
        return [f"{count:,} {what}" for what, count in found.items() if count]

    def document(self) -> dict[str, Any]:
        """For programs."""
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
    """Whether every copy has the id of its original."""
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
