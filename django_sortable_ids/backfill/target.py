"""What a backfill fills, and from what: a column, and the column of creation times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.conf import settings
from django.db import connections, models
from django.db.models import Q, QuerySet
from django.utils import timezone

from ..fields import SortableIDField
from ..schemes import TimeScheme
from .bounds import held
from .times import as_stored, aware, from_aware

OnNull = Literal["error", "skip", "now"]
OnOutOfRange = Literal["error", "skip", "clamp"]

PAGE = 20_000
"""How many rows are read at a time by what reads all of them."""


@dataclass(frozen=True, slots=True)
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

    @property
    def label(self) -> str:
        return f"{self.model._meta.label}.{self.field.name}"

    @property
    def command(self) -> str:
        """The command that fills this target."""
        sources = {"--convert-from": self.convert_from, "--created-from": self.created_from}
        given = " ".join(f"{option} {name}" for option, name in sources.items() if name)
        policies = "".join(
            f" --{name.replace('_', '-')}={getattr(self, name)}"
            for name in ("on_null", "on_out_of_range")
            if getattr(self, name) != "error"
        )
        return f"backfill_ids {self.label} {given}{policies}{database_option(self.using)}"

    @property
    def created_from(self) -> str | None:
        """The field of the creation times, where they aren't those of old ids."""
        return self.source.name

    @property
    def place_name(self) -> str:
        """The column that rows are ordered by."""
        return self.source.name

    @property
    def held(self) -> tuple[datetime, datetime] | None:
        """The times that the scheme can hold, the end excluded; None where none is refused."""
        scheme = self.field.scheme
        return held(scheme) if isinstance(scheme, TimeScheme) else None

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
        if self.on_out_of_range != "error" and self.held:
            missing &= self.between(*self.held)
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
        if self.on_out_of_range == "skip" and self.held:
            start, end = self.held
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

    def stored_time(self, created: datetime) -> Any:
        """What the driver is given for a creation time."""
        return self.source.get_db_prep_value(created, connections[self.using])

    @property
    def order(self) -> tuple[str, ...]:
        return self.place_name, "pk"

    def at(self, created: Any) -> datetime:
        """The aware creation time of a row that is at that place."""
        return aware(created)

    def load_place(self, saved: str) -> Any:
        """A place that was kept as text."""
        created = datetime.fromisoformat(saved)
        if timezone.is_naive(created) is settings.USE_TZ:
            return from_aware(aware(created), like=timezone.now())
        return created

    def between(self, start: datetime | None, end: datetime | None) -> Q:
        """The rows of ``start <= time < end``, both as the database has times; None is open."""
        bounds = {"gte": start, "lt": end}
        name = self.source.name
        return Q(**{f"{name}__{sign}": at for sign, at in bounds.items() if at is not None})

    def tick_of(self, created: Any) -> tuple[datetime, datetime]:
        """Begin and end, excluded, of the tick of that place's time, as the database has times."""
        scheme = self.field.scheme
        assert isinstance(scheme, TimeScheme), "rows of a sequence have no tick"
        start, end = scheme.tick_span(self.at(created))
        return as_stored(start), as_stored(end)

    def given_in_tick(self, created: Any) -> QuerySet[Any]:
        """The rows of that tick that have an id of it, in order: a row that was moved there has
        brought one of another time."""
        start, end = self.tick_of(created)
        name = self.field.name
        of_tick = Q(**{f"{name}__created_at__gte": start, f"{name}__created_at__lt": end})
        return self.rows.filter(self.between(start, end), of_tick).order_by(*self.order)

    def after(self, created: Any, pk: Any) -> Q:
        """The rows behind a place in the order, written so that an index on the time is used."""
        name = self.place_name
        return Q(**{f"{name}__gte": created}) & (Q(**{f"{name}__gt": created}) | Q(pk__gt=pk))

    def beside(self, created: Any, pk: Any) -> Q:
        """The rows behind a place that have its time."""
        return Q(**{self.place_name: created}, pk__gt=pk)

    def before(self, created: Any, pk: Any) -> Q:
        """The rows in front of a place in the order, written so as well."""
        return self._within(created, Q(pk__lt=pk))

    def until(self, created: Any, pk: Any) -> Q:
        """As ``before``, and the row at the place."""
        return self._within(created, Q(pk__lte=pk))

    def _within(self, created: Any, in_time: Q) -> Q:
        """The rows of earlier times, and some that have that one."""
        name = self.place_name
        return Q(**{f"{name}__lte": created}) & (Q(**{f"{name}__lt": created}) | in_time)

    def read(self, rows: QuerySet[Any], *names: str) -> list[Any]:
        """Creation time, key and the fields ``names`` of each row."""
        if not self.model._meta.is_composite_pk:
            return list(rows.values_list(self.place_name, "pk", *names))
        # A foreign key that is part of "pk" would come as the driver gave it.
        keys = [field.attname for field in self.key_fields]
        end = 1 + len(keys)
        columns = rows.values_list(self.place_name, *keys, *names)
        return [(row[0], row[1:end], *row[end:]) for row in columns]

    def first(self, rows: QuerySet[Any], *names: str) -> Any:
        """As ``read``, the first row or None."""
        return next(iter(self.read(rows[:1], *names)), None)

    def walk(self, rows: QuerySet[Any], *names: str) -> Iterator[Any]:
        """Creation time, key and the fields ``names`` of rows that have a time, in order.

        By pages, since drivers of MariaDB and MySQL load the whole of a result.
        """
        timed = rows.filter(**{f"{self.source.name}__isnull": False}).order_by(*self.order)
        page = self.read(timed[:PAGE], *names)
        while page:
            yield from page
            created, pk = page[-1][:2]
            page = self.read(timed.filter(self.after(created, pk))[:PAGE], *names)


def database_option(using: str) -> str:
    """What to add to a command for that database."""
    return "" if using == "default" else f" --database={using}"
