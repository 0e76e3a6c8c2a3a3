"""The target of a backfill: the column of ids, and the column of creation times."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db import connections, models
from django.db.models import Q, QuerySet
from django.utils.functional import cached_property

from ...db.chunks import in_time
from ...errors import BackfillError
from ...fields import SortableIDField
from ...schemes import ID, TimeScheme
from ...schemes.generation.clock import MICROSECOND, UNIX_EPOCH
from ...times.bounds import shown, time_range
from ...times.columns import TimeColumn, column_of, zone_of_naive_times

POLICIES = "policies"  # their key among the stored options of a run
OnNull = Literal["error", "skip", "now"]
OnOutOfRange = Literal["error", "skip", "clamp"]

Row = tuple[Any, Any]
"""Creation time, or the old id of a conversion, and key."""

PAGE = 20_000
"""How many rows are read at a time when all of them are read."""
SORTED_AT_ONCE = 50_000
"""How many rows of one sort are kept if no index has their order."""


@dataclass(frozen=True)
class Target:
    """A sortable id that may be NULL, and the creation time of its rows."""

    model: type[models.Model]
    field: SortableIDField
    source: models.Field[Any, Any]
    """The field of the times: a ``DateTimeField``, or the old id of a ``Conversion``."""
    using: str
    on_null: OnNull = "error"
    """What to do with rows without a time."""
    on_out_of_range: OnOutOfRange = "error"
    """What to do with rows whose time is out of the scheme's range."""
    convert_from: str | None = None
    """The field of the old ids, if ids are converted."""
    allow_triggers: bool = False
    """Whether an UPDATE may have side effects: fire triggers, add history and the like."""

    has_own_times = True
    """Whether times are in the row itself, or in the same row of a parent model: the database can
    compute with them."""
    has_times = True
    """Whether the place of a row is a time, as of a ``DateTimeField``."""
    generates = True
    """Whether ids are generated; else they are other ids, bit for bit."""
    may_be_edited = True
    """Whether the time of a row may be edited after it got its id."""
    needs_sort = False
    """Whether no index can provide the order of the rows."""

    @property
    def scheme(self) -> TimeScheme:
        """The scheme of ids that have a time."""
        scheme = self.field.scheme
        assert isinstance(scheme, TimeScheme), "ids of a sequence have no time"
        return scheme

    @property
    def label(self) -> str:
        return str(self.field)

    @property
    def command(self) -> str:
        """The command that fills this target."""
        policies = "".join(
            f" --{name.replace('_', '-')}={getattr(self, name)}"
            for name in ("on_null", "on_out_of_range")
            if getattr(self, name) != "error"
        )
        allowed = " --allow-triggers" if self.allow_triggers else ""
        target = f"backfill_ids {self.label} {self.given}".rstrip()
        return f"{target}{policies}{allowed}{database_option(self.using)}"

    @property
    def given(self) -> str:
        """The arguments that name the source of the times."""
        sources = {"--convert-from": self.convert_from, "--created-from": self.created_from}
        return " ".join(f"{option} {name}" for option, name in sources.items() if name)

    @property
    def created_from(self) -> str | None:
        """The field of the creation times; None if they come from old ids."""
        return self.source.name

    @property
    def described(self) -> str:
        """The source of the times, as text."""
        return self.source.name

    @property
    def notes(self) -> Iterator[str]:
        """More about the times, as lines of the plan."""
        yield from ()

    @property
    def options(self) -> dict[str, Any]:
        """The options that must not change between the start of a run and its resumption."""
        return {
            "created_from": self.created_from,
            **({"convert_from": self.convert_from} if self.convert_from else {}),
            "scheme": self.field.scheme_name,
            "time_zone": zone_of_naive_times(self.using),
            **{key: repr(value) for key, value in self.field.scheme_arguments.items()},
            **self.own_options,
        }

    @property
    def stored_options(self) -> dict[str, Any]:
        """What a run stores: also the policies, which may change."""
        policies = {name: getattr(self, name) for name in ("on_null", "on_out_of_range")}
        return {**self.options, POLICIES: policies}

    @property
    def own_options(self) -> dict[str, Any]:
        """The additional options of this kind of source."""
        return {}

    def check(self) -> None:
        """Raise ``BackfillError`` for values of the source that can't become ids."""

    def warnings(self) -> Iterator[str]:
        """Facts that may surprise, but don't stop the backfill."""
        yield from ()

    @property
    def place_name(self) -> str:
        """The column that rows are ordered by."""
        return self.source.name

    @cached_property
    def times(self) -> TimeColumn:
        """How to read and compare the values of ``source``."""
        return column_of(self.source, self.using)

    @property
    def time_range(self) -> tuple[datetime, datetime] | None:
        """The range of times of the scheme, end excluded; None if it has no bounds."""
        scheme = self.field.scheme
        return time_range(scheme) if isinstance(scheme, TimeScheme) else self._shown

    @property
    def is_out_of_range(self) -> Q:
        """Whether the time of a row is out of ``time_range``."""
        if self.time_range is None:
            return Q(pk__in=[])
        start, end = self.time_range
        return self.between(None, start) | self.between(end, None)

    @property
    def has_shown_time(self) -> Q:
        """Whether a row has a time that Python can represent."""
        has_time = Q(**{f"{self.source.name}__isnull": False})
        return has_time & self.between(*self._shown) if self._shown else has_time

    @property
    def _shown(self) -> tuple[datetime, datetime] | None:
        """The range of times that Python can represent; None if the database has no others, such as
        -infinity or BC."""
        if not isinstance(self.source, models.DateField):
            return None
        return shown(connections[self.using].vendor, in_utc=self.times.knows_utc)

    @property
    def rows(self) -> QuerySet[Any]:
        """Every row, without managers, which may hide some."""
        return QuerySet(self.model, using=self.using)

    @property
    def without_id(self) -> QuerySet[Any]:
        return self.rows.filter(**{f"{self.field.name}__isnull": True})

    @property
    def missing(self) -> QuerySet[Any]:
        """The rows that a run gives an id."""
        return self.rows.filter(self.is_missing)

    @property
    def is_missing(self) -> Q:
        """Whether a row has no id, except for rows that ``on_null`` and ``on_out_of_range`` handle
        later, or skip."""
        missing = Q(**{f"{self.field.name}__isnull": True})
        if self.on_null != "error":
            missing &= Q(**{f"{self.source.name}__isnull": False})
        if self.on_out_of_range != "error" and self.time_range:
            missing &= self.between(*self.time_range)
        return missing

    @property
    def missing_in_order(self) -> QuerySet[Any]:
        """``missing``, in the order of a run."""
        return self.missing.order_by(*self.order)

    @property
    def skipped(self) -> QuerySet[Any]:
        """The rows that stay without an id."""
        name, none = self.source.name, Q(pk__in=[])
        skipped = Q(**{f"{name}__isnull": True}) if self.on_null == "skip" else none
        if self.on_out_of_range == "skip":
            skipped |= self.is_out_of_range
        return self.without_id.filter(skipped)

    @property
    def key_fields(self) -> list[models.Field[Any, Any]]:
        """The columns of the primary key: several if it is composite."""
        return self.model._meta.pk_fields

    def stored_keys(self, pks: Iterable[Any]) -> list[Sequence[Any]]:
        """The parameters for keys: for each of them a value for each of its columns."""
        columns = zip(*pks, strict=True) if self.model._meta.is_composite_pk else [pks]
        stored = map(self._stored, self.key_fields, columns)
        return list(zip(*stored, strict=True))

    def _stored(self, field: models.Field[Any, Any], parts: Iterable[Any]) -> Iterable[Any]:
        is_ours = isinstance(field, SortableIDField) or hasattr(field, "from_db_value")
        if isinstance(field, models.IntegerField) and not is_ours:
            return parts  # as they are: preparing each takes a tenth of the time of a batch
        connection = connections[self.using]
        return [
            # prepared=True: else Django refuses the key 0 of an AutoField on MariaDB and MySQL
            field.get_db_prep_value(field.get_prep_value(part), connection, prepared=True)
            for part in parts
        ]

    def known_ids(self, rows: Sequence[Row]) -> Sequence[ID] | None:
        """The ids of any rows, if they don't depend on those of other rows; else None.

        Raises ``BackfillError``, naming a row, if it has none.
        """
        return None

    def samples(self, rows: Sequence[Row]) -> Sequence[ID] | None:
        """Examples of ``known_ids``, found without a change of the database."""
        return self.known_ids(rows)

    @property
    def selected_place(self) -> Any:
        """The expression that selects the place of a row."""
        return self.times.selected

    @property
    def order(self) -> tuple[str, ...]:
        return self.place_name, "pk"

    def at(self, created: Any) -> datetime:
        """The aware creation time of a row at that place."""
        return self.times.at(created)

    def microseconds(self, places: Iterable[Any]) -> Iterator[int]:
        """The Unix times of places in order, in microseconds."""
        unix = self.times.unix
        if not self.has_times:
            unix = lambda place: (self.at(place) - UNIX_EPOCH) // MICROSECOND  # noqa: E731
        last = now = None
        for place in places:
            if now is None or place != last:  # several rows may share one
                last, now = place, unix(place)
            yield now

    def shown_place(self, place: Any) -> str:
        """A place as text for people."""
        return self.at(place).isoformat()

    def named(self, row: Row) -> str:
        """A row and its place as text for an error."""
        return f"{self.model._meta.label} {row[1]}, created at {self.at(row[0])}"

    def stopped(self, row: Row, error: Exception) -> BackfillError:
        """The error that ends a run at that row; its place may be unknown (None)."""
        known = self.named(row) if row[0] is not None else f"{self.model._meta.label} {row[1]}"
        return BackfillError(f"stopped at {known}: {error}")

    def load_place(self, saved: str) -> Any:
        """A place that was stored as text."""
        return self.times.load(saved)

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        """The rows of ``start <= time < end``, both aware; None means no bound."""
        bounds = {"gte": start, "lt": end}
        place_at = self.times.place_at
        return Q(
            *(self.compared(sign, place_at(at)) for sign, at in bounds.items() if at is not None)
        )

    def tick(self, created: Any) -> int:
        """The tick of that place's time."""
        return self.scheme.tick(self.at(created))

    def tick_of(self, created: Any) -> tuple[datetime, datetime]:
        """Start and end (excluded) of the tick of that place's time, both aware."""
        return self.scheme.tick_span(self.at(created))

    def after(self, created: Any, pk: Any) -> Q:
        """The rows after a place in the order, written so that an index on the time is used."""
        return self.compared("gte", created) & (self.compared("gt", created) | Q(pk__gt=pk))

    def before(self, created: Any, pk: Any) -> Q:
        """The rows before a place in the order, written so that an index on the time is used."""
        return self._within(created, Q(pk__lt=pk))

    def until(self, created: Any, pk: Any) -> Q:
        """As ``before``, with the row at the place."""
        return self._within(created, Q(pk__lte=pk))

    def _within(self, created: Any, in_time: Q) -> Q:
        """The rows of earlier times, and those of that place's time that match ``in_time``."""
        return self.compared("lte", created) & (self.compared("lt", created) | in_time)

    def compared(self, sign: str, place: Any) -> Q:
        """The rows whose place compares so: "gte", "gt", "lte", "lt" or "exact"."""
        is_expression = hasattr(place, "resolve_expression")
        operand = place if is_expression else self.times.operand(place)
        return Q(**{f"{self.place_name}__{sign}": operand})

    def read(self, rows: QuerySet[Any], *names: Any) -> list[Any]:
        """Creation time, key and the fields ``names`` of each row."""
        if not self.model._meta.is_composite_pk:
            return list(rows.values_list(self.selected_place, "pk", *names))
        # Django does not convert a foreign key that it selects as a part of "pk".
        keys = [field.attname for field in self.key_fields]
        end = 1 + len(keys)
        columns = rows.values_list(self.selected_place, *keys, *names)
        return [(row[0], row[1:end], *row[end:]) for row in columns]

    def lacks_id(self, row: Row) -> bool:
        """Whether a row that was read still has no id and the same place.

        The place is read and compared here: on PostgreSQL, a query for a time in an hour that a
        clock change repeats finds nothing.
        """
        return bool(self.first(self.missing.filter(pk=row[1])) == row)

    def first(self, rows: QuerySet[Any], *names: str) -> Any:
        """As ``read``, but the first row only, or None."""
        return next(iter(self.read(rows[:1], *names)), None)

    def pages(self, rows: QuerySet[Any], *names: Any) -> Iterator[list[Any]]:
        """Creation time, key and the fields ``names`` of rows that have a time, in order, by pages:
        some drivers load a whole result into memory."""
        timed = rest = rows.filter(self.has_shown_time).order_by(*self.order)
        size = PAGE
        while True:

            def page(size: int, rest: QuerySet[Any] = rest) -> list[Any]:
                return self.read(rest[:size], *names)

            results, size = in_time(self.using, size, page)
            if not results:
                return
            yield results
            created, pk = results[-1][:2]
            rest = timed.filter(self.after(created, pk))


def database_option(using: str) -> str:
    """The option for a database, with a leading space; empty for the default one."""
    return "" if using == "default" else f" {shlex.quote(f'--database={using}')}"


class InOrderOfKeys(Target):
    """Its rows are in the order of the primary key, which has an index."""

    @property
    def order(self) -> tuple[str, ...]:
        return ("pk",)

    def after(self, created: Any, pk: Any) -> Q:
        return Q(pk__gt=pk)

    def _within(self, created: Any, in_time: Q) -> Q:
        return in_time


class Derived(InOrderOfKeys):
    """A sortable id that may be NULL, and creation times that Python derives.

    The place of a row is the value that its time is derived from, and its key.
    """

    has_own_times = False
    has_times = False

    @cached_property
    def times(self) -> TimeColumn:
        """Values that are no times are compared as they are."""
        return TimeColumn(self.source, self.using)
