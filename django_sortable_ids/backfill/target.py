"""What a backfill fills, and from what: a column, and the column of creation times."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.db import connections, models
from django.db.models import Q, QuerySet
from django.utils.functional import cached_property

from ..db.chunks import in_time
from ..fields import SortableIDField
from ..schemes import TimeScheme
from ..times.bounds import shown, time_range
from ..times.columns import TimeColumn, column_of, zone_of_naive_times

OnNull = Literal["error", "skip", "now"]
OnOutOfRange = Literal["error", "skip", "clamp"]

Row = tuple[Any, Any]
"""Creation time, or the old id of a conversion, and key."""

PAGE = 20_000
"""How many rows are read at a time by what reads all of them."""
SORTED_AT_ONCE = 50_000
"""How many rows are kept of one sort, where no index has their order."""


@dataclass(frozen=True)
class Target:
    """A sortable id that may be empty, and the creation time of its rows."""

    model: type[models.Model]
    field: SortableIDField
    source: models.Field[Any, Any]
    """Where the times are: a ``DateTimeField``, or the old id of a ``Conversion``."""
    using: str
    on_null: OnNull = "error"
    """What becomes of rows without a time."""
    on_out_of_range: OnOutOfRange = "error"
    """And of those whose time the scheme doesn't hold."""
    convert_from: str | None = None
    """The field of the old ids, where there are such."""
    allow_triggers: bool = False
    """Whether an UPDATE may change more than the ids: fire triggers, add history and the like."""

    @property
    def label(self) -> str:
        return f"{self.model._meta.label}.{self.field.name}"

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
        """The arguments that say where times come from."""
        sources = {"--convert-from": self.convert_from, "--created-from": self.created_from}
        return " ".join(f"{option} {name}" for option, name in sources.items() if name)

    @property
    def created_from(self) -> str | None:
        """The field of the creation times, where they aren't those of old ids."""
        return self.source.name

    @property
    def own_time(self) -> bool:
        """Whether the row itself, or the same row of a parent, has the time in the source's
        column."""
        return True

    @property
    def described(self) -> str:
        """What the times are, for people."""
        return self.source.name

    @property
    def notes(self) -> Iterator[str]:
        """What else is to be known of them."""
        yield from ()

    @property
    def has_times(self) -> bool:
        """Whether places are times, as those of a ``DateTimeField``."""
        return True

    @property
    def generates(self) -> bool:
        """Whether ids are generated; else they are those of other rows."""
        return True

    @property
    def keeps_bits(self) -> bool:
        """Whether ids are old ones in another form."""
        return False

    @property
    def may_be_edited(self) -> bool:
        """Whether the time of a row may change after it has its id."""
        return True

    @property
    def may_be_indexed(self) -> bool:
        """Whether an index on the source's column can have the rows in their order."""
        return True

    @property
    def options(self) -> dict[str, Any]:
        """What must stay the same between the start of a run and its resumption."""
        return {
            "created_from": self.created_from,
            **({"convert_from": self.convert_from} if self.convert_from else {}),
            "scheme": self.field.scheme_name,
            "time_zone": zone_of_naive_times(self.using),
            **{key: repr(value) for key, value in self.field.scheme_arguments.items()},
            **self.own_options,
        }

    @property
    def own_options(self) -> dict[str, Any]:
        """Those of this kind of source."""
        return {}

    def check(self) -> None:
        """Raise ``BackfillError`` for values of the source that ids can't be made from."""

    def warnings(self) -> Iterator[str]:
        """What may surprise, but is no reason to stop."""
        yield from ()

    @property
    def place_name(self) -> str:
        """The column that rows are ordered by."""
        return self.source.name

    @cached_property
    def times(self) -> TimeColumn:
        """What the values of ``source`` mean."""
        return column_of(self.source, self.using)

    @property
    def time_range(self) -> tuple[datetime, datetime] | None:
        """The times that the scheme can hold, the end excluded; None where none is refused."""
        scheme = self.field.scheme
        return time_range(scheme) if isinstance(scheme, TimeScheme) else self._shown

    @property
    def has_shown_time(self) -> Q:
        """Whether a row has a time, and one that Python can show."""
        has_time = Q(**{f"{self.source.name}__isnull": False})
        return has_time & self.between(*self._shown) if self._shown else has_time

    @property
    def _shown(self) -> tuple[datetime, datetime] | None:
        """The times that Python can show, where the database may have others: -infinity, BC."""
        if not isinstance(self.source, models.DateField):
            return None
        return shown(connections[self.using].vendor, in_utc=self.times.knows_utc)

    @property
    def rows(self) -> QuerySet[Any]:
        """Every row: managers may hide some."""
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
        """Whether a row has none, but for what is left to ``on_null`` and ``on_out_of_range``."""
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
        """The rows that are to stay without an id."""
        name, none = self.source.name, Q(pk__in=[])
        skipped = Q(**{f"{name}__isnull": True}) if self.on_null == "skip" else none
        if self.on_out_of_range == "skip" and self.time_range:
            start, end = self.time_range
            skipped |= self.between(None, start) | self.between(end, None)
        return self.without_id.filter(skipped)

    @property
    def key_fields(self) -> list[models.Field[Any, Any]]:
        """The columns of the primary key: several where it is composite."""
        return self.model._meta.pk_fields

    def stored_key(self, pk: Any) -> list[Any]:
        """What the driver is given for a key: a value for each of its columns."""
        connection = connections[self.using]
        parts = pk if self.model._meta.is_composite_pk else (pk,)
        return [
            field.get_db_prep_value(part, connection)
            for field, part in zip(self.key_fields, parts, strict=True)
        ]

    def stored_time(self, created: Any) -> Any:
        """What the driver is given for the place of a creation time."""
        return self.times.parameter(created)

    @property
    def selected_place(self) -> Any:
        """What a query selects to get the place of a row."""
        return self.times.selected

    @property
    def order(self) -> tuple[str, ...]:
        return self.place_name, "pk"

    def at(self, created: Any) -> datetime:
        """The aware creation time of a row that is at that place."""
        return self.times.at(created)

    def shown_place(self, place: Any) -> str:
        """A place for people."""
        return self.at(place).isoformat()

    def load_place(self, saved: str) -> Any:
        """A place that was kept as text."""
        return self.times.load(saved)

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        """The rows of ``start <= time < end``, both aware; None is open."""
        bounds = {"gte": start, "lt": end}
        place_at = self.times.place_at
        return Q(
            *(self._compared(sign, place_at(at)) for sign, at in bounds.items() if at is not None)
        )

    def tick_of(self, created: Any) -> tuple[datetime, datetime]:
        """Start and end, excluded, of the tick of that place's time, both aware."""
        scheme = self.field.scheme
        assert isinstance(scheme, TimeScheme), "rows of a sequence have no tick"
        return scheme.tick_span(self.at(created))

    def given_in_tick(self, created: Any) -> QuerySet[Any]:
        """The rows of that tick that have an id of it, in order: a row that was moved there has
        brought one of another time."""
        start, end = self.tick_of(created)
        name = self.field.name
        of_tick = Q(**{f"{name}__created_at__gte": start, f"{name}__created_at__lt": end})
        return self.rows.filter(self.between(start, end), of_tick).order_by(*self.order)

    def after(self, created: Any, pk: Any) -> Q:
        """The rows behind a place in the order, written so that an index on the time is used."""
        return self._compared("gte", created) & (self._compared("gt", created) | Q(pk__gt=pk))

    def beside(self, created: Any, pk: Any) -> Q:
        """The rows behind a place that have its time."""
        return self.of_time(created) & Q(pk__gt=pk)

    def of_time(self, created: Any) -> Q:
        """The rows whose time is that of a place."""
        return self._compared("exact", created)

    def starting(self, created: Any) -> Q:
        """The rows of that place's time, and of later ones."""
        return self._compared("gte", created)

    def before(self, created: Any, pk: Any) -> Q:
        """The rows in front of a place in the order, written so as well."""
        return self._within(created, Q(pk__lt=pk))

    def until(self, created: Any, pk: Any) -> Q:
        """As ``before``, and the row at the place."""
        return self._within(created, Q(pk__lte=pk))

    def _within(self, created: Any, in_time: Q) -> Q:
        """The rows of earlier times, and some that have that one."""
        return self._compared("lte", created) & (self._compared("lt", created) | in_time)

    def _compared(self, sign: str, place: Any) -> Q:
        is_expression = hasattr(place, "resolve_expression")
        operand = place if is_expression else self.times.operand(place)
        return Q(**{f"{self.place_name}__{sign}": operand})

    def read(self, rows: QuerySet[Any], *names: str) -> list[Any]:
        """Creation time, key and the fields ``names`` of each row."""
        if not self.model._meta.is_composite_pk:
            return list(rows.values_list(self.selected_place, "pk", *names))
        # A foreign key that is part of "pk" would come as the driver gave it.
        keys = [field.attname for field in self.key_fields]
        end = 1 + len(keys)
        columns = rows.values_list(self.selected_place, *keys, *names)
        return [(row[0], row[1:end], *row[end:]) for row in columns]

    def lacks_id(self, row: tuple[Any, Any]) -> bool:
        """Whether a row that was read still has no id, and its place.

        Its place is read, not compared: one of an hour that a clock change repeats finds nothing
        on PostgreSQL.
        """
        return bool(self.first(self.missing.filter(pk=row[1])) == row)

    def first(self, rows: QuerySet[Any], *names: str) -> Any:
        """As ``read``, the first row or None."""
        return next(iter(self.read(rows[:1], *names)), None)

    def walk(self, rows: QuerySet[Any], *names: str) -> Iterator[Any]:
        """Creation time, key and the fields ``names`` of rows that have a time, in order.

        By pages, since drivers of MariaDB and MySQL load the whole of a result.
        """
        timed = rest = rows.filter(self.has_shown_time).order_by(*self.order)
        size = PAGE
        while True:

            def page(size: int, rest: QuerySet[Any] = rest) -> list[Any]:
                return self.read(rest[:size], *names)

            found, size = in_time(self.using, size, page)
            if not found:
                return
            yield from found
            created, pk = found[-1][:2]
            rest = timed.filter(self.after(created, pk))


def database_option(using: str) -> str:
    """What to add to a command for that database."""
    return "" if using == "default" else f" {shlex.quote(f'--database={using}')}"
