"""Refuses dates of MariaDB and MySQL that no calendar has, such as 2020-02-00.

Their drivers read such a date as NULL, and the database doesn't. The date of zeros is not among
them: it is before all others, and left to ``--on-out-of-range``.
"""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, CharField, DateField, DateTimeField, F, Q, QuerySet
from django.db.models.functions import Cast

from ..functions.fragments import Fragment
from . import chunks
from .errors import BackfillError
from .target import Target

# LAST_DAY() of such a date is NULL, or a warning that stops an UPDATE.
_MONTH = "CONCAT(LPAD(YEAR({0}), 4, '0'), '-', GREATEST(MONTH({0}), 1), '-')"
_LAST_DAY = f"DAYOFMONTH(LAST_DAY(CONCAT({_MONTH}, '01')))"
_IS_IMPOSSIBLE = (
    "YEAR({0}) > 0 AND (MONTH({0}) = 0 OR DAYOFMONTH({0}) = 0"
    f" OR (DAYOFMONTH({{0}}) > 28 AND DAYOFMONTH({{0}}) > {_LAST_DAY}))"
)
_NEAREST_DAY = f"CONCAT({_MONTH}, LEAST(GREATEST(DAYOFMONTH({{0}}), 1), {_LAST_DAY}))"
_NEAREST_TIME = f"CONCAT({_NEAREST_DAY}, ' ', TIME({{0}}))"


class _IsImpossible(Fragment):
    output_field = BooleanField()
    mysql = f"({_IS_IMPOSSIBLE})"


def are_possible(target: Target) -> bool:
    """Whether the column of creation times can have such days."""
    return target.times.connection.vendor == "mysql" and isinstance(target.source, DateField)


def is_impossible(target: Target) -> Q:
    """Whether a row of the target, whose table has the time, is of such a day."""
    return Q(_IsImpossible(F(target.source.attname)))


def check(target: Target) -> None:
    """Raise ``BackfillError``, which names a row, where a creation time is of such a day."""
    source, connection = target.source, target.times.connection
    if not are_possible(target):
        return
    rows: QuerySet[Any] = QuerySet(source.model, using=target.using)
    # The source's own name: that of a column of a related row has the whole path.
    rows = rows.filter(_IsImpossible(F(source.attname)))
    found = chunks.named(rows)
    if found is None:
        return
    pk, who = found
    text = rows.filter(pk=pk).values_list(Cast(source.attname, CharField()), flat=True)
    raise BackfillError(
        f"{who} has the {source.attname} {text.get()}, which is no day of the calendar. "
        f"Correct it, such as to the nearest day: "
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
