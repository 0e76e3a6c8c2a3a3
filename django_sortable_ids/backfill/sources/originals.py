"""History models: each history row gets the id of its original, and --verify compares them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db import models
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Subquery

from ...errors import BackfillError, counted
from ...fields import LexicalSequenceField, SortableIDField, history_models
from ...fields.values.times import aware
from ...schemes import ID, TimeScheme
from ...workers import counters
from .base import InOrderOfKeys, Row, Wanted
from .row_times import check_null_times

if TYPE_CHECKING:
    from .target import Target

_AT_A_TIME = 500
_TRIES = 10
_EXAMPLES = 5


@dataclass(frozen=True)
class Originals(InOrderOfKeys):
    """The place of a history row is the key of its original, in ``field``."""

    original: type[models.Model] = field(kw_only=True)
    id_name: str = field(kw_only=True)
    """The field of the ids in both models."""

    created_from = None
    given = ""
    differs = ""
    notes = (
        "rows whose original was deleted get one id for each original, of the time of its first "
        "row here",
    )

    @classmethod
    def named_by(cls, wanted: Wanted) -> Originals | None:
        """The original of a history model, whatever the arguments are."""
        model, field, original = (
            wanted.model,
            wanted.field,
            history_models.original_of(wanted.model),
        )
        if original is None:
            return None
        key = original._meta.pk
        if original._meta.is_composite_pk or field.name == key.name:
            raise BackfillError(
                f"{field} is in a history model, whose rows find their originals by their copy of "
                f"this key: it can't be filled"
            )
        source: Any = model._meta.get_field(key.attname)
        return cls(model, source, wanted.using, original=original, id_name=field.name)

    @property
    def described(self) -> str:
        return f"{self.original._meta.label}.{self.id_name}, copied to its history rows"

    @property
    def options(self) -> dict[str, Any]:
        return {"copied_from": f"{self.original._meta.label}.{self.id_name}"}

    def time_range(self, scheme: Any) -> None:
        return None

    @property
    def originals(self) -> QuerySet[Any]:
        return QuerySet(self.original, using=self.using)

    def at(self, created: Any) -> datetime:
        raise AssertionError("ids of history rows don't come from times")

    def named(self, row: Row) -> str:
        label = self.original._meta.label
        return f"{self.model._meta.label} {row[1]}, a history row of {label} {row[0]}"

    def known_ids(self, target: Target, rows: Sequence[Row]) -> Sequence[ID]:
        """The ids of the rows' originals; for a deleted original that of its other history rows,
        or a new one."""
        keys = list(dict.fromkeys(key for key, _ in rows))
        ids: dict[Any, ID | None] = {}
        for start in range(0, len(keys), _AT_A_TIME):
            some = keys[start : start + _AT_A_TIME]
            originals = self.originals.filter(pk__in=some)
            known = dict(originals.values_list("pk", self.id_name))
            gone = [key for key in some if key not in known]
            known |= self._of_other_copies(gone)
            ids |= known | self._new(target.field, [key for key in gone if key not in known])
        for key, pk in rows:
            if ids[key] is None:
                label = self.original._meta.label
                raise BackfillError(
                    f"stopped at {self.model._meta.label} {pk}: {label} {key} has no id "
                    f"yet. Fill {label}.{self.id_name} first"
                )
        return [value for key, _ in rows if (value := ids[key]) is not None]

    def samples(self, target: Target, rows: Sequence[Row]) -> Sequence[ID]:
        return ()

    def _of_other_copies(self, keys: Sequence[Any]) -> dict[Any, ID]:
        name = self.field.name
        given = Q(**{f"{name}__in": keys, f"{self.id_name}__isnull": False})
        rows = self.rows.filter(given).order_by("-pk")
        return dict(rows.values_list(self.field.attname, self.id_name))

    def _new(self, field: SortableIDField, keys: Sequence[Any]) -> dict[Any, ID]:
        """A new id for each key, of the time of its first history row."""
        if not keys:
            return {}
        if isinstance(field, LexicalSequenceField):
            # The counter of the originals: that of this table would repeat their ids.
            counted = self.original._meta.get_field(field.name)
            assert isinstance(counted, LexicalSequenceField)
            numbers = counters.take(counted, counted.scheme, len(keys), self.using)
            return dict(zip(keys, numbers, strict=True))
        # Rows of a relation have the time in their history row.
        names = {each.name for each in self.model._meta.fields}
        date = "history_date" if "history_date" in names else "history__history_date"
        rows = self.rows.filter(**{f"{self.field.name}__in": keys}).order_by()
        first = rows.values_list(self.field.attname).annotate(at=Min(date))
        times = dict(first)
        ids: dict[Any, ID] = {}
        for key in sorted(keys, key=lambda each: (times[each], str(each))):
            ids[key] = self._free(field, times[key], set(ids.values()))
        return ids

    def _free(self, field: SortableIDField, at: datetime, taken: set[ID]) -> ID:
        """An id of that time that no row has."""
        scheme, name = field.scheme, self.id_name
        assert isinstance(scheme, TimeScheme)
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

    def check(self, target: Target, missing: int, *, are_in_range: bool = False) -> None:
        """Also that each original has an id."""
        check_null_times(target)
        name, key = self.id_name, OuterRef(self.field.name)
        waiting = Exists(self.originals.filter(Q(**{f"{name}__isnull": True}), pk=key))
        count = target.without_id.filter(waiting).count()
        if count:
            raise BackfillError(
                f"{counted(count, 'row')} of {self.model._meta.label} with an original that has no "
                f"id yet: run `manage.py backfill_ids {self.original._meta.label}.{name}` first; "
                f"nothing was written."
            )


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
            ("row", "without an id"): self.missing,
            ("row", "with another id than the original"): self.differ,
            ("deleted original", "with several ids"): self.split,
        }
        return [f"{counted(n, noun)} {what}" for (noun, what), n in counts.items() if n]

    def document(self) -> dict[str, Any]:
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
        yield f"{counted(self.rows, 'row')}, {self.rows - self.missing:,} with an id"
        yield from self.failures or ["each has the id of its original"]
        yield from (f"  {example}" for example in self.examples)


def compare(target: Target, source: Originals) -> Compared:
    """Compare the id of every history row with that of its original."""
    name, key = target.field.name, source.field.attname
    of_original = source.originals.filter(pk=OuterRef(key)).values(name)[:1]
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
