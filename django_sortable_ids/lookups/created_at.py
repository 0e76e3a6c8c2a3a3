"""``id__created_at``: filters by creation time, as ranges on the id and so on its index.

Each value to compare with stands for a span of time, its start included and its end not: a moment
lasts 1 us, a date lasts a day and a year a year in the current time zone. Every comparison is a
pair of bounds made of these, and the bounds are turned into the first and the last id between them.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any, NoReturn

from django.conf import settings
from django.core.exceptions import EmptyResultSet, FieldError
from django.db import NotSupportedError, models
from django.db.models import lookups
from django.utils import timezone

from ..fields import SortableIDField
from ..schemes import TimeScheme

Bound = datetime | None
"""Aware; None is unbounded."""

_MICROSECOND = timedelta(microseconds=1)
_LAST = datetime.max.replace(tzinfo=UTC)


class _OfID(models.Transform):
    """What ``id__created_at`` and the transforms behind it have in common."""

    lhs: Any

    @property
    def id_column(self) -> Any:
        """The id: a column whose output field is a ``SortableIDField``."""
        raise NotImplementedError

    @property
    def scheme(self) -> TimeScheme:
        scheme = self.id_column.output_field.scheme
        if not isinstance(scheme, TimeScheme):
            raise FieldError(
                f"{self.id_column.output_field} is a {scheme.title}: its ids carry no time"
            )
        return scheme

    def span(self, value: Any) -> tuple[datetime, Bound]:
        """Start and end of the time that a value stands for."""
        raise NotImplementedError

    def as_sql(self, *args: Any, **kwargs: Any) -> NoReturn:
        name = self.id_column.output_field.name
        raise NotSupportedError(
            f"{name}__created_at compares with constants: exact, in, gt, gte, lt, lte, range, date "
            f"and year. To order by it, order by {name}; to show it, take "
            f"django_sortable_ids.instances.created_at()"
        )


class CreatedAt(_OfID):
    """The time of an id, as a ``DateTimeField``."""

    lookup_name = "created_at"
    output_field = models.DateTimeField()

    @property
    def id_column(self) -> Any:
        return self.lhs

    def span(self, value: Any) -> tuple[datetime, Bound]:
        moment = models.DateTimeField().get_prep_value(value)
        if timezone.is_naive(moment):
            moment = timezone.make_aware(moment, timezone.get_default_timezone())
        moment = _in_utc(moment)
        return moment, None if moment == _LAST else moment + _MICROSECOND


class _CalendarSpan(_OfID):
    @property
    def id_column(self) -> Any:
        return self.lhs.lhs


class CreatedAtDate(_CalendarSpan):
    """The date of an id in the current time zone."""

    lookup_name = "date"
    output_field = models.DateField()

    def span(self, value: Any) -> tuple[datetime, Bound]:
        day = models.DateField().get_prep_value(value)
        return _midnight(day), None if day == date.max else _midnight(day + timedelta(days=1))


class CreatedAtYear(_CalendarSpan):
    """The year of an id in the current time zone."""

    lookup_name = "year"
    output_field = models.IntegerField()

    def span(self, value: Any) -> tuple[datetime, Bound]:
        year = models.IntegerField().get_prep_value(value)
        end = None if year == date.max.year else _midnight(date(year + 1, 1, 1))
        return _midnight(date(year, 1, 1)), end


def _midnight(day: date) -> datetime:
    """When the day begins: where the clock is put forward over midnight, as it is."""
    zone: tzinfo = (
        timezone.get_current_timezone() if settings.USE_TZ else timezone.get_default_timezone()
    )
    local = datetime.combine(day, time.min, tzinfo=zone)
    found, skipped_from = _in_utc(local), _in_utc(local.replace(fold=1))
    while found - skipped_from > _MICROSECOND:
        middle = skipped_from + (found - skipped_from) / 2
        if middle.astimezone(zone).date() < day:
            skipped_from = middle
        else:
            found = middle
    return found


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        # The first or the last day of the calendar, shifted out of it by the zone.
        return moment.replace(tzinfo=UTC)


class _Comparison(lookups.Lookup):
    """A comparison that becomes ranges of ids."""

    lhs: Any

    def get_prep_lookup(self) -> Any:
        if self.rhs is None:
            return None
        members = self.rhs if isinstance(self.rhs, list | tuple) else [self.rhs]
        if any(hasattr(member, "resolve_expression") for member in members):
            self.lhs.as_sql()
        self.lhs.scheme  # noqa: B018 - refuses ids without time before anything is run
        return tuple(self.bounds(self.rhs))

    def bounds(self, value: Any) -> Iterable[tuple[Bound, Bound] | None]:
        """The spans of time that match."""
        raise NotImplementedError

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        ranges = [self.lhs.scheme.number_range(*span) for span in self.rhs if span is not None]
        clauses = [self._clause(found, compiler, connection) for found in ranges if found]
        if not clauses:
            raise EmptyResultSet
        sql = " OR ".join(sql for sql, _ in clauses)
        params = [param for _, params in clauses for param in params]
        return (f"({sql})" if len(clauses) > 1 else sql), params

    def _clause(
        self, found: tuple[int, int], compiler: Any, connection: Any
    ) -> tuple[str, list[Any]]:
        column = self.lhs.id_column
        whole = self.lhs.scheme.whole_range
        stored = column.output_field.stored(connection)
        conditions: list[str] = []
        params: list[Any] = []
        sql, column_params = compiler.compile(column)
        for operator, number, end in zip((">=", "<="), found, whole, strict=True):
            # A bound at the end of the scheme would only look for ids that can't be.
            if number != end:
                conditions.append(f"{sql} {operator} %s")
                params += [*column_params, stored.to_db(number, connection)]
        if not conditions:
            return f"{sql} IS NOT NULL", [*column_params]
        return f"({' AND '.join(conditions)})", params


class Exact(_Comparison):
    lookup_name = "exact"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        yield self.lhs.span(value)


class In(_Comparison):
    lookup_name = "in"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound] | None]:
        # None is a member that matches nothing; from Django 6.1, exclude() looks for it.
        yield from (None if member is None else self.lhs.span(member) for member in value)


class GreaterThan(_Comparison):
    lookup_name = "gt"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        _, end = self.lhs.span(value)
        if end is not None:
            yield end, None


class GreaterThanOrEqual(_Comparison):
    lookup_name = "gte"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        start, _ = self.lhs.span(value)
        yield start, None


class LessThan(_Comparison):
    lookup_name = "lt"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        start, _ = self.lhs.span(value)
        yield None, start


class LessThanOrEqual(_Comparison):
    lookup_name = "lte"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        _, end = self.lhs.span(value)
        yield None, end


class Range(_Comparison):
    lookup_name = "range"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        first, last = value
        yield self.lhs.span(first)[0], self.lhs.span(last)[1]


class IsNull(lookups.IsNull):
    """Whether there is an id at all."""

    def process_lhs(self, compiler: Any, connection: Any, lhs: Any = None) -> Any:
        return super().process_lhs(compiler, connection, lhs or self.lhs.id_column)


def register() -> None:
    """Make every lookup of this module one of ``SortableIDField``'s."""
    SortableIDField.register_lookup(CreatedAt)
    CreatedAt.register_lookup(CreatedAtDate)
    CreatedAt.register_lookup(CreatedAtYear)
    comparisons = (Exact, In, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, Range)
    for transform in (CreatedAt, CreatedAtDate, CreatedAtYear):
        for lookup in (*comparisons, IsNull):
            transform.register_lookup(lookup)
