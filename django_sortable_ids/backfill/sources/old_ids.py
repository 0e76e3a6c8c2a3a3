"""Old ids in another column, which give a row its place and its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from django.db import connections, models
from django.db.models import Count, F, Q, QuerySet, TextField
from django.utils.functional import cached_property

from ...db import chunks
from ...errors import BackfillError
from ...fields import SortableIDField
from ...fields.values.storage import BinaryStorage
from ...functions.bits import digits_by_weight
from ...functions.fragments import Fragment, HexOfBytes
from ...schema.stored_values import PAGE, later_than_now
from ...schemes import ID, InvalidID, OutOfRange, TimeScheme, get, is_lossless
from ...schemes.catalog.registry import scheme_of_uuid
from ...schemes.support import nearest
from .base import InOrderOfKeys, Row, Target
from .fields import names_of

_REVERSED = {"gt": "lt", "gte": "lte", "lt": "gt", "lte": "gte"}
_PLACE = "sortable_ids_place"


@dataclass(frozen=True)
class Conversion(Target):
    """A sortable id that may be NULL, and an id of another scheme in the same row.

    The place of a row is its old id, in some format, and its key.
    """

    old: TimeScheme = field(kw_only=True)
    """The scheme of the old ids."""

    created_from = None
    has_own_times = False
    has_times = False
    may_be_edited = False

    @property
    def described(self) -> str:
        kept = "of the same time, in the same order" if self.generates else "bit for bit"
        return f"the {self.old.title} in {self.source.name}, {kept}"

    @property
    def own_options(self) -> dict[str, Any]:
        given: dict[str, Any] = {}
        if isinstance(self.source, SortableIDField):
            given = {key: repr(value) for key, value in self.source.scheme_arguments.items()}
        return {
            "old_scheme": self.old.name,
            **{f"old_{key}": value for key, value in given.items()},
        }

    def check(self) -> None:
        """Raise ``BackfillError`` if the old id of a row without a new one carries no time."""
        count, first = 0, None
        sample: list[int] = []
        for value, pk in self._old_ids():
            if _carries_time(self.old, value):
                if len(sample) < PAGE:
                    sample.append(self.old.to_int(value))
            else:
                count, first = count + 1, first or (value, pk)
        if first:
            raise BackfillError(
                f"{self.model._meta.label} {first[1]}{chunks.others(count)} has the "
                f"{self.source.name} {first[0]}, {_kind(first[0])}and a "
                f"{self.old.title} was expected. Give it an id yourself, or set the old id to NULL "
                f"and choose --on-null, or use --created-from for all rows; nothing was written."
            )
        name = getattr(self.source, "scheme_name", self.old.name)
        given = getattr(self.source, "scheme_arguments", {})
        if late := later_than_now(sample, self.old, name, given):
            raise BackfillError(f"{self.model._meta.label}.{self.source.name}: {late}")

    def _old_ids(self) -> Iterator[tuple[ID, Any]]:
        """Old id and key of the rows without a new id, in the order of the key."""
        by_key = Lossless(**{each.name: getattr(self, each.name) for each in fields(self)})
        return chain.from_iterable(by_key.pages(self.without_id))

    def value(self, place: Any) -> ID:
        """The old id of a row at that place."""
        old_id: ID = place
        return old_id

    @property
    def selected_place(self) -> Any:
        return self.place_name

    def at(self, created: Any) -> datetime:
        return self.old.created_at(self.value(created))

    def shown_place(self, place: Any) -> str:
        return str(self.value(place))

    def named(self, row: Row) -> str:
        old = self.value(row[0])
        return f"{self.model._meta.label} {row[1]}, whose {self.source.name} is {old}"

    def load_place(self, saved: str) -> Any:
        return self.old.value_type(saved)


class Lossless(InOrderOfKeys, Conversion):
    """Keeps every bit of the old ids. An id depends only on its row, so rows are in the order of
    the key."""

    generates = False
    time_range = None

    def check(self) -> None:
        super().check()
        if not self.source.unique:
            self._check_duplicates()

    def _check_duplicates(self) -> None:
        name = self.source.name
        given = self.without_id.filter(**{f"{name}__isnull": False}).order_by()
        shared = given.values(name).annotate(rows=Count("pk")).filter(rows__gt=1)
        first = shared.order_by(name).first()
        if first:
            raise BackfillError(
                f"{first['rows']:,} rows of {self.model._meta.label} share the {name} "
                f"{first[name]}, so they would share a new id: make the old ids different; "
                f"nothing was written."
            )

    def convert(self, place: Any) -> ID:
        """The new id of a row; ``InvalidID`` if the old one is of another version."""
        return self.old.convert(place, to=self.field.scheme).value

    def known_ids(self, rows: Sequence[Row]) -> Sequence[ID]:
        ids: list[ID] = []
        try:
            for place, _ in rows:
                ids.append(self.convert(place))
        except InvalidID as error:
            raise self.stopped(rows[len(ids)], error) from error
        return ids


class Timed(Conversion):
    """Keeps the times and the order of the old ids. Rows of equal old ids are in key order."""

    @property
    def order(self) -> tuple[str, ...]:
        return f"-{self.place_name}" if self.old.descending else self.place_name, "pk"

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        condition = Q(**{f"{self.source.name}__isnull": False})
        if start is not None:
            first = self.first_place(start)
            condition &= Q(pk__in=[]) if first is None else self.compared("gte", first)
        if end is not None and (stop := self.first_place(end)) is not None:
            condition &= self.compared("lt", stop)
        return condition

    def place(self, value: ID) -> Any:
        """The place of a row with that old id."""
        return value

    def first_place(self, at: datetime) -> Any:
        """The first place of ids of ``at`` (aware) or later; None after the last tick."""
        try:
            tick = self.old.tick_from(at)
        except OutOfRange:
            return None
        return self.place(self.old.from_trusted(self.old.layout.join(tick, 0)))

    def compared(self, sign: str, place: Any) -> Q:
        if self.old.descending:
            sign = _REVERSED.get(sign, sign)
        return Q(**{f"{self.place_name}__{sign}": place})


class TimedUUIDs(Timed):
    """The old ids are in a plain ``UUIDField``, or don't sort by time. So the place of a row is a
    text of their digits, by time: some versions of MariaDB sort no UUIDs by their digits."""

    needs_sort = True

    def warnings(self) -> Iterator[str]:
        yield (
            f"no index has {self.source.name} in the order of its times, so each batch sorts the "
            f"table"
        )

    @property
    def place_name(self) -> str:
        return _PLACE

    @property
    def rows(self) -> QuerySet[Any]:
        column: Any = F(self.source.name)
        if isinstance(self.source, SortableIDField) and isinstance(
            self.source.stored(connections[self.using]), BinaryStorage
        ):
            column = HexOfBytes(column, bytes=16)
        by_time = _DigitsByTime(column, runs=self._digits)
        digits = _Digits(column) if self.old.sorts else by_time
        rows: QuerySet[Any] = super().rows.annotate(**{_PLACE: digits})
        return rows

    @cached_property
    def _digits(self) -> Sequence[tuple[int, int]]:
        return digits_by_weight(self.old.layout)

    def place(self, value: ID) -> str:
        assert isinstance(value, UUID)
        if self.old.sorts:
            return value.hex
        return "".join(value.hex[start - 1 :][:count] for start, count in self._digits)

    def value(self, place: Any) -> UUID:
        if self.old.sorts:
            return UUID(place)
        parts = zip(self._digits, _cut(place, [count for _, count in self._digits]), strict=True)
        return UUID("".join(part for _, part in sorted(parts)))

    def load_place(self, saved: str) -> str:
        return saved


def _carries_time(scheme: TimeScheme, value: ID) -> bool:
    try:
        return scheme.carries_time(value)
    except InvalidID:
        return False


def _kind(value: ID) -> str:
    return f"a UUID of version {value.version}, " if isinstance(value, UUID) else ""


class _Digits(Fragment):
    """The 32 digits of a UUID as text, in lower case."""

    output_field = TextField()
    sqlite = "lower(replace({0}, '-', ''))"
    postgresql = "(replace(({0})::text, '-', '') COLLATE \"C\")"
    mysql = "LOWER(REPLACE(CAST({0} AS CHAR), '-', ''))"


class _DigitsByTime(Fragment):
    """The digits of a UUID, rearranged so that they sort by time.

    ``runs`` are the first position of each part, counted from 1, and its length.
    """

    output_field = TextField()

    def postgresql(self, connection: Any) -> str:
        return f"({' || '.join(self._parts(_Digits.postgresql))})"

    def sqlite(self, connection: Any) -> str:
        return " || ".join(self._parts(_Digits.sqlite))

    def mysql(self, connection: Any) -> str:
        return f"CONCAT({', '.join(self._parts(_Digits.mysql))})"

    def _parts(self, digits: str) -> list[str]:
        return [f"substr({digits}, {start}, {count})" for start, count in self.extra["runs"]]


def _cut(text: str, lengths: Sequence[int]) -> list[str]:
    parts = []
    for length in lengths:
        parts.append(text[:length])
        text = text[length:]
    return parts


_SAMPLE = 100
"""How many UUIDs are read to find their version."""


def find_conversion(
    model: type[models.Model],
    sortable: SortableIDField,
    created_from: str | None,
    convert_from: str,
    using: str,
) -> Conversion | None:
    """The conversion from that field; None if its UUIDs carry no time, and ``created_from`` names
    the source of the times.
    """
    source = _find_source(model, sortable, convert_from)
    label = f"{model._meta.label}.{convert_from}"
    if not isinstance(sortable.scheme, TimeScheme):
        raise BackfillError(
            f"{sortable} is a {sortable.scheme.title}, which has no time "
            f"to convert to: use --created-from instead of --convert-from"
        )
    old = _scheme_of(model, source, using)
    if old is None:
        if created_from is None:
            raise BackfillError(
                f"{label} holds UUIDs of version 4 or another that carries no time: name the "
                f"creation times as well: --created-from, {_times_of(model)}"
            )
        return None
    if created_from is not None:
        raise BackfillError(
            f"{label} holds {old.title}s, which carry their times: omit --created-from, or omit "
            f"--convert-from for ids of the times in {created_from}"
        )
    if is_lossless(old, sortable.scheme):
        kind: type[Conversion] = Lossless
    else:
        in_order = isinstance(source, SortableIDField) and old.sorts
        kind = Timed if in_order else TimedUUIDs
    return kind(model, sortable, source, using, convert_from=convert_from, old=old)


def _find_source(
    model: type[models.Model], sortable: SortableIDField, name: str
) -> models.Field[Any, Any]:
    found = next((each for each in model._meta.fields if each.name == name), None)
    label = model._meta.label
    if found is None:
        known = [each.name for each in model._meta.fields if _may_convert(each, sortable)]
        raise BackfillError(
            f"{label} has no field {name!r} to convert from; it has {', '.join(known) or 'none'}"
            f"{nearest(name, known)}"
        )
    if found is sortable:
        raise BackfillError(f"{label}.{name} is the column to fill: name the field of the old ids")
    if not _may_convert(found, sortable):
        raise BackfillError(
            f"{label}.{name} is a {type(found).__name__}, and ids are converted from a UUIDField "
            f"or a sortable id with a time. Where it holds such ids, declare it so: ULIDs in a "
            f'CharField as ULIDField(storage="varchar"), snowflakes in a BigIntegerField as '
            f"SnowflakeField()"
        )
    return found


def _may_convert(found: models.Field[Any, Any], sortable: SortableIDField) -> bool:
    if isinstance(found, SortableIDField):
        return found is not sortable and isinstance(found.scheme, TimeScheme)
    return isinstance(found, models.UUIDField)


def _scheme_of(
    model: type[models.Model], source: models.Field[Any, Any], using: str
) -> TimeScheme | None:
    """The scheme of the old ids; None if they carry no time."""
    if isinstance(source, SortableIDField):
        assert isinstance(source.scheme, TimeScheme)
        return source.scheme
    rows: QuerySet[Any] = QuerySet(model, using=using)
    given = rows.filter(**{f"{source.name}__isnull": False}).order_by("pk")
    sample = given.values_list(source.name, flat=True)[:_SAMPLE]
    schemes = Counter(map(scheme_of_uuid, sample))
    if not schemes:
        # There is nothing to convert: any scheme will do.
        scheme = get("uuid1")
        assert isinstance(scheme, TimeScheme)
        return scheme
    return schemes.most_common(1)[0][0]


def _times_of(model: type[models.Model]) -> str:
    if names := names_of(model, models.DateTimeField):
        return f"one of {', '.join(names)}"
    return f"a DateTimeField, of which {model._meta.label} has none"
