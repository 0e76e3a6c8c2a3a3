"""SQLite: ids from Python are written one by one, which is fast without a server.

Texts that are no times, or not spelled as Django spells them, are refused: they don't sort by time.
SQLite's own functions read 2024-02-30 as the day after 2024-02-29, and accept the hour 24 and the
year 0. Only Django fails to read such a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from django.db.models import BooleanField, DateField, F, QuerySet, TextField
from django.db.models.expressions import RawSQL
from django.db.models.functions import Cast
from django.utils.functional import cached_property

from ...db import rows, tables
from ...errors import BackfillError
from ...functions.time_columns import TextColumn
from ..sources.target import Target, first_named
from .base import Engine, Statements


class SQLiteStatements(Statements):
    @cached_property
    def sending_sql(self) -> str:
        """An UPDATE of one row that has no id yet; its parameters are the id and the key."""
        is_row = " AND ".join(f"{key} = %s" for key in self._keys)
        where = f"{is_row} AND {self._column} IS NULL"
        return f"UPDATE {self._table} SET {self._set('%s')} WHERE {where}"

    def send(
        self, keys: Sequence[Sequence[Any]], stored: Sequence[Any], times: Sequence[Any]
    ) -> int:
        with self.connection.cursor() as cursor:
            cursor.executemany(self.sending_sql, zip(stored, *keys, strict=True))
            return int(cursor.rowcount)


class SQLite(Engine):
    statements = SQLiteStatements
    computes = False
    rows_per_second = (40_000.0, 200_000.0)
    writes_first = True

    def check_table(self, target: Target) -> None:
        """Refuse a file that SQLite attached, which in WAL mode isn't committed together with the
        cursor of the run; and a text that is no time, or not spelled as Django spells it: several
        spellings don't sort by time."""
        attached = tables.in_sqlite(self.connection, target.model._meta.db_table)[0]
        # A temporary table is gone after a crash, and so is all that was filled.
        if attached not in ("main", "temp", None):
            raise BackfillError(
                f"{target.model._meta.db_table} is in a file that SQLite attached as {attached}: "
                f"make that file a database of its own in DATABASES"
            )
        source, quote = target.source.field, self.connection.ops.quote_name
        is_text = isinstance(target.source.times, TextColumn)
        if not is_text and not isinstance(source, DateField):
            return
        column, table = quote(str(source.column)), quote(source.model._meta.db_table)
        example = "'2024-05-01'"
        # An impossible day or hour becomes the next one.
        is_time = f"date({column}, '+0 days') IS {column}"
        if is_text:
            example = "'2024-05-01 23:00:00' or '2024-05-01 23:00:00.123456'"
            # Without the fraction, since the last microseconds of year 9999 are rounded up.
            second = f"substr({column}, 1, 19)"
            is_time = (
                f"datetime({second}, '+0 days') IS {second} AND (length({column}) = 19 OR "
                f"length({column}) BETWEEN 21 AND 26 AND substr({column}, 20, 1) = '.' AND "
                f"substr({column}, 21) NOT GLOB '*[^0-9]*')"
            )
        is_time = f"{is_time} AND typeof({column}) = 'text' AND substr({column}, 1, 4) > '0000'"
        where = f"{column} IS NOT NULL AND NOT ({is_time})"
        wrong: QuerySet[Any] = QuerySet(source.model, using=target.using)
        wrong = wrong.filter(RawSQL(where, (), output_field=BooleanField()))
        if (first := first_named(wrong)) is None:
            return
        (pk, who), name, manager = first, source.attname, f"{source.model.__name__}._base_manager"
        text = wrong.filter(pk=pk).values_list(Cast(F(name), TextField()), flat=True)
        raise BackfillError(
            f"{who} has the {name} {text.get()!r}, which is no possible time, or not "
            f"spelled as Django spells it, {example}: SQLite compares texts, and several spellings "
            f"don't sort by time. Such rows: SELECT * FROM {table} WHERE {where}. Correct what is "
            f"no time, and write all times again, `for row in {manager}.iterator(): "
            f"{manager}.filter(pk=row.pk).update({name}=row.{name})`; nothing was written."
        )

    def side_effects(self, target: Target) -> list[str]:
        """The triggers of the table that SQLite compiles into the UPDATE."""
        connection, table = self.connection, target.model._meta.db_table
        schema = connection.ops.quote_name(tables.in_sqlite(connection, table)[0] or "main")
        triggers = rows(
            connection,
            f"SELECT name FROM (SELECT * FROM {schema}.sqlite_master UNION ALL SELECT * FROM "
            f"sqlite_temp_master) WHERE type = 'trigger' AND tbl_name = %s COLLATE NOCASE "
            f"ORDER BY name",
            [tables.split(connection, table)[1]],
        )
        # SQLite calls its authorizer for each step of a program, with the name of its trigger. That
        # may be one of another table, fired by this table's.
        compiled = set()

        def allow(*action: Any) -> int:
            compiled.add(action[-1])
            return sqlite3.SQLITE_OK

        sql = self.statements(target).sending_sql
        connection.connection.set_authorizer(allow)
        try:
            rows(connection, f"EXPLAIN {sql}", [None] * sql.count("%s"))
        finally:
            connection.connection.set_authorizer(None)
        return [f"the trigger {name}" for (name,) in triggers if name in compiled]
