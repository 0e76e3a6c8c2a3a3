"""When the first and the last row of a queryset were created: two look-ups in the id's index."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import QuerySet

from ..db.scalars import Select, scalars
from ..fields.values.times import MICROSECOND
from ..schemes import TimeScheme
from .columns import TimedColumn
from .ranges import filtered_first


class Ends(NamedTuple):
    """In UTC."""

    first: datetime
    last: datetime


class TookTooLong(Exception):
    """The look-ups took longer than allowed: no index has the order of the rows."""


def ends(
    queryset: QuerySet[Any],
    column: TimedColumn,
    start: datetime | None,
    end: datetime | None,
    seconds: float | None,
) -> Ends | None:
    """The first and the last time from ``start`` to ``end`` (excluded); None if there is no row.

    None as a bound means unbounded. Ids after the year 9999 are left out. Raises ``TookTooLong``
    after ``seconds``; None means no limit.
    """
    within = {f"{column.path}__created_at__gte": start} if start else {}
    if end is None:
        within[f"{column.path}__created_at__lte"] = column.scheme.latest
    else:
        within[f"{column.path}__created_at__lt"] = end
    rows = filtered_first(queryset, **within)
    try:
        selects = [_first(rows, order) for order in (column.path, f"-{column.path}")]
    except EmptyResultSet:
        return None
    found = scalars(queryset.db, selects, seconds)
    if found is None:
        raise TookTooLong
    if found[0] is None:
        return None
    stored = column.field.stored(connections[queryset.db])
    times = [_time(column.scheme, stored.from_db(value)) for value in found]
    return Ends(min(times), max(times))


def _time(scheme: TimeScheme, number: int) -> datetime:
    """The time of an id; for a UUID of another version, that of its neighbours in the order."""
    if scheme.layout.split(number) is not None:
        return scheme.created_at(scheme.from_trusted(number))
    before, after = scheme.earliest, scheme.latest
    while after - before > MICROSECOND:
        middle = before + (after - before) / 2
        numbers = scheme.number_range(middle, None)
        is_later = numbers is not None and numbers[0] <= number <= numbers[1]
        before, after = (middle, after) if is_later else (before, middle)
    return before


def _first(rows: QuerySet[Any], order: str) -> Select:
    """The first id in that order."""
    first = rows.order_by(order).values(order.removeprefix("-"))[:1]
    sql, params = first.query.get_compiler(using=rows.db).as_sql()
    return Select(sql, params)
