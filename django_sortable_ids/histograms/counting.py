"""How many rows of a queryset were created in each of several spans.

One statement has a sub-select for each span, which counts a range of ids: no row is read, and no
time is decoded.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import Expression, F, Field, QuerySet, Value
from django.db.models.lookups import GreaterThanOrEqual, LessThanOrEqual

from ..db.scalars import Select, scalars
from ..paging.estimates import estimated_rows, fewest_expected_rows
from .columns import TimedColumn
from .ranges import filtered_first
from .spans import Span

_SHARE = 0.8
"""Of the time, for the exact counts. The rest is for those up to a limit."""
_ROWS = 200_000
"""That are counted, in all spans, if there are too many for the exact counts."""
_MOST_PARAMS = 30_000
"""Of one statement; SQLite's limit is 32,766 or more."""
_ROW = "sortable_ids_row"


class Count(NamedTuple):
    rows: int
    is_exact: bool
    """False: there are more rows, or, with 0, it is unknown whether there are any."""
    is_estimate: bool = False
    """Whether it is what the database expects, from its statistics; then it is not exact."""


def counts(
    queryset: QuerySet[Any], column: TimedColumn, spans: Sequence[Span], seconds: float | None
) -> list[Count]:
    """The rows of each span, exact if that takes no more than ``seconds``; None means no limit.

    Otherwise they are estimates or, where the database has none, counted up to a limit.
    """
    if not spans:
        return []
    end = None if seconds is None else time.monotonic() + seconds
    found = _counted(queryset, column, spans, None, seconds and seconds * _SHARE)
    if found is not None:
        return found
    assert end is not None, "nothing else ends an exact count"
    estimates = _estimates(queryset, column, spans, end)
    others = [span for span, each in zip(spans, estimates, strict=True) if each is None]
    capped = iter(_capped(queryset, column, others, end))
    return [next(capped) if each is None else each for each in estimates]


def _capped(
    queryset: QuerySet[Any], column: TimedColumn, spans: Sequence[Span], end: float
) -> list[Count]:
    """Counts up to a limit; unknown ones if they take longer than until ``end``."""
    if not spans:
        return []
    most = _rounded(_ROWS // len(spans))
    found = _counted(queryset, column, spans, most, end - time.monotonic())
    return found or [Count(0, is_exact=False) for _ in spans]


def _estimates(
    queryset: QuerySet[Any], column: TimedColumn, spans: Sequence[Span], end: float
) -> list[Count | None]:
    """None for spans that are too short for an estimate. All are None where the database has no
    estimates, and if they take longer than until ``end``.

    They are never those of a part of the table: statistics of other rows would show through.
    """
    none: list[Count | None] = [None for _ in spans]
    if queryset.query.where or queryset.query.distinct:
        return none
    fewest = fewest_expected_rows(queryset, column.field)
    if fewest is None:
        return none
    found: list[Count | None] = []
    for start, stop in spans:
        within = {f"{column.path}__created_at__gte": start, f"{column.path}__created_at__lt": stop}
        # MariaDB and MySQL estimate ranges of an index only if they read it.
        expected = estimated_rows(queryset.filter(**within).values(column.path))
        if expected is None or time.monotonic() > end:
            return none
        estimate = Count(expected, is_exact=False, is_estimate=True)
        found.append(None if expected < fewest else estimate)
    return found


def _counted(
    queryset: QuerySet[Any],
    column: TimedColumn,
    spans: Sequence[Span],
    most: int | None,
    seconds: float | None,
) -> list[Count] | None:
    """The counts, each up to ``most`` rows; None if they take longer than that."""
    end = None if seconds is None else time.monotonic() + seconds
    rows: list[int] = []
    for selects in _statements(_selects(queryset, column, spans, most)):
        found = scalars(queryset.db, selects, None if end is None else end - time.monotonic())
        if found is None:
            return None
        rows += found
    if most is None:
        return [Count(each, is_exact=True) for each in rows]
    return [Count(min(each, most), is_exact=each <= most) for each in rows]


def _statements(selects: Sequence[Select]) -> Iterator[Sequence[Select]]:
    size = max(1, _MOST_PARAMS // max(1, *(len(select.params) for select in selects)))
    for first in range(0, len(selects), size):
        yield selects[first : first + size]


def _selects(
    queryset: QuerySet[Any], column: TimedColumn, spans: Sequence[Span], most: int | None
) -> list[Select]:
    """A select for each span. The ORM compiles one; the others differ in two parameters."""
    if column.field.accept_other_versions:
        # They carry no time, but sort among the others.
        queryset = queryset.filter(**{f"{column.path}__created_at__isnull": False})
    rows = _identified(
        filtered_first(
            queryset,
            GreaterThanOrEqual(F(column.path), _Bound(_LOWEST)),
            LessThanOrEqual(F(column.path), _Bound(_HIGHEST)),
        )
    )
    connection = connections[queryset.db]
    stored = column.field.stored(connection)
    try:
        query = (rows if most is None else rows[: most + 1]).query
        sql, params = query.get_compiler(using=queryset.db).as_sql()
    except EmptyResultSet:
        return [_NONE for _ in spans]
    sql = f"SELECT COUNT(*) FROM ({sql}) counted"
    selects = []
    for span in spans:
        numbers = column.scheme.number_range(*span)
        if numbers is None:
            selects.append(_NONE)
            continue
        lowest, highest = (stored.operand(number, connection) for number in numbers)
        bounds = {_LOWEST: lowest, _HIGHEST: highest}
        filled = [bounds[each] if isinstance(each, _Place) else each for each in params]
        selects.append(Select(sql, filled))
    return selects


def _identified(rows: QuerySet[Any]) -> QuerySet[Any]:
    """The queryset without its columns: one constant, or what makes its rows distinct."""
    if rows.query.distinct:
        identified: QuerySet[Any] = rows.order_by().values("pk")
    else:
        identified = rows.order_by().annotate(**{_ROW: Value(1)}).values(_ROW)
    return identified


class _Place(NamedTuple):
    """Stands for a parameter until it is known."""

    name: str


_LOWEST, _HIGHEST = _Place("lowest"), _Place("highest")
_NONE = Select("SELECT 0", ())


class _Bound(Expression):
    """A parameter that is set after the query is compiled."""

    output_field: Field[Any, Any] = Field()

    def __init__(self, place: _Place) -> None:
        super().__init__()
        self._place = place

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self._place]


def _rounded(number: int) -> int:
    """Down to one digit that isn't zero: 6,451 becomes 6,000."""
    unit: int = 10 ** (len(str(number)) - 1)
    return number // unit * unit
