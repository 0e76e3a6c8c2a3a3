"""``id__created_at``: filters by creation time, as ranges of ids, which use the id's index.

Each value to compare with stands for a span of time, with its start and without its end: a moment
lasts 1 us; a date lasts a day and a year lasts a year in the current time zone. Every comparison is
a pair of such bounds. It becomes a range from the first to the last id between the bounds.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.core.exceptions import EmptyResultSet, FullResultSet
from django.db import models
from django.db.models import lookups
from django.db.models.functions import ExtractYear, TruncDate

from ..fields import SortableIDField
from ..fields.times import MICROSECOND, first_moment, in_utc
from ..functions import CreatedAt
from ..functions.ticks import is_of_version

Bound = datetime | None
"""Aware; None is unbounded."""
Bounds = tuple[Bound, Bound]

_LAST = datetime.max.replace(tzinfo=UTC)


Span = tuple[datetime, Bound]
"""Start and end (excluded) of the time that a value stands for."""


class CreatedAtDate(TruncDate):
    """The creation date of an id in the current time zone."""


class CreatedAtYear(ExtractYear):
    """The creation year of an id in the current time zone."""


def _span_of_moment(value: Any) -> Span:
    moment = in_utc(models.DateTimeField().get_prep_value(value))
    return moment, None if moment == _LAST else moment + MICROSECOND


def _span_of_date(value: Any) -> Span:
    day = models.DateField().get_prep_value(value)
    return first_moment(day), None if day == date.max else first_moment(day + timedelta(days=1))


def _span_of_year(value: Any) -> Span:
    year = models.IntegerField().get_prep_value(value)
    end = None if year == date.max.year else first_moment(date(year + 1, 1, 1))
    return first_moment(date(year, 1, 1)), end


_SPANS: Mapping[type[models.Transform], Callable[[Any], Span]] = {
    CreatedAt: _span_of_moment,
    CreatedAtDate: _span_of_date,
    CreatedAtYear: _span_of_year,
}


class _Comparison(lookups.Lookup):
    """A comparison with constants becomes id ranges; one with expressions decodes the id."""

    lhs: Any
    decoding: type[lookups.Lookup]
    """The lookup that compares the decoded time."""
    of_spans: Callable[[Sequence[Span]], Sequence[Bounds]]

    def get_prep_lookup(self) -> Any:
        self.created_at.scheme  # noqa: B018 - raises for ids without a time, before any query
        if self.rhs is None or self._has_expressions:
            return self.rhs
        takes_list = self.decoding in (lookups.In, lookups.Range)
        # A None in the list matches nothing; from Django 6.1, exclude() checks for it.
        values = [each for each in self.rhs if each is not None] if takes_list else [self.rhs]
        self.ranges = type(self).of_spans([_SPANS[type(self.lhs)](value) for value in values])
        return self.rhs

    @property
    def created_at(self) -> CreatedAt:
        return _created_at(self.lhs)

    @property
    def _has_expressions(self) -> bool:
        members = self.rhs if isinstance(self.rhs, list | tuple | set | frozenset) else [self.rhs]
        return any(hasattr(member, "resolve_expression") for member in members)

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        scheme = self.created_at.scheme
        if self._has_expressions:
            return compiler.compile(self.decoding(self.lhs, self.rhs))
        ranges = [numbers for each in self.ranges if (numbers := scheme.number_range(*each))]
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
        stored, ends = field.stored(connection), self.created_at.scheme.whole_range
        for operator, number, end in zip((">=", "<="), numbers, ends, strict=True):
            if number == end:
                continue  # there are no ids outside of it
            if connection.vendor == "mysql":
                # Django can't write bytes into a CHECK constraint of MariaDB and MySQL.
                place, operand = stored.literal(number, connection), []
            else:
                place, operand = "%s", [stored.to_db(number, connection)]
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


def _comparison(
    decoding: type[lookups.Lookup], ranges: Callable[[Sequence[Span]], Sequence[Bounds]]
) -> type[_Comparison]:
    """The lookup whose values have these ranges, from the spans that they stand for."""
    attributes = {"lookup_name": decoding.lookup_name, "decoding": decoding, "of_spans": ranges}
    return type(decoding.__name__, (_Comparison,), attributes)


Exact = _comparison(lookups.Exact, lambda spans: spans)
In = _comparison(lookups.In, lambda spans: spans)
GreaterThan = _comparison(
    lookups.GreaterThan, lambda spans: [(end, None) for _, end in spans if end is not None]
)
GreaterThanOrEqual = _comparison(
    lookups.GreaterThanOrEqual, lambda spans: [(start, None) for start, _ in spans]
)
LessThan = _comparison(lookups.LessThan, lambda spans: [(None, start) for start, _ in spans])
LessThanOrEqual = _comparison(
    lookups.LessThanOrEqual, lambda spans: [(None, end) for _, end in spans]
)
Range = _comparison(lookups.Range, lambda spans: [(spans[0][0], spans[1][1])])


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
