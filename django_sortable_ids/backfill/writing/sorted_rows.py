"""New ids for all rows of a table that nobody else uses: they are sorted once, into a temporary
table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connections
from django.db.models import F

from ...errors import BackfillError
from ...schemes import OutOfRange
from ..sources.target import Target
from .batch import mint

_PAGE = 100_000
"""Rows that are read at a time."""
_PLACE = "sorted_place"
_TABLE = "sorted_rows"
_CREATED = {
    # The numbers are those of the rows as they are inserted.
    "mysql": "CREATE TEMPORARY TABLE {} (n BIGINT AUTO_INCREMENT PRIMARY KEY) {}",
    "postgresql": "CREATE TEMPORARY TABLE {} AS SELECT row_number() OVER () AS n, s.* FROM ({}) s",
    "sqlite": "CREATE TEMPORARY TABLE {} AS {}",
}


class SortedRows:
    """The rows of a target with times in a column and a key of one column, in order, with new ids.
    The temporary table is dropped at the end of the context."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._connection: Any = connections[target.using]
        self._number = "rowid" if self._connection.vendor == "sqlite" else "n"

    def __enter__(self) -> SortedRows:
        target, vendor = self._target, self._connection.vendor
        place = target.source.selected_place
        rows = target.missing.annotate(**{_PLACE: F(place) if isinstance(place, str) else place})
        rows = rows.order_by(*target.source.order).values_list(_PLACE, target.key_fields[0].attname)
        compiler = rows.query.get_compiler(target.using)
        sql, parameters = compiler.as_sql()
        self._convert = compiler.get_converters([compiler.select[0][0]])
        self._apply = compiler.apply_converters
        self._drop()
        self._execute(_CREATED[vendor].format(_TABLE, sql), parameters)
        if vendor == "postgresql":
            self._execute(f"CREATE UNIQUE INDEX ON {_TABLE} (n)")
            self._execute(f"ANALYZE {_TABLE}")
        return self

    def __exit__(self, *_: object) -> None:
        self._drop()

    @property
    def count(self) -> int:
        return int(self._execute(f"SELECT COUNT(*) FROM {_TABLE}")[0][0])

    def pages(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """The keys and the new ids of each page, as the database stores them.

        Raises ``BackfillError``, naming a row, if an id can't be generated.
        """
        columns = "*" if self._number == "n" else "rowid, *"
        sql = f"SELECT {columns} FROM {_TABLE} WHERE {self._number} > %s ORDER BY 1 LIMIT %s"
        last, size = 0, _PAGE
        while rows := self._execute(sql, [last, size]):
            count = self._in_whole_ticks(rows, size)
            if not count:
                size *= 2
                continue
            del rows[count:]
            last, size = rows[-1][0], _PAGE
            keys = [key for _, _, key in rows]
            yield keys, self._ids([place for _, place, _ in rows], keys)

    def _in_whole_ticks(self, rows: Sequence[Any], size: int) -> int:
        """How many of the rows are not of the last tick, if there may be more of it."""
        count = len(rows)
        if count == size:
            start, _ = self._target.tick_of(self._place(rows[-1][1]))
            while count and self._target.source.at(self._place(rows[count - 1][1])) >= start:
                count -= 1
        return count

    def _ids(self, places: Sequence[Any], keys: Sequence[Any]) -> list[Any]:
        target = self._target
        read = list(map(self._place, places)) if self._convert else places
        ticks = target.scheme.ticks(list(target.source.microseconds(read)))
        try:
            numbers, _ = mint(target.scheme, ticks, None, 0)
        except OutOfRange as error:
            named = target.source.named((read[-1], keys[-1]))
            raise BackfillError(f"stopped at {named}: {error}") from error
        return target.field.stored(self._connection).all_to_db(numbers, self._connection)

    def _place(self, found: Any) -> Any:
        """A place that the driver returned, as the target has it."""
        return next(iter(self._apply([(found,)], self._convert)))[0] if self._convert else found

    def _drop(self) -> None:
        temporary = "TEMPORARY " if self._connection.vendor == "mysql" else ""
        self._execute(f"DROP {temporary}TABLE IF EXISTS {_TABLE}")

    def _execute(self, sql: str, parameters: Any = None) -> list[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return list(cursor.fetchall()) if cursor.description else []
