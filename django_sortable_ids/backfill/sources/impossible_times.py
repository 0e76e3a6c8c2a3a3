"""Refuses texts on SQLite that look like times, but have impossible days or hours.

SQLite's own functions read 2024-02-30 as the day after 2024-02-29, and accept the hour 24 and the
year 0. Only Django fails to read such a time.
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
    """SQL that is true for a text that begins with an impossible day or time."""
    # date() returns a text of a day as it is, even an impossible one, so it gets a number.
    return (
        f"(substr({column}, 1, 4) = '0000' OR (substr({column}, 9, 2) > '28' "
        f"AND date(julianday(substr({column}, 1, 10))) IS NOT substr({column}, 1, 10)) "
        f"OR julianday(substr({column}, 1, 10)) IS NULL OR (substr({column}, 14, 1) = ':' "
        f"AND (substr({column}, 12, 2) > '23' OR substr({column}, 15, 2) > '59' "
        f"OR substr({column}, 18, 2) > '59')))"
    )


def check(target: Target) -> None:
    """Raise ``BackfillError``, naming a row, if a creation time is impossible."""
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
        f"{who} has the {source.attname} {text.get()!r}, which is no possible time. Find such "
        f"rows with SELECT * FROM {table} WHERE {where}, and correct them; nothing was written."
    )
