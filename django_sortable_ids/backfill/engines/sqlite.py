"""SQLite: ids from Python are written one by one, which is fast without a server.

Texts that aren't times or don't sort by time are refused. SQLite's own functions read 2024-02-30 as
the day after 2024-02-29, and accept the hour 24 and the year 0. Only Django fails to read such a
time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import BooleanField, DateField, DateTimeField, F, QuerySet, TextField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast
from django.utils.functional import cached_property

from ...db import chunks, tables
from ...db.queries import rows
from ...errors import BackfillError
from ...times.columns import TextColumn
from ...times.spelling import WHOLE, Spelling, common_spelling, shape_of
from ..sources.base import Target
from .base import Engine, Statements


class SQLiteStatements(Statements):
    @cached_property
    def sent(self) -> str:
        """An UPDATE of one row that has no id yet; its parameters are the id and the key."""
        is_row = " AND ".join(f"{key} = %s" for key in self._keys)
        where = f"{is_row} AND {self._column} IS NULL"
        return f"UPDATE {self._table} SET {self._set('%s')} WHERE {where}"

    def send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        rows = [(value, *key) for key, value in zip(keys, stored, strict=True)]
        with self.connection.cursor() as cursor:
            cursor.executemany(self.sent, rows)
            return int(cursor.rowcount)


class SQLite(Engine):
    sending = SQLiteStatements
    rows_per_second = (40_000.0, 200_000.0)
    writes_first = True
    adds_not_null = False

    def check(self, target: Target) -> None:
        self._check_commit(target.model._meta.db_table)
        _check_texts(target)
        if isinstance(target.source, DateField) and not isinstance(target.source, DateTimeField):
            _check_days(target)

    def _check_commit(self, table: str) -> None:
        """Refuse a table in a file that SQLite attached if it can't be committed together with the
        cursor of the run."""
        connection = self.connection
        attached = tables.sqlite_schema(connection, table)
        if attached in ("main", None):
            return
        with connection.cursor() as cursor:
            for schema in ("main", attached):
                cursor.execute(f"PRAGMA {connection.ops.quote_name(schema)}.journal_mode")
                if cursor.fetchone()[0] == "wal":
                    raise BackfillError(
                        f"{table} is in a file that SQLite attached as {attached}, and {schema} is "
                        f"in WAL mode, in which SQLite doesn't commit two files together: a crash "
                        f"might keep ids without the progress of the run. Make that file a "
                        f"database of its own in DATABASES, or set journal_mode=DELETE for both"
                    )

    def side_effects(self, target: Target) -> tuple[list[str], list[str]]:
        """The triggers of the table that SQLite compiles into the UPDATE."""
        connection, table = self.connection, target.model._meta.db_table
        schema = connection.ops.quote_name(tables.sqlite_schema(connection, table) or "main")
        triggers = rows(
            connection,
            f"SELECT name FROM (SELECT * FROM {schema}.sqlite_master UNION ALL SELECT * FROM "
            f"sqlite_temp_master) WHERE type = 'trigger' AND tbl_name = %s COLLATE NOCASE "
            f"ORDER BY name",
            [tables.split(connection, table)[1]],
        )
        # The compiled triggers may include those of other tables, fired by this table's.
        compiled = _compiled_triggers(connection, self.statements(target).sent)
        return [f"the trigger {name}" for (name,) in triggers if name in compiled], []


def _compiled_triggers(connection: Any, sql: str) -> set[str]:
    """SQLite calls its authorizer for each step of a program, with the name of its trigger."""
    triggers = set()

    def allow(*action: Any) -> int:
        triggers.add(action[-1])
        return sqlite3.SQLITE_OK

    connection.connection.set_authorizer(allow)
    try:
        rows(connection, f"EXPLAIN {sql}", [None] * sql.count("%s"))
    finally:
        connection.connection.set_authorizer(None)
    return triggers - {None}


_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*"
_MOST_SHOWN = 5
"""Spellings in a message at most."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """The rows whose times share one spelling."""

    name: str
    rows: int
    example: Any
    last: Any


def _check_texts(target: Target) -> None:
    """Raise ``BackfillError`` if the times have several spellings that don't sort by time, or if
    Django can't read them.
    """
    times = target.times
    if not isinstance(times, TextColumn) or not _has_others(target, times.spelling):
        return
    _check_possible(target)
    shapes = _shapes(target)
    name = f"{target.source.name} of {target.model._meta.label}"
    unreadable = [shape for shape in shapes if not _is_readable(times, shape)]
    if unreadable:
        raise BackfillError(
            f"{name} has values that Django can't read as times: {_listed(unreadable)}. Correct "
            f"these values; nothing was written."
        )
    if common_spelling(shape.name for shape in shapes):
        return
    raise BackfillError(
        f"{name} has several spellings, which don't sort by time since SQLite compares texts: "
        f"{_listed(shapes)}. Save all rows through the ORM, "
        f"`for row in {target.source.model.__name__}.objects.iterator(): "
        f'row.save(update_fields=["{target.source.attname}"])`, and start again; '
        f"nothing was written."
    )


def _check_days(target: Target) -> None:
    """Raise ``BackfillError`` for a text that is no date: SQLite stores any text."""
    name = target.source.name
    texts = target.without_id.filter(**{f"{name}__isnull": False}).annotate(
        sortable_ids_text=Cast(name, TextField())
    )
    wrong = texts.exclude(sortable_ids_text__regex=r"^\d{4}-\d{2}-\d{2}$").order_by("pk")
    first = wrong.values_list("pk", "sortable_ids_text").first()
    if first:
        raise BackfillError(
            f"{target.model._meta.label} {first[0]} has the {name} {first[1]!r}; a date as "
            f"YYYY-MM-DD was expected. Correct it; nothing was written."
        )


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


def _check_possible(target: Target) -> None:
    """Raise ``BackfillError``, naming a row, if a creation time is impossible."""
    source, (column, table) = target.source, _names(target)
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


def _has_others(target: Target, spelling: Spelling) -> bool:
    """Whether there are times of other spellings, impossible ones, or whole seconds both with and
    without a fraction."""
    column, table = _names(target)
    patterns = "".join(
        f" WHEN {length} THEN {column} GLOB '{pattern}'" for length, pattern in _patterns(spelling)
    )
    # The length comes first, since this reads every row.
    is_spelled_so = f"CASE length({column}){patterns} ELSE 0 END"
    # julianday() accepts impossible days and hours, so all other values are checked for them.
    is_ordinary = (
        f"(substr({column}, 1, 4) > '0000' AND substr({column}, 9, 2) < '29' "
        f"AND substr({column}, 12, 2) < '24')"
    )
    is_time = (
        f"typeof({column}) = 'text' AND julianday({column}) IS NOT NULL "
        f"AND ({is_ordinary} OR NOT {is_impossible(column)})"
    )
    others, with_zeros, without_zeros = rows(
        target.times.connection,
        f"SELECT MAX(NOT ({is_spelled_so} AND {is_time})), "
        f"MAX(substr({column}, 20) = '{WHOLE}{spelling.zone}'), "
        f"MAX(substr({column}, 20) = '{spelling.zone}') "
        f"FROM {table} WHERE {column} IS NOT NULL",
    )[0]
    return bool(others or (with_zeros and without_zeros))


def _patterns(spelling: Spelling) -> Iterator[tuple[int, str]]:
    """The length and the GLOB pattern of each form of a spelling."""
    second = f"????-??-??{spelling.separator}??:??:??"
    for digits in (0, 6) if spelling.fraction is None else (spelling.fraction,):
        fraction = f".{'?' * digits}" if digits else ""
        length = len(second + fraction + spelling.zone)
        yield length, f"{second}{fraction.replace('?', '[0-9]')}{spelling.zone}"


def _shapes(target: Target) -> list[_Shape]:
    connection = target.times.connection
    connection.connection.create_function("sortable_ids_shape", 1, shape_of, deterministic=True)
    column, table = _names(target)
    found = rows(
        target.times.connection,
        f"SELECT sortable_ids_shape({column}) AS shape, COUNT(*), CAST(MIN({column}) AS TEXT), "
        f"CAST(MAX({column}) AS TEXT) FROM {table} WHERE {column} IS NOT NULL "
        f"GROUP BY shape ORDER BY COUNT(*) DESC, shape",
    )
    return [_Shape(*row) for row in found]


def _is_readable(times: TextColumn, shape: _Shape) -> bool:
    if shape_of(shape.example) != shape.name:
        return False  # a number or a BLOB
    try:
        return all(times.at(text) for text in (shape.example, shape.last))
    except BackfillError:
        return False


def _listed(shapes: list[_Shape]) -> str:
    shown = [f"{shape.rows:,} rows as {shape.example!r}" for shape in shapes[:_MOST_SHOWN]]
    others = len(shapes) - len(shown)
    return ", ".join([*shown, *([f"{others} more spellings"] if others else [])])


def _names(target: Target) -> tuple[str, str]:
    """The quoted names of the column of times and of its table."""
    quote, source = target.times.connection.ops.quote_name, target.source
    return quote(str(source.column)), quote(source.model._meta.db_table)
