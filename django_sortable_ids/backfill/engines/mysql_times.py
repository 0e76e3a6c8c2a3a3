"""Refuses impossible dates on MariaDB and MySQL, such as 2020-02-00, and ambiguous TIMESTAMPs.

Drivers read an impossible date as NULL. The database doesn't treat it as NULL, except for the zero
date, 0000-00-00, if the column is NOT NULL; and MySQL finds that of a TIMESTAMP before no time.
"""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, CharField, DateField, DateTimeField, F, Q, QuerySet
from django.db.models.functions import Cast

from ...db import chunks
from ...db.tables import is_timestamp
from ...errors import BackfillError
from ...functions.fragments import Fragment
from ..target import Target

# LAST_DAY() of an impossible date is NULL, or a warning that stops an UPDATE.
_YEAR = "IF(YEAR({0}), LPAD(YEAR({0}), 4, '0'), 1971)"
_MONTH = f"CONCAT({_YEAR}, '-', GREATEST(MONTH({{0}}), 1), '-')"
_LAST_DAY = f"DAYOFMONTH(LAST_DAY(CONCAT({_MONTH}, '01')))"
_IS_IMPOSSIBLE = (
    "YEAR({0}) = 0 OR MONTH({0}) = 0 OR DAYOFMONTH({0}) = 0"
    f" OR (DAYOFMONTH({{0}}) > 28 AND DAYOFMONTH({{0}}) > {_LAST_DAY})"
)
_NEAREST_DAY = f"CONCAT({_MONTH}, LEAST(GREATEST(DAYOFMONTH({{0}}), 1), {_LAST_DAY}))"
_NEAREST_TIME = f"CONCAT({_NEAREST_DAY}, ' ', TIME({{0}}))"


class _IsImpossible(Fragment):
    output_field = BooleanField()
    mysql = f"({_IS_IMPOSSIBLE})"


def is_impossible(target: Target) -> Q:
    """Whether the time of a row is on an impossible day; only if it is in the target's table."""
    # By the column's own name: for a related row, source.name is the whole path.
    return Q(_IsImpossible(F(target.source.attname)))


def check_days(target: Target) -> None:
    """Raise ``BackfillError``, naming a row, if a creation time is on an impossible day."""
    source, connection = target.source, target.times.connection
    if not isinstance(source, DateField):
        return
    rows: QuerySet[Any] = QuerySet(source.model, using=target.using)
    rows = rows.filter(is_impossible(target))
    found = chunks.named(rows)
    if found is None:
        return
    pk, who = found
    text = rows.filter(pk=pk).values_list(Cast(source.attname, CharField()), flat=True)
    raise BackfillError(
        f"{who} has the {source.attname} {text.get()}, which is no day of the calendar. "
        f"Correct it, for example to the nearest day, in 1971 if it has no year: "
        f"{_repair(source, connection)}; nothing was written."
    )


def _repair(source: Any, connection: Any) -> str:
    quote = connection.ops.quote_name
    table, column = quote(source.model._meta.db_table), quote(source.column)
    nearest = _NEAREST_TIME if isinstance(source, DateTimeField) else _NEAREST_DAY
    return (
        f"UPDATE {table} SET {column} = {nearest.format(column)} "
        f"WHERE {_IS_IMPOSSIBLE.format(column)}"
    )


def check_repeated_hours(target: Target) -> None:
    """Raise ``BackfillError`` if a TIMESTAMP is in an hour that the session's time zone repeats."""
    connection = target.times.connection
    table, name = target.source.model._meta.db_table, str(target.source.column)
    if not is_timestamp(connection, table, name):
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
