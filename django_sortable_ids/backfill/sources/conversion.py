"""Old ids in another column, which give a row its place and its time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connections, models
from django.db.models import Q, QuerySet

from ...errors import BackfillError, WrongArguments
from ...fields import SortableIDField
from ...fields.storage import mariadb_sorts
from ...schema.stored_values import PAGE, later_than_now, sorts_uuids
from ...schemes import ID, InvalidID, OutOfRange, TimeScheme, is_lossless
from ...schemes.catalog import scheme_of_uuid
from ...schemes.support import nearest
from .base import Expectation, Given, InOrderOfKeys, Row, Source, Wanted
from .target import Target, others

if TYPE_CHECKING:
    from ..verification import Page, StoredID
    from ..verify import Checker

_REVERSED = {"gt": "lt", "gte": "lte", "lt": "gt", "lte": "gte"}


@dataclass(frozen=True)
class Conversion(Source):
    """An id of another scheme in the same row, which is its place."""

    _: KW_ONLY
    old: TimeScheme

    arguments = {
        "convert_from": {
            "metavar": "FIELD",
            "help": "the field with the old ids to convert; bits are kept where that is possible",
        }
    }
    keeps = "of the same time, in the same order"

    @classmethod
    def check(cls, given: Given) -> None:
        if "convert_from" in given and "created_from" in given:
            raise WrongArguments("--created-from and --convert-from: give only one of them")

    @classmethod
    def named_by(cls, wanted: Wanted) -> Conversion | None:
        """The conversion of ``--convert-from``."""
        model, field, using = wanted.model, wanted.field, wanted.using
        name = wanted.given.get("convert_from")
        if name is None:
            return None
        label = f"{model._meta.label}.{name}"
        source = next((column for column in model._meta.fields if column.name == name), None)
        if source is None or not _may_convert(source, field):
            known = [column.name for column in model._meta.fields if _may_convert(column, field)]
            raise BackfillError(
                f"{label} is no UUIDField, nor another sortable id with a time, to convert "
                f"from; {model._meta.label} has {', '.join(known) or 'none'}"
                f"{nearest(name, known)}. Declare other columns of such ids: ULIDs in a "
                f'CharField as ULIDField(storage="varchar"), snowflakes in a BigIntegerField as '
                f"SnowflakeField()"
            )
        if not isinstance(field.scheme, TimeScheme):
            raise BackfillError(
                f"{field} is of the scheme {field.scheme.title}, which has no time "
                f"to convert to: use --created-from instead of --convert-from"
            )
        old = _scheme_of(model, source, using, field.scheme)
        if old is None:
            raise BackfillError(
                f"{label} holds UUIDs of version 4 or another that carries no time: use "
                f"--created-from instead of --convert-from"
            )
        conversion = Lossless if is_lossless(old, field.scheme) else Timed
        if conversion is Timed and not _is_in_order(source, old, using):
            raise BackfillError(
                f"{label} holds {old.title}s, which the database doesn't sort by their times, and "
                f"{field} can't keep every bit of them: convert them into a field that can, such "
                f"as a UUIDv6Field of UUIDv1s, and that field into {field.name}; or use "
                f"--created-from instead of --convert-from"
            )
        return conversion(model, source, using, old=old)

    @property
    def described(self) -> str:
        return f"the {self.old.title} in {self.field.name}, {self.keeps}"

    @property
    def options(self) -> dict[str, Any]:
        arguments = getattr(self.field, "scheme_arguments", {})
        return {
            "convert_from": self.field.name,
            "old_scheme": self.old.name,
            **{f"old_{key}": repr(value) for key, value in arguments.items()},
        }

    @property
    def expected(self) -> Expectation:
        usual, tick = Expectation(), timedelta(microseconds=self.old.tick_ns // 1000)
        return Expectation(
            usual.earlier + tick, usual.later + tick, "of their old ids' times", False
        )

    def check_places(self, target: Target) -> None:
        """Check that the old id of each row without a new one carries a time."""
        count, first = 0, None
        sample: list[int] = []
        # In the order of the key, which has an index.
        by_key = replace(target, source=Lossless(self.model, self.field, self.using, old=self.old))
        for value, pk in chain.from_iterable(by_key.pages(by_key.without_id)):
            if self.old.carries_time(value):
                if len(sample) < PAGE:
                    sample.append(self.old.to_int(value))
            else:
                count, first = count + 1, first or (value, pk)
        if first:
            value = first[0]
            version = f"a UUID of version {value.version}, " if isinstance(value, UUID) else ""
            raise BackfillError(
                f"{self.model._meta.label} {first[1]}{others(count)} has the "
                f"{self.field.name} {value}, {version}and "
                f"{self.old.title} was expected. Give it an id yourself, or set the old id to NULL "
                f"and choose --on-null, or use --created-from for all rows; nothing was written."
            )
        if late := later_than_now(sample, self.old):
            raise BackfillError(f"{self.model._meta.label}.{self.field.name}: {late}")

    def at(self, place: Any) -> datetime:
        return self.old.created_at(place)

    def shown_place(self, place: Any) -> str:
        return str(place)

    def named(self, row: Row) -> str:
        return f"{self.model._meta.label} {row[1]}, whose {self.field.name} is {row[0]}"

    def load_place(self, saved: str) -> Any:
        return self.old.value_type(saved)


class Lossless(Conversion, InOrderOfKeys):
    """Keeps every bit. An id depends only on its row, so rows are in the order of the key."""

    keeps = "bit for bit"
    differs = ""

    @property
    def expected(self) -> Expectation:
        return replace(super().expected, about_times="each its old id, bit for bit")

    def known_ids(self, target: Target, rows: Sequence[Row]) -> Sequence[ID]:
        ids: list[ID] = []
        try:
            for place, _ in rows:
                ids.append(self.old.convert(place, to=target.field.scheme).value)
        except InvalidID as error:  # it is of another version
            raise target.stopped(rows[len(ids)], error) from error
        return ids

    def compare(
        self, checker: Checker, page: Page, ids: Sequence[StoredID | None], *, is_of_run: bool
    ) -> None:
        checker.check_converted(page, ids, self)


class Timed(Conversion):
    """Keeps the times and the order of the old ids. Rows of equal old ids are in key order."""

    @property
    def order(self) -> tuple[str, ...]:
        return f"-{self.field.name}" if self.old.descending else self.field.name, "pk"

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        condition = Q(**{f"{self.field.name}__isnull": False})
        if start is not None:
            first = self.first_place(start)
            condition &= Q(pk__in=[]) if first is None else self.compared("gte", first)
        if end is not None and (stop := self.first_place(end)) is not None:
            condition &= self.compared("lt", stop)
        return condition

    def first_place(self, at: datetime) -> ID | None:
        """The first id of ``at`` (aware) or later; None after the last tick."""
        try:
            tick = self.old.tick_from(at)
        except OutOfRange:
            return None
        return self.old.from_trusted(self.old.layout.join(tick, 0))

    def compared(self, sign: str, place: Any) -> Q:
        if self.old.descending:
            sign = _REVERSED.get(sign, sign)
        return Q(**{f"{self.field.name}__{sign}": place})


_SAMPLE = 100
"""How many UUIDs are read to find their version."""


def _may_convert(old: models.Field[Any, Any], new: SortableIDField) -> bool:
    if isinstance(old, SortableIDField):
        return old is not new and isinstance(old.scheme, TimeScheme)
    return isinstance(old, models.UUIDField)


def names_with_times(field: SortableIDField, using: str) -> list[str]:
    """The names of the fields of old ids that contain times, in the model of a new id."""
    model = field.model
    if not isinstance(field.scheme, TimeScheme):
        return []
    columns = [column for column in model._meta.fields if _may_convert(column, field)]
    return [column.name for column in columns if _scheme_of(model, column, using, None)]


def _is_in_order(source: models.Field[Any, Any], old: TimeScheme, using: str) -> bool:
    """Whether the database sorts the old ids by time; of sortable ids, the plan checks it."""
    connection: Any = connections[using]
    is_reordered = connection.vendor == "mysql" and connection.features.has_native_uuid_field
    if is_reordered and not isinstance(source, SortableIDField):
        return mariadb_sorts(old) and sorts_uuids(connection)
    return old.sorts


def _scheme_of(
    model: type[models.Model], source: models.Field[Any, Any], using: str, new: TimeScheme | None
) -> TimeScheme | None:
    """The scheme of the old ids; None if they carry no time, the new one if there are none."""
    if isinstance(source, SortableIDField):
        assert isinstance(source.scheme, TimeScheme)
        return source.scheme
    rows: QuerySet[Any] = QuerySet(model, using=using)
    filled = rows.filter(**{f"{source.name}__isnull": False}).order_by("pk")
    sample = filled.values_list(source.name, flat=True)[:_SAMPLE]
    schemes = Counter(map(scheme_of_uuid, sample))
    return schemes.most_common(1)[0][0] if schemes else new
