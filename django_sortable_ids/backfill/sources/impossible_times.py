"""Refuses texts on SQLite that look like times, of days and hours that there are not.

SQLite's own functions take 2024-02-30 for the day after 2024-02-29, and know an hour 24 and a year
0: only where one of them is read by Django does it show.
"""

from __future__ import annotations

from typing import Any

from django.db.models import BooleanField, F, QuerySet, TextField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast

from ...db import chunks
from ...errors import BackfillError
from ..target import Target

_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"


def is_impossible(column: str) -> str:
    """SQL that says so of a text that begins with a day."""
    # date() gives back a day that it is given, but for that of a number.
    return (
        f"(substr({column}, 1, 4) = '0000' OR (substr({column}, 9, 2) > '28' "
        f"AND date(julianday(substr({column}, 1, 10))) IS NOT substr({column}, 1, 10)) "
        f"OR julianday(substr({column}, 1, 10)) IS NULL OR (substr({column}, 14, 1) = ':' "
        f"AND (substr({column}, 12, 2) > '23' OR substr({column}, 15, 2) > '59' "
        f"OR substr({column}, 18, 2) > '59')))"
    )


def check(target: Target) -> None:
    """Raise ``BackfillError``, which names a row."""
    source = target.source
    quote = target.times.connection.ops.quote_name
    column, table = quote(str(source.column)), quote(source.model._meta.db_table)
    where = f"typeof({column}) = 'text' AND {column} GLOB '{_DAY}' AND {is_impossible(column)}"
    rows: QuerySet[Any] = QuerySet(source.model, using=target.using)
    rows = rows.filter(RawSQL(where, (), output_field=BooleanField()))
    found = chunks.named(rows)
    if found is None:
        return
    pk, who = found
    text = rows.filter(pk=pk).values_list(Cast(F(source.attname), TextField()), flat=True)
    raise BackfillError(
        f"{who} has the {source.attname} {text.get()!r}, a time that there is not. Find such "
        f"rows with SELECT * FROM {table} WHERE {where}, and correct them; nothing was written."
    )
