"""History models: each history row gets the id of its original, and --verify compares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from datetime import UTC
from typing import Any

from django.db import models
from django.db.models import Exists, Min, OuterRef, Q, QuerySet

from ...errors import BackfillError, counted
from ...fields import LexicalSequenceField, SortableIDField, history_models
from ...fields.times import aware
from ...schemes import ID, TimeScheme
from ...workers import counters
from .base import InOrderOfKeys, Row, Wanted
from .target import Target

_AT_A_TIME = 500


@dataclass(frozen=True)
class Originals(InOrderOfKeys):
    """The place of a history row is the key of its original, in ``field``."""

    _: KW_ONLY
    original: type[models.Model]
    id_name: str
    """The field of the ids in both models."""

    has_samples = False
    notes = (
        "rows whose original was deleted get one id for each original, of the time of its first "
        "row here",
    )

    @classmethod
    def named_by(cls, wanted: Wanted) -> Originals | None:
        """The original of a history model, whatever the arguments are."""
        model, field = wanted.model, wanted.field
        original = history_models.original_of(model)
        if original is None:
            return None
        key = original._meta.pk
        if original._meta.is_composite_pk or field.name == key.name:
            raise BackfillError(
                f"{field} is in a history model, whose rows find their originals by their copy of "
                f"this key: it can't be filled"
            )
        # Events of django-pghistory may copy some fields only, and refer to their original.
        columns = {column.attname: column for column in model._meta.fields}
        source: Any = columns.get(key.attname) or columns.get("pgh_obj_id")
        if source is None:
            raise BackfillError(
                f"{model._meta.label} has no field {key.attname}, a copy of the key of "
                f"{original._meta.label}, so its rows don't find their originals: track "
                f"{key.name}, too; nothing was written."
            )
        return cls(model, source, wanted.using, original=original, id_name=field.name)

    @property
    def described(self) -> str:
        return f"{self.original._meta.label}.{self.id_name}, copied to its history rows"

    @property
    def options(self) -> dict[str, Any]:
        return {"copied_from": f"{self.original._meta.label}.{self.id_name}"}

    @property
    def read_models(self) -> Sequence[type[models.Model]]:
        return self.model, self.original

    @property
    def originals(self) -> QuerySet[Any]:
        return QuerySet(self.original, using=self.using)

    def named(self, row: Row) -> str:
        label = self.original._meta.label
        return f"{self.model._meta.label} {row[1]}, a history row of {label} {row[0]}"

    def known_ids(self, target: Target, rows: Sequence[Row]) -> Sequence[ID]:
        """The ids of the originals; for a deleted one, that of its other rows, or a new one."""
        keys = list(dict.fromkeys(key for key, _ in rows))
        ids: dict[Any, ID | None] = {}
        name = self.id_name
        for start in range(0, len(keys), _AT_A_TIME):
            page = keys[start : start + _AT_A_TIME]
            known = dict(self.originals.filter(pk__in=page).values_list("pk", name))
            gone = [key for key in page if key not in known]
            have_ids = Q(**{f"{self.field.name}__in": gone, f"{name}__isnull": False})
            other_rows = self.rows.filter(have_ids).order_by("-pk")
            known |= dict(other_rows.values_list(self.field.attname, name))
            ids |= known | self._new(target.field, [key for key in gone if key not in known])
        for key, pk in rows:
            if ids[key] is None:
                label = self.original._meta.label
                raise BackfillError(
                    f"stopped at {self.model._meta.label} {pk}: {label} {key} has no id "
                    f"yet. Fill {label}.{self.id_name} first"
                )
        return [value for key, _ in rows if (value := ids[key]) is not None]

    def _new(self, field: SortableIDField, keys: Sequence[Any]) -> dict[Any, ID]:
        """A new id for each key, of the time of its first history row."""
        if not keys:
            return {}
        if isinstance(field, LexicalSequenceField):
            # The counter of the originals: that of this table would repeat their ids.
            original_field = self.original._meta.get_field(field.name)
            assert isinstance(original_field, LexicalSequenceField)
            numbers = counters.take(original_field, original_field.scheme, len(keys), self.using)
            return dict(zip(keys, numbers, strict=True))
        rows = self.rows.filter(**{f"{self.field.name}__in": keys}).order_by()
        at = Min(history_models.time_path(self.model))
        times = dict(rows.values_list(self.field.attname).annotate(at=at))
        scheme = field.scheme
        assert isinstance(scheme, TimeScheme)
        return {key: scheme.generate(aware(times[key]).astimezone(UTC)) for key in keys}

    def check_places(self, target: Target) -> None:
        """Check that each original has an id."""
        name, key = self.id_name, OuterRef(self.field.name)
        waiting = Exists(self.originals.filter(Q(**{f"{name}__isnull": True}), pk=key))
        count = target.without_id.filter(waiting).count()
        if count:
            raise BackfillError(
                f"{counted(count, 'row')} of {self.model._meta.label} with an original that has no "
                f"id yet: run `manage.py backfill_ids {self.original._meta.label}.{name}` first; "
                f"nothing was written."
            )
