"""Writes ids that exist already, in another format or in another row."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from django.db.models import Min, Q

from ...errors import BackfillError
from ...fields import LexicalSequenceField
from ...fields.values.times import aware
from ...schemes import ID, InvalidID
from ...sequences import counters
from ..sources.conversion import Lossless
from ..sources.copies import Copies
from ..target import Row
from .batch import NOTHING, Batch, Cursor, Written
from .writer import KeyedWriter

_AT_A_TIME = 500
_TRIES = 10


class KnownWriter(KeyedWriter):
    """The id of a row doesn't depend on the ids of the rows before it."""

    @abstractmethod
    def known(self, rows: Sequence[Row]) -> Sequence[ID]:
        """The ids of any rows."""

    def _minted(self, cursor: Cursor | None, size: int) -> Batch:
        rows = self.pending.read(cursor, size)
        if not rows:
            return NOTHING
        ids, end = self.known(rows), Cursor(*rows[-1], None)
        return Batch(rows, len(rows), lambda: Written(self.send(rows, ids), end, rows[-1]))


class Converter(KnownWriter):
    """Writes old ids in another format."""

    target: Lossless

    def known(self, rows: Sequence[Row]) -> Sequence[ID]:
        convert, ids = self.target.convert, []
        try:
            for place, _ in rows:
                ids.append(convert(place))
        except InvalidID as error:
            raise self.stopped(rows[len(ids)], error) from error
        return ids

    def preview(self, rows: Sequence[Row]) -> Sequence[ID]:
        return self.known(rows)


class CopyWriter(KnownWriter):
    """Gives the rows of a history model the ids of their originals."""

    target: Copies

    def known(self, rows: Sequence[Row]) -> Sequence[ID]:
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
                label = self.target.original._meta.label
                raise BackfillError(
                    f"stopped at {self.target.model._meta.label} {pk}: {label} {key} has no id "
                    f"yet. Fill {label}.{self.target.field.name} first"
                )
        return [value for key, _ in rows if (value := ids[key]) is not None]

    def preview(self, rows: Sequence[Row]) -> Sequence[ID]:
        return ()

    def _of_originals(self, keys: Sequence[Any]) -> Iterator[tuple[Any, ID | None]]:
        rows = self.target.originals.filter(pk__in=keys)
        yield from rows.values_list("pk", self.target.field.name)

    def _of_other_copies(self, keys: Sequence[Any]) -> dict[Any, ID]:
        target, name = self.target, self.target.source.name
        given = Q(**{f"{name}__in": keys, f"{target.field.name}__isnull": False})
        rows = target.rows.filter(given).order_by("-pk")
        return dict(rows.values_list(target.source.attname, target.field.name))

    def _new(self, keys: Sequence[Any]) -> dict[Any, ID]:
        """A new id for each key, of the time of its first history row."""
        if not keys:
            return {}
        target, field = self.target, self.target.field
        if isinstance(field, LexicalSequenceField):
            # The counter of the originals: that of this table would repeat their ids.
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
        scheme, name = self.target.scheme, self.target.field.name
        for _ in range(_TRIES):
            value = scheme.generate(aware(at).astimezone(UTC))
            same = Q(**{name: value})
            if value not in taken and not (
                self.target.originals.filter(same).exists()
                or self.target.rows.filter(same).exists()
            ):
                return value
        raise BackfillError(
            f"no free {scheme.title} of {at} after {_TRIES} tries: choose a scheme with more "
            f"random bits"
        )


def _date_of(target: Copies) -> str:
    """The field with the time of a history row; rows of a relation have it in their history row."""
    names = {each.name for each in target.model._meta.fields}
    return "history_date" if "history_date" in names else "history__history_date"
