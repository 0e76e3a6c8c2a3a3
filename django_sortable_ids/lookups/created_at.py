"""``id__created_at``: filters by creation time, as ranges on the id and so on its index.

Each value to compare with stands for a span of time, its start included and its end not: a moment
lasts 1 us, a date lasts a day and a year a year in the current time zone. Every comparison is a
pair of bounds made of these, and the bounds are turned into the first and the last id between them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from django.conf import settings
from django.core.exceptions import EmptyResultSet, FullResultSet
from django.db import models
from django.db.models import lookups
from django.db.models.functions import ExtractIsoYear, ExtractYear, TruncDate
from django.utils import timezone

from ..fields import SortableIDField
from ..fields.storage import IntegerStorage
from ..functions import CreatedAt
from ..functions.ticks import is_of_version

Bound = datetime | None
"""Aware; None is unbounded."""

_MICROSECOND = timedelta(microseconds=1)
_LAST = datetime.max.replace(tzinfo=UTC)


Span = tuple[datetime, Bound]
"""Start and end of the time that a value stands for."""


class CreatedAtDate(TruncDate):
    """The date of an id in the current time zone."""


class CreatedAtYear(ExtractYear):
    """The year of an id in the current time zone."""


class CreatedAtISOYear(ExtractIsoYear):
    """The year of the ISO 8601 week of an id in the current time zone."""


def _span_of_moment(value: Any) -> Span:
    moment = models.DateTimeField().get_prep_value(value)
    if timezone.is_naive(moment):
        moment = timezone.make_aware(moment, timezone.get_default_timezone())
    moment = _in_utc(moment)
    return moment, None if moment == _LAST else moment + _MICROSECOND


def _span_of_date(value: Any) -> Span:
    day = models.DateField().get_prep_value(value)
    return _midnight(day), None if day == date.max else _midnight(day + timedelta(days=1))


def _span_of_year(value: Any) -> Span:
    year = models.IntegerField().get_prep_value(value)
    end = None if year == date.max.year else _midnight(date(year + 1, 1, 1))
    return _midnight(date(year, 1, 1)), end


def _span_of_iso_year(value: Any) -> Span:
    year = models.IntegerField().get_prep_value(value)
    end = None
    if year < date.max.year:
        end = _midnight(date.fromisocalendar(year + 1, 1, 1))
    return _midnight(date.fromisocalendar(year, 1, 1)), end


_SPANS: Mapping[type[models.Transform], Callable[[Any], Span]] = {
    CreatedAt: _span_of_moment,
    CreatedAtDate: _span_of_date,
    CreatedAtYear: _span_of_year,
    CreatedAtISOYear: _span_of_iso_year,
}


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
    """A comparison with constants becomes ranges of ids; one with expressions decodes the id."""

    lhs: Any
    decoding: type[lookups.Lookup]
    """What compares the decoded time."""

    def get_prep_lookup(self) -> Any:
        self.created_at.scheme  # noqa: B018 - refuses ids without time before anything is run
        if self.rhs is None or self._has_expressions:
            return self.rhs
        self.ranges = tuple(self.bounds(self.rhs))
        return self.rhs

    @property
    def created_at(self) -> CreatedAt:
        return _created_at(self.lhs)

    @property
    def _has_expressions(self) -> bool:
        members = self.rhs if isinstance(self.rhs, list | tuple | set | frozenset) else [self.rhs]
        return any(hasattr(member, "resolve_expression") for member in members)

    def span(self, value: Any) -> Span:
        return _SPANS[type(self.lhs)](value)

    def bounds(self, value: Any) -> Iterable[tuple[Bound, Bound] | None]:
        """The spans of time that match."""
        raise NotImplementedError

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        if self._has_expressions:
            return compiler.compile(self.decoding(self.lhs, self.rhs))
        scheme = self.created_at.scheme
        spans = [scheme.number_range(*span) for span in self.ranges if span is not None]
        ranges = [found for found in spans if found]
        if isinstance(self.created_at.lhs, models.Value):
            return self._of_value(self.created_at.lhs.value, ranges)
        clauses = [self._clause(found, compiler, connection) for found in ranges]
        if not clauses:
            raise EmptyResultSet
        sql = " OR ".join(sql for sql, _ in clauses)
        params = [param for _, params in clauses for param in params]
        return (f"({sql})" if len(clauses) > 1 else sql), params

    def _of_value(self, value: Any, ranges: list[tuple[int, int]]) -> Any:
        """The answer for a value in place of a column, as in the validation of a constraint.

        The database would compare it by a collation that isn't the column's.
        """
        scheme = self.created_at.scheme
        if value is None or not scheme.carries_time(value):
            return "NULL", []
        number = scheme.to_int(value)
        within = any(low <= number <= high for low, high in ranges)
        raise FullResultSet if within else EmptyResultSet

    def _clause(self, found: tuple[int, int], compiler: Any, connection: Any) -> Any:
        """SQL for the ids from the first to the last number, and its parameters."""
        column, field = self.created_at.lhs, self.created_at.id_field
        sql, column_params = compiler.compile(column)
        conditions: list[str] = []
        params: list[Any] = []
        for operator, number in self._needed_bounds(found, connection):
            place, operand = self._operand(number, connection)
            conditions.append(f"{sql} {operator} {place}")
            params += [*column_params, *operand]
        if field.accept_other_versions:
            # They carry no time, but stand among the others.
            version, its_params = compiler.compile(is_of_version(column, field, connection))
            conditions.append(version)
            params += its_params
        if not conditions:
            return f"{sql} IS NOT NULL", [*column_params]
        return f"({' AND '.join(conditions)})", params

    def _needed_bounds(self, found: tuple[int, int], connection: Any) -> Iterator[tuple[str, int]]:
        """The bounds but those at an end of the scheme, beyond which there are no ids.

        In a signed column there are: negative numbers, which other programs wrote.
        """
        stored = self.created_at.id_field.stored(connection)
        signed = isinstance(stored, IntegerStorage) and stored.unsigned
        for operator, number, end in zip(
            (">=", "<="), found, self.created_at.scheme.whole_range, strict=True
        ):
            if number != end or (signed and number == 0):
                yield operator, number

    def _operand(self, number: int, connection: Any) -> tuple[str, list[Any]]:
        """A number in SQL, and its parameter."""
        stored = self.created_at.id_field.stored(connection)
        if connection.vendor == "mysql":
            # Django can't write bytes into a CHECK of MariaDB and MySQL.
            return stored.literal(number, connection), []
        return "%s", [stored.operand(number, connection)]


class Exact(_Comparison):
    decoding = lookups.Exact
    lookup_name = "exact"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        yield self.span(value)


class In(_Comparison):
    decoding = lookups.In
    lookup_name = "in"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound] | None]:
        # None is a member that matches nothing; from Django 6.1, exclude() looks for it.
        yield from (None if member is None else self.span(member) for member in value)


class GreaterThan(_Comparison):
    decoding = lookups.GreaterThan
    lookup_name = "gt"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        _, end = self.span(value)
        if end is not None:
            yield end, None


class GreaterThanOrEqual(_Comparison):
    decoding = lookups.GreaterThanOrEqual
    lookup_name = "gte"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        start, _ = self.span(value)
        yield start, None


class LessThan(_Comparison):
    decoding = lookups.LessThan
    lookup_name = "lt"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        start, _ = self.span(value)
        yield None, start


class LessThanOrEqual(_Comparison):
    decoding = lookups.LessThanOrEqual
    lookup_name = "lte"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        _, end = self.span(value)
        yield None, end


class Range(_Comparison):
    decoding = lookups.Range
    lookup_name = "range"

    def bounds(self, value: Any) -> Iterator[tuple[Bound, Bound]]:
        first, last = value
        yield self.span(first)[0], self.span(last)[1]


class IsNull(lookups.IsNull):
    """Whether there is an id at all, or none that carries a time."""

    def process_lhs(self, compiler: Any, connection: Any, lhs: Any = None) -> Any:
        created_at = _created_at(self.lhs)
        decoded = created_at.id_field.accept_other_versions
        return super().process_lhs(compiler, connection, created_at if decoded else created_at.lhs)


def _created_at(lhs: Any) -> CreatedAt:
    """The transform that decodes the id, behind those of the calendar."""
    while not isinstance(lhs, CreatedAt):
        lhs = lhs.lhs
    return lhs


def register() -> None:
    """Make every lookup of this module one of ``SortableIDField``'s."""
    SortableIDField.register_lookup(CreatedAt)
    comparisons = (Exact, In, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, Range)
    for transform in _SPANS:
        if transform is not CreatedAt:
            CreatedAt.register_lookup(transform)
        for lookup in (*comparisons, IsNull):
            transform.register_lookup(lookup)
