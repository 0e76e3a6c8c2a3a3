"""What the database tells of ids: the creation time, the first and the last id; and
``id__created_at``, which filters by creation time.

Each compared value stands for an interval, end excluded: a moment lasts 1 us; a date lasts a day
and a year lasts a year in the current time zone. Every comparison makes other intervals of these.
Each becomes a range from its first to its last id, which uses the id's index. The lookups are
registered when this module is imported.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

from django.core.exceptions import EmptyResultSet, FieldError, FullResultSet
from django.db import models
from django.db.models import Aggregate, DateTimeField, Max, Min, Transform, Window, lookups
from django.db.models.expressions import Expression, Ref
from django.db.models.functions import ExtractYear, TruncDate

from ..fields import SortableIDField
from ..fields.of_model import referenced_column
from ..fields.storage import BinaryStorage, TextStorage, UUIDStorage
from ..fields.times import first_moment, in_utc
from ..schemes import TimeScheme
from ..schemes.clock_and_randomness import MICROSECOND, unix_ns
from ..schemes.errors import described
from .fragments import SQL, Compiled, SQLCondition, SQLText
from .texts import id_field
from .ticks import MomentOfTick, is_of_version, postgresql_value, tick_of

_LAST_DAY = datetime(9999, 12, 31, tzinfo=UTC)


class CreatedAt(Transform):
    """An id's creation time, a ``DateTimeField``: ``CreatedAt("id")``, ``CreatedAt("order__id")``.

    Floored to the scheme's tick and to the microsecond, like ``Scheme.created_at``. NULL for NULL,
    for ids of years after 9999, for UUIDs of other versions that the field accepts, and for texts
    and bytes that are no ids. A comparison with a constant, as in
    ``filter(id__created_at__gte=...)``, compares the id itself and uses its index. Everywhere else
    the database decodes the id of each row.

    Raises ``FieldError`` if the expression is not an id with a time, ``NotSupportedError`` if the
    database can't decode the column: text in base 62 or 36.
    """

    lookup_name = "created_at"
    output_field = DateTimeField()
    lhs: Any

    @property
    def id_field(self) -> SortableIDField:
        """The field of the column; for a relation, the field of the key that it points to."""
        field = referenced_column(self.lhs.output_field)
        if not isinstance(field, SortableIDField):
            raise FieldError(f"CreatedAt() takes a sortable id, found {field or self.lhs}")
        return field

    @property
    def scheme(self) -> TimeScheme:
        """The scheme of the ids; ``FieldError`` if they carry no time."""
        scheme = self.id_field.scheme
        if not isinstance(scheme, TimeScheme):
            raise FieldError(
                f"{self.id_field} is of the scheme {scheme.title}: its ids carry no time"
            )
        return scheme

    def as_sql(self, compiler: Any, connection: Any, **extra: Any) -> Compiled:  # type: ignore[override]
        scheme, field = self.scheme, self.id_field
        if (
            connection.vendor == "postgresql"
            and connection.pg_version >= 180000
            and scheme.is_uuid7
            and isinstance(field.stored(connection), UUIDStorage)
        ):  # several times as fast
            sql = postgresql_value("uuid_extract_timestamp({0})", connection)
            decoded: Expression = SQL(sql, self.lhs, output_field=DateTimeField())
        else:
            decoded = MomentOfTick(
                tick_of(self.lhs, field, connection),
                epoch_us=scheme.epoch_ns // 1000,
                tick_ns=scheme.tick_ns,
            )
        # A check of the id itself is cheaper than one of its time, and precedes any overflow.
        for condition in self._conditions(connection):
            sql = "CASE WHEN {0} THEN {1} END"
            decoded = SQL(sql, condition, decoded, output_field=DateTimeField())
        compiled: Compiled = compiler.compile(decoded)
        return compiled

    def _conditions(self, connection: Any) -> Iterator[Expression]:
        """Conditions of a time that fits a ``datetime``, the last one first; none if each value
        that the column can have is an id with such a time."""
        scheme, field = self.scheme, self.id_field
        if field.accept_other_versions:
            yield is_of_version(self.lhs, field, connection)
        if scheme.latest >= _LAST_DAY:
            # In a time zone east of UTC, the year 10000 starts earlier.
            margin = timedelta(0 if connection.timezone_name == "UTC" else 1)
            # The last tick that starts within the last microsecond.
            last = (unix_ns(scheme.latest - margin) + 999 - scheme.epoch_ns) // scheme.tick_ns
            layout = scheme.layout
            oldest, newest = layout.between(layout.first_tick, min(last, layout.last_tick))
            operator, bound = (">=", oldest) if scheme.descending else ("<=", newest)
            literal = field.stored(connection).literal(bound, connection)
            yield SQLCondition(f"{{0}} {operator} {{literal}}", self.lhs, literal=literal)
        has_length = "length({0}) = {length}"
        match stored := field.stored(connection):
            case TextStorage():
                form = stored.form
                alphabet = getattr(form, "alphabet", "0123456789abcdef-")  # or that of a UUID
                # In a set of characters, a hyphen that is not the last one is a range.
                characters = "".join(sorted(alphabet, key="-".__eq__))
                yield SQLCondition(
                    f"({has_length} AND trim({{0}}, '{{characters}}') = '')",
                    self.lhs,
                    postgresql=f"({has_length} AND {{0}} !~ '[^{{characters}}]')",
                    mysql="(CONVERT({0} USING utf8mb4) REGEXP '(?-i)^({pattern})$')",
                    length=form.length,
                    characters=characters,
                    pattern=form.pattern,
                )
            case BinaryStorage():
                yield SQLCondition(has_length, self.lhs, length=stored.length)
            case UUIDStorage() if not connection.features.has_native_uuid_field:
                yield SQLCondition(has_length, self.lhs, length=32)


# Lookups

Interval = tuple[datetime | None, datetime | None]
"""Start and end (excluded), aware; None is unbounded."""

_LAST = datetime.max.replace(tzinfo=UTC)
_MOST_ALTERNATIVES = 100
"""The most in one pair of parentheses: SQLite limits the depth of expressions to 1,000."""


class CreatedAtDate(TruncDate):
    """The creation date of an id in the current time zone."""


class CreatedAtYear(ExtractYear):
    """The creation year of an id in the current time zone."""


def _of_moment(value: Any, field: SortableIDField) -> Interval:
    column: Any = DateTimeField(name=f"{field.name}__created_at")
    column.model = getattr(field, "model", None)  # Django's warning of a naive time names both
    moment = in_utc(column.get_prep_value(value))
    return moment, None if moment == _LAST else moment + MICROSECOND


def _of_date(value: Any) -> Interval:
    day = models.DateField().get_prep_value(value)
    return first_moment(day), None if day == date.max else first_moment(day + timedelta(days=1))


def _of_year(value: Any) -> Interval:
    year = models.IntegerField().get_prep_value(value)
    end = None if year == date.max.year else first_moment(date(year + 1, 1, 1))
    return first_moment(date(year, 1, 1)), end


_OF_CALENDAR: Mapping[type[models.Transform], Callable[[Any], Interval]] = {
    CreatedAtDate: _of_date,
    CreatedAtYear: _of_year,
}


class _OfCreatedAt(lookups.Lookup):
    lhs: Any

    @property
    def created_at(self) -> CreatedAt:
        """The transform that decodes the id, inside calendar transforms such as the date."""
        transform: Any = self.lhs
        while not isinstance(transform, CreatedAt):
            transform = transform.get_source_expressions()[0]
        return transform


class _Comparison(_OfCreatedAt):
    """A comparison with constants becomes id ranges; any other one decodes the id."""

    decoding: type[lookups.Lookup]
    """The lookup that compares the decoded time."""
    matching: Callable[[Sequence[Interval]], Sequence[Interval]]
    """The intervals of the times that match, from those that the values stand for."""

    def get_prep_lookup(self) -> Any:
        self.created_at.scheme  # noqa: B018 - raises for ids without a time, before any query
        if self.rhs is None or self._decodes:
            return self.rhs
        takes_list = self.decoding in (lookups.In, lookups.Range)
        # A None in the list matches nothing; from Django 6.1, exclude() checks for it.
        values = [value for value in self.rhs if value is not None] if takes_list else [self.rhs]
        field = self.created_at.id_field
        if self.decoding is lookups.Range and len(values) != 2:
            raise TypeError(f"{field}: expected two times, found {described(self.rhs)}")
        interval = _OF_CALENDAR.get(type(self.lhs)) or partial(_of_moment, field=field)
        self.intervals = type(self).matching(list(map(interval, values)))
        return self.rhs

    @property
    def _decodes(self) -> bool:
        """Whether the id is decoded: for an expression, an end that is NULL, or in a query of
        windows, where the time is a column of a subquery."""
        values = self.rhs if isinstance(self.rhs, list | tuple | set | frozenset) else [self.rhs]
        if isinstance(self.lhs, Ref) or (self.decoding is lookups.Range and None in values):
            return True
        return any(hasattr(value, "resolve_expression") for value in values)

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        scheme = self.created_at.scheme
        if self._decodes:
            return compiler.compile(self.decoding(self.lhs, self.rhs))
        ranges = [numbers for span in self.intervals if (numbers := scheme.number_range(*span))]
        if isinstance(self.created_at.lhs, models.Value):
            # In place of a column, as where a constraint is validated: the database would not
            # compare it with the column's collation.
            value = self.created_at.lhs.value
            if value is None or not scheme.carries_time(value):
                return "NULL", []
            number = scheme.to_int(value)
            within = any(low <= number <= high for low, high in ranges)
            raise FullResultSet if within else EmptyResultSet
        clauses = [self._clause(numbers, compiler, connection) for numbers in ranges]
        if not clauses:
            raise EmptyResultSet
        alternatives, most = [sql for sql, _ in clauses], _MOST_ALTERNATIVES
        while len(alternatives) > 1:
            starts = range(0, len(alternatives), most)
            alternatives = [f"({' OR '.join(alternatives[n : n + most])})" for n in starts]
        return alternatives[0], [param for _, params in clauses for param in params]

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
    decoding: type[lookups.Lookup],
    matching: Callable[[Sequence[Interval]], Sequence[Interval]] = lambda spans: spans,
) -> type[_Comparison]:
    """The lookup in the place of a lookup of times."""
    attributes = {"lookup_name": decoding.lookup_name, "decoding": decoding, "matching": matching}
    return type(decoding.__name__, (_Comparison,), attributes)


Exact, In = _comparison(lookups.Exact), _comparison(lookups.In)
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


class IsNull(_OfCreatedAt, lookups.IsNull):
    """Whether the id is NULL or carries no time."""

    def process_lhs(self, compiler: Any, connection: Any, lhs: Any = None) -> Any:
        if not isinstance(self.lhs, Ref) and not self.created_at.id_field.accept_other_versions:
            lhs = self.created_at.lhs
        return super().process_lhs(compiler, connection, lhs)


CreatedAt.register_lookup(CreatedAtDate)
CreatedAt.register_lookup(CreatedAtYear)
_COMPARISONS = (Exact, In, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, Range)
for _lookup in (*_COMPARISONS, IsNull):
    for _transform in (CreatedAt, CreatedAtDate, CreatedAtYear):
        _transform.register_lookup(_lookup)


# Min and Max

_CASTS: dict[type, tuple[str, str]] = {
    UUIDStorage: ("({0})::text", "({})::uuid"),
    BinaryStorage: ("encode({0}, 'hex')", "decode({}, 'hex')"),
}
"""SQL from a column to a text that sorts like it, and back."""


def as_postgresql(aggregate: Aggregate, compiler: Any, connection: Any, **extra: Any) -> Compiled:
    """The SQL of the aggregate; for an id of type ``uuid`` or ``bytea``, of the id's text."""
    of_text, from_text = _of_text(aggregate, connection)
    sql, params = of_text.as_sql(compiler, connection, **extra)
    return from_text.format(sql), params


def window_as_postgresql(window: Window, compiler: Any, connection: Any) -> Compiled:
    """``as_postgresql`` for the aggregate of a window: OVER must follow it immediately."""
    source, *rest = window.get_source_expressions()
    if not isinstance(source, Min | Max):
        return window.as_sql(compiler, connection)
    of_text, from_text = _of_text(source, connection)
    window_of_text = window.copy()
    window_of_text.set_source_expressions([of_text, *rest])
    sql, params = window_of_text.as_sql(compiler, connection)
    return from_text.format(sql), params


def _of_text(aggregate: Aggregate, connection: Any) -> tuple[Aggregate, str]:
    """The aggregate of the id's text, and SQL from that text to the id; for other expressions, and
    where the database has the aggregate, the aggregate itself."""
    column, *rest = aggregate.get_source_expressions()
    field = id_field(column)
    stored = field and field.stored(connection)
    casts = _CASTS.get(type(stored))
    # PostgreSQL 18 has min(bytea).
    if casts is None or (isinstance(stored, BinaryStorage) and connection.pg_version >= 180_000):
        return aggregate, "{}"
    to_text, from_text = casts
    of_text = aggregate.copy()
    of_text.set_source_expressions([SQLText(f'{to_text} COLLATE "C"', column), *rest])
    return of_text, from_text
