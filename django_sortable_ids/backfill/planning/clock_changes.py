"""Refuses local times that a clock change skipped: no instant has them.

Such a time is read as one an hour earlier or later. Its row would get an id among those of other
rows, out of order.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from django.db.models import DateTimeField, Max, Min, Q

from ...db import chunks
from ...db.tables import is_timestamp
from ...errors import BackfillError
from ...schemes import TimeScheme
from ...times.columns import TimeColumn
from ..target import Target

_DAY, _SECOND = timedelta(days=1), timedelta(seconds=1)
_AT_A_TIME = 36_525 * _DAY
"""One query covers about 200 clock changes."""
_BEGIN = datetime.min.replace(tzinfo=UTC) + 2 * _DAY
_END = datetime.max.replace(tzinfo=UTC) - 2 * _DAY


def check_skipped_hours(target: Target) -> None:
    """Raise ``BackfillError`` if a row without an id has a skipped time."""
    if not isinstance(target.source, DateTimeField):
        return
    times, has_ticks = target.times, isinstance(target.field.scheme, TimeScheme)
    if not has_ticks or times.clock is None or times.clock.utcoffset(None) is not None:
        return
    rows = target.missing
    last = max(_times(target, rows, Max), default=_BEGIN)
    while begin := _times(target, rows, Min):
        first = min(begin)
        end = min(first + min(_AT_A_TIME, _END - first), last)
        skipped = [_between(target, *gap) for gap in gaps(times.clock, first - _DAY, end + _DAY)]
        if skipped:
            _refuse(target, times, rows.filter(Q(*skipped, _connector=Q.OR)))
        if end >= min(last, _END):
            return
        rows = target.missing.filter(target.starting(times.local(end.replace(tzinfo=None))))


def gaps(clock: tzinfo, start: datetime, end: datetime) -> Iterator[tuple[datetime, datetime]]:
    """The ranges of naive times, end excluded, that ``clock`` skips between two aware times."""

    def offset(at: datetime) -> timedelta:
        return at.astimezone(clock).utcoffset() or timedelta()

    at = start.astimezone(UTC).replace(microsecond=0)
    before = offset(at)
    while at < end:
        after = offset(at + _DAY)
        if after > before:
            low, high = 0, _DAY // _SECOND
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (
                    (low, middle) if offset(at + middle * _SECOND) > before else (middle, high)
                )
            moved = (at + high * _SECOND).replace(tzinfo=None)
            yield moved + before, moved + after
        at, before = at + _DAY, after


def _times(target: Target, rows: Any, end: type[Min | Max]) -> list[datetime]:
    """The first or the last time, of all rows or of each chunk, two days inside the calendar."""
    place = end(target.selected_place)
    results = chunks.asked(rows, lambda part: part.aggregate(sortable_ids_end=place))
    places = [each["sortable_ids_end"] for each in results]
    return [min(max(target.at(each), _BEGIN), _END) for each in places if each is not None]


def _between(target: Target, start: datetime, end: datetime) -> Q:
    name, local = target.place_name, target.times.local
    return Q(**{f"{name}__gte": local(start), f"{name}__lt": local(end)})


def _refuse(target: Target, times: TimeColumn, rows: Any) -> None:
    row = chunks.first(rows)
    if row is None:
        return
    place, pk = target.first(target.rows.filter(pk=row.pk))
    count = chunks.count(rows)
    raise BackfillError(
        f"{count:,} rows of {target.model._meta.label} have a time that the clock of {times.clock} "
        f"skips, such as {pk}, with the {target.source.name} "
        f"{place if isinstance(place, str) else place.replace(tzinfo=None)}: no instant has it. "
        f"Correct these times, usually by adding an hour; nothing was written."
    )


def check_repeated_hours(target: Target) -> None:
    """Raise ``BackfillError`` if a TIMESTAMP is in an hour that the session's time zone repeats."""
    connection = target.times.connection
    table, name = target.source.model._meta.db_table, str(target.source.column)
    if connection.vendor != "mysql" or not is_timestamp(connection, table, name):
        return
    quote = connection.ops.quote_name
    column = quote(name)
    with connection.cursor() as cursor:
        # The column stores the instant. Its local time, converted back, gives one of the two.
        cursor.execute(
            f"SELECT COUNT(*), MIN({column}), @@time_zone, @@system_time_zone FROM {quote(table)} "
            f"WHERE UNIX_TIMESTAMP({column}) <> UNIX_TIMESTAMP(CAST({column} AS DATETIME(6)))"
        )
        rows, example, zone, system = cursor.fetchone()
    if rows:
        zone = system if zone == "SYSTEM" else zone
        raise BackfillError(
            f"{rows:,} rows of {target.source.model._meta.label} are in an hour that the time "
            f"zone of the session, {zone}, has twice, such as {example}: "
            f"{name} is a TIMESTAMP, and Django reads both hours as one. Set the session to UTC "
            f"(OPTIONS: init_command \"SET time_zone = '+00:00'\"); nothing was written."
        )
