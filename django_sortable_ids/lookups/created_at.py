"""``id__created_at``: filters by creation time, as ranges of ids, which use the id's index.

Each value to compare with stands for a span of time, with its start and without its end: a moment
lasts 1 us; a date lasts a day and a year lasts a year in the current time zone. Every comparison is
a pair of such bounds. It becomes a range from the first to the last id between the bounds.
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
"""Start and end (excluded) of the time that a value stands for."""


class CreatedAtDate(TruncDate):
    """The creation date of an id in the current time zone."""


class CreatedAtYear(ExtractYear):
    """The creation year of an id in the current time zone."""


class CreatedAtISOYear(ExtractIsoYear):
    """The year of the ISO 8601 week of an id's creation in the current time zone."""


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
    """The start of a day; if the clock is put forward over midnight, the moment of the change."""
    zone: tzinfo = (
        timezone.get_current_timezone() if settings.USE_TZ else timezone.get_default_timezone()
    )
    local = datetime.combine(day, time.min, tzinfo=zone)
    start, day_before = _in_utc(local), _in_utc(local.replace(fold=1))
    while start - day_before > _MICROSECOND:
        middle = day_before + (start - day_before) / 2
        if middle.astimezone(zone).date() < day:
            day_before = middle
        else:
            start = middle
    return start


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        # The time zone shifts the first or the last day of the calendar out of range.
        return moment.replace(tzinfo=UTC)


class _Comparison(lookups.Lookup):
    """A comparison with constants becomes id ranges; one with expressions decodes the id."""

    lhs: Any
    decoding: type[lookups.Lookup]
    """The lookup that compares the decoded time."""

    def get_prep_lookup(self) -> Any:
        self.created_at.scheme  # noqa: B018 - raises for ids without a time, before any query
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
        ranges = [numbers for numbers in spans if numbers]
        if isinstance(self.created_at.lhs, models.Value):
            return self._of_value(self.created_at.lhs.value, ranges)
        clauses = [self._clause(numbers, compiler, connection) for numbers in ranges]
        if not clauses:
            raise EmptyResultSet
        sql = " OR ".join(sql for sql, _ in clauses)
        params = [param for _, params in clauses for param in params]
        return (f"({sql})" if len(clauses) > 1 else sql), params

    def _of_value(self, value: Any, ranges: list[tuple[int, int]]) -> Any:
        """The result for a value in place of a column, as in the validation of a constraint.

        The database would not compare it with the column's collation.
        """
        scheme = self.created_at.scheme
        if value is None or not scheme.carries_time(value):
            return "NULL", []
        number = scheme.to_int(value)
        within = any(low <= number <= high for low, high in ranges)
        raise FullResultSet if within else EmptyResultSet

    def _clause(self, numbers: tuple[int, int], compiler: Any, connection: Any) -> Any:
        """SQL for the ids from the first to the last number, and its parameters."""
        column, field = self.created_at.lhs, self.created_at.id_field
        sql, column_params = compiler.compile(column)
        conditions: list[str] = []
        params: list[Any] = []
        for operator, number in self._needed_bounds(numbers, connection):
            place, operand = self._operand(number, connection)
            conditions.append(f"{sql} {operator} {place}")
            params += [*column_params, *operand]
        if field.accept_other_versions:
            # UUIDs of other versions carry no time, but sort among the others.
            version, its_params = compiler.compile(is_of_version(column, field, connection))
            conditions.append(version)
            params += its_params
        if not conditions:
            return f"{sql} IS NOT NULL", [*column_params]
        return f"({' AND '.join(conditions)})", params

    def _needed_bounds(
        self, numbers: tuple[int, int], connection: Any
    ) -> Iterator[tuple[str, int]]:
        """The bounds, except those at an end of the scheme, outside of which there are no ids.

        A bound of 0 stays in a signed column, where other programs may have written negative ones.
        """
        stored = self.created_at.id_field.stored(connection)
        signed = isinstance(stored, IntegerStorage) and stored.unsigned
        for operator, number, end in zip(
            (">=", "<="), numbers, self.created_at.scheme.whole_range, strict=True
        ):
            if number != end or (signed and number == 0):
                yield operator, number

    def _operand(self, number: int, connection: Any) -> tuple[str, list[Any]]:
        """A number in SQL, and its parameter."""
        stored = self.created_at.id_field.stored(connection)
        if connection.vendor == "mysql":
            # Django can't write bytes into a CHECK constraint of MariaDB and MySQL.
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
        # A None in the list matches nothing; from Django 6.1, exclude() checks for it.
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
    """Whether the id is NULL or carries no time."""

    def process_lhs(self, compiler: Any, connection: Any, lhs: Any = None) -> Any:
        created_at = _created_at(self.lhs)
        decoded = created_at.id_field.accept_other_versions
        return super().process_lhs(compiler, connection, created_at if decoded else created_at.lhs)


def _created_at(lhs: Any) -> CreatedAt:
    """The transform that decodes the id, inside calendar transforms such as the date."""
    while not isinstance(lhs, CreatedAt):
        lhs = lhs.lhs
    return lhs


def register() -> None:
    """Register every lookup of this module with ``SortableIDField``."""
    SortableIDField.register_lookup(CreatedAt)
    comparisons = (Exact, In, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, Range)
    for transform in _SPANS:
        if transform is not CreatedAt:
            CreatedAt.register_lookup(transform)
        for lookup in (*comparisons, IsNull):
            transform.register_lookup(lookup)
