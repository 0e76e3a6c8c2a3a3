"""How many rows of a queryset were created in each of several spans.

One statement has a sub-select for each span, which counts a range of ids: no row is read, and no
time is decoded.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet, FieldError
from django.db import connections, models
from django.db.models import Expression, F, Field, Func, QuerySet, Value
from django.db.models.constants import LOOKUP_SEP
from django.db.models.lookups import GreaterThanOrEqual, LessThanOrEqual
from django.db.models.sql.where import AND

from ..db.counting import Count, Select, estimated_rows, fewest_expected_rows, scalars
from ..fields import SortableIDField
from ..fields.of_model import field_at, id_at, id_fields
from ..fields.storage import Storage, TextStorage
from ..fields.times import first_moment_when
from ..schemes import TimeScheme
from ..schemes.clock_and_randomness import MICROSECOND
from ..schemes.support import nearest

_SHARE = 0.8
"""The share of the time for the exact counts. The rest is for counts up to a limit."""
_ROWS = 200_000
"""How many rows are counted, in all spans, if there are too many for the exact counts."""
_MOST_PARAMS = 30_000
"""The most parameters of one statement; SQLite's limit is 32,766 or more."""
_ROW = "sortable_ids_row"


class Span(NamedTuple):
    """Start and end (excluded), in UTC."""

    start: datetime
    end: datetime


class TookTooLong(Exception):
    """The look-ups took longer than allowed: no index has the order of the rows."""


class TimedColumn(NamedTuple):
    """A sortable id whose index has the order of time."""

    path: str
    """The path from the model to the id itself: ``"order__id"`` for ``"order"``."""
    field: SortableIDField
    scheme: TimeScheme


def timed_column(model: type[models.Model], path: str, *, may_repeat: bool = False) -> TimedColumn:
    """The id at the end of a lookup path.

    Raises ``FieldError`` if it is no sortable id, if its ids carry no time, and, unless
    ``may_repeat``, if the path leads from one row to many.
    """
    field = id_at(model, path)
    name = f"{path!r} of {model._meta.label}"
    if field is None:
        suggested = nearest(path, [candidate.name for candidate in id_fields(model)])
        raise FieldError(f"{name} is no sortable id, and no relation to one{suggested}")
    scheme = field.scheme
    if not isinstance(scheme, TimeScheme):
        raise FieldError(f"{name} is of the scheme {scheme.title}: its ids carry no time")
    parts = [] if may_repeat else path.split(LOOKUP_SEP)
    for length in range(1, len(parts) + 1):
        step = field_at(model, LOOKUP_SEP.join(parts[:length]))
        if step.many_to_many or step.one_to_many:
            raise FieldError(f"{name} leads from a row to several: it would be counted repeatedly")
    end = field_at(model, path)
    while end.related_model is not None:
        end = end.target_field
        path = f"{path}{LOOKUP_SEP}{end.name}"
    return TimedColumn(path, field, scheme)


def ends(
    queryset: QuerySet[Any],
    column: TimedColumn,
    start: datetime | None,
    end: datetime | None,
    seconds: float | None,
) -> tuple[datetime, datetime] | None:
    """When the first and the last row from ``start`` to ``end`` (excluded) were created, in UTC;
    None if there is no row. It takes two look-ups in the id's index.

    None as a bound means unbounded. Ids after the year 9999 are left out. Raises ``TookTooLong``
    after ``seconds``; None means no limit.
    """
    within = {f"{column.path}__created_at__gte": start} if start else {}
    if end is None:
        within[f"{column.path}__created_at__lte"] = column.scheme.latest
    else:
        within[f"{column.path}__created_at__lt"] = end
    rows = filtered_first(_without_windows(queryset), **within)
    selects = []
    try:
        for order in (column.path, f"-{column.path}"):
            first = rows.order_by(order).values(column.path)[:1]
            selects.append(Select(*first.query.get_compiler(using=rows.db).as_sql()))
    except EmptyResultSet:
        return None
    values = scalars(queryset.db, selects, seconds)
    if values is None:
        raise TookTooLong
    if values[0] is None:
        return None
    stored = column.field.stored(connections[queryset.db])
    times = [_time(column.scheme, stored, value) for value in values]
    return min(times), max(times)


def _time(scheme: TimeScheme, stored: Storage, value: Any) -> datetime:
    """The time of a stored id; for a UUID of another version or a malformed text, the time of its
    neighbours in the order."""
    with suppress(ValueError):
        return scheme.created_at(scheme.from_trusted(stored.from_db(value)))
    comparable: Any = stored.form.format if isinstance(stored, TextStorage) else int
    read = stored.from_db(value) if comparable is int else value

    def is_after(at: datetime) -> bool:
        numbers = scheme.number_range(at, None)
        return numbers is None or not comparable(numbers[0]) <= read <= comparable(numbers[1])

    return first_moment_when(is_after, scheme.earliest, scheme.latest) - MICROSECOND


def _without_windows(rows: QuerySet[Any]) -> QuerySet[Any]:
    """The same rows, without windows that choose them: with a condition that is added, a window
    would see fewer rows."""
    if not rows.query.where.contains_over_clause:
        return rows
    return QuerySet(rows.model, using=rows.db).filter(pk__in=rows.order_by().values("pk"))


def filtered_first(rows: QuerySet[Any], *conditions: Any, **lookups: Any) -> QuerySet[Any]:
    """Like ``rows.filter()``, but with these conditions before the earlier ones.

    Of several ranges of one column, SQLite reads the first: with an earlier filter by creation
    time, each bar would read the rows of them all.
    """
    earlier = rows.query.where
    kept = len(earlier.children) if earlier.connector == AND else 1
    filtered = rows.filter(*conditions, **lookups)
    where = filtered.query.where
    where.children = [*where.children[kept:], *where.children[:kept]]
    return filtered


def counts(
    queryset: QuerySet[Any], column: TimedColumn, spans: Sequence[Span], seconds: float | None
) -> list[Count]:
    """The rows of each span, exact if that takes no more than ``seconds``; None means no limit.

    Otherwise they are estimates or, where the database has none, counted up to a limit.
    """
    end = None if seconds is None else time.monotonic() + seconds
    exact = _counted(queryset, column, spans, None, seconds and seconds * _SHARE)
    if exact is not None:
        return exact
    assert end is not None, "nothing else ends an exact count"
    estimates = _estimates(queryset, column, spans, end)
    rest = [span for span, estimate in zip(spans, estimates, strict=True) if estimate is None]
    most = _ROWS // max(1, len(rest))
    most -= most % 10 ** (len(str(most)) - 1)  # one digit that isn't zero
    counted = _counted(queryset, column, rest, most, end - time.monotonic())
    capped = iter(counted or [Count(0, "minimum") for _ in rest])
    return [next(capped) if estimate is None else estimate for estimate in estimates]


def _estimates(
    queryset: QuerySet[Any], column: TimedColumn, spans: Sequence[Span], end: float
) -> list[Count | None]:
    """An estimate for each span; None if it is too short for one. All are None where the database
    has no estimates, and after the deadline ``end``.

    Part of a table is never estimated: statistics of other rows would show through.
    """
    none: list[Count | None] = [None for _ in spans]
    query = queryset.query
    if query.where or query.distinct or query.group_by is not None:
        return none
    fewest = fewest_expected_rows(queryset, column.field)
    if fewest is None:
        return none
    estimates: list[Count | None] = []
    for start, stop in spans:
        if column.scheme.number_range(start, stop) is None:
            estimates.append(Count(0))
            continue
        within = {f"{column.path}__created_at__gte": start, f"{column.path}__created_at__lt": stop}
        # MariaDB and MySQL estimate ranges of an index only if they read it.
        expected = estimated_rows(queryset.filter(**within).values(column.path))
        if expected is None or time.monotonic() > end:
            return none
        estimates.append(None if expected < fewest else Count(expected, "estimated"))
    return estimates


def _counted(
    queryset: QuerySet[Any],
    column: TimedColumn,
    spans: Sequence[Span],
    most: int | None,
    seconds: float | None,
) -> list[Count] | None:
    """The counts, each up to ``most`` rows; None if they take longer than ``seconds``."""
    end = None if seconds is None else time.monotonic() + seconds
    numbers: list[int] = []
    selects = _selects(queryset, column, spans, most)
    longest = max((len(select.params) for select in selects), default=0)
    size = max(1, _MOST_PARAMS // max(1, longest))
    for first in range(0, len(selects), size):
        left = None if end is None else end - time.monotonic()
        values = scalars(queryset.db, selects[first : first + size], left)
        if values is None:
            return None
        numbers += values
    return [Count(n) if most is None or n <= most else Count(n, "minimum") for n in numbers]


def _selects(
    queryset: QuerySet[Any], column: TimedColumn, spans: Sequence[Span], most: int | None
) -> list[Select]:
    """A select for each span. The ORM compiles one; the others differ in two parameters."""
    queryset = _without_windows(queryset)
    if column.field.accept_other_versions:
        # Other versions carry no time, but sort among the ids.
        queryset = queryset.filter(**{f"{column.path}__created_at__isnull": False})
    rows = filtered_first(
        queryset,
        GreaterThanOrEqual(F(column.path), _Bound(0)),
        LessThanOrEqual(F(column.path), _Bound(1)),
    ).order_by()
    # With an aggregate of other rows, each row is a group.
    is_nested = rows.query.distinct or rows.query.group_by is not None or most is not None
    if rows.query.distinct:
        rows = rows.values("pk")
    else:
        column_of_all = Value(1) if is_nested else Func(template="COUNT(*)", output_field=Field())
        rows = rows.annotate(**{_ROW: column_of_all}).values(_ROW)
    connection = connections[queryset.db]
    stored = column.field.stored(connection)
    try:
        query = (rows if most is None else rows[: most + 1]).query
        sql, params = query.get_compiler(using=queryset.db).as_sql()
    except EmptyResultSet:
        return [_NONE for _ in spans]
    if is_nested:
        sql = f"SELECT COUNT(*) FROM ({sql}) counted"
    selects = []
    for span in spans:
        numbers = column.scheme.number_range(*span)
        if numbers is None:
            selects.append(_NONE)
            continue
        bounds = [stored.to_db(number, connection) for number in numbers]
        filled = [bounds[param.end] if isinstance(param, _Bound) else param for param in params]
        selects.append(Select(sql, filled))
    return selects


_NONE = Select("SELECT 0", ())


class _Bound(Expression):
    """A parameter that is set after the query is compiled: the lowest id, or the highest."""

    # It has no output field: it is what a column of any storage is compared with.

    def __init__(self, end: int) -> None:
        super().__init__()
        self.end = end

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]
