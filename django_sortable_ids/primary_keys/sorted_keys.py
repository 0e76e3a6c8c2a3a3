"""Fills the map of a key from one sort, if the times of all rows are in a column: each row of the
table gets its id in the order of the times, and both keys are inserted into the map."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import connections, transaction
from django.db.models import F

from ..backfill import plan
from ..backfill.batch import TickFull, mint
from ..backfill.sources.target import EveryRow, Target
from .changes.change import KeyColumn
from .changes.moved import NEW_KEY, OLD_KEY

_UNSORTED = "sortable_ids_unsorted_keys"
_PAGE = 100_000
_PLACE, _KEY = "sortable_ids_place", "sortable_ids_key"
_TABLE = "sortable_ids_sorted_rows"
_CREATED = {
    # The rows are numbered as they are inserted.
    "mysql": "CREATE TEMPORARY TABLE {} (n BIGINT AUTO_INCREMENT PRIMARY KEY) {}",
    "postgresql": "CREATE TEMPORARY TABLE {} AS SELECT row_number() OVER () AS n, s.* FROM ({}) s",
    "sqlite": "CREATE TEMPORARY TABLE {} AS {}",
}


def write_sorted(target: EveryRow, to: KeyColumn) -> None:
    """Sort the rows of the target once, and write the keys of all of them."""
    connection: Any = connections[target.using]
    columns = f"({OLD_KEY}, {NEW_KEY})"
    insert = f"INSERT INTO {connection.ops.quote_name(to.table)} {columns}"
    # On SQLite the pairs are sorted before they get into the map, since a row at a random place of
    # a tree takes several times as long.
    is_unsorted = connection.vendor == "sqlite"
    with _RowsInTemporaryTable(target) as rows, connection.cursor() as cursor:
        plan.check_writable(target, rows.count)
        if is_unsorted:
            cursor.execute(f"DROP TABLE IF EXISTS {_UNSORTED}")
            cursor.execute(f"CREATE TEMPORARY TABLE {_UNSORTED} {columns}")
        for keys, ids in rows.pages():
            pairs = list(zip(keys, ids, strict=True))
            if not is_unsorted and isinstance(keys[0], int):
                # In the order of the key, a page of the table is read and written once.
                pairs.sort()
            with transaction.atomic(target.using):
                if connection.vendor == "postgresql":
                    types = (field.db_type(connection) for field in (to.key_field, to.next_field))
                    arrays = ", ".join(f"%s::{db_type}[]" for db_type in types)
                    lists = [key for key, _ in pairs], [new for _, new in pairs]
                    cursor.execute(f"{insert} SELECT * FROM unnest({arrays})", lists)
                elif is_unsorted:
                    cursor.executemany(f"INSERT INTO {_UNSORTED} VALUES (%s, %s)", pairs)
                else:  # Drivers of MariaDB and MySQL join the pairs to large statements.
                    cursor.executemany(f"{insert} VALUES (%s, %s)", pairs)
        if is_unsorted:
            cursor.execute(f"{insert} SELECT * FROM {_UNSORTED} ORDER BY {OLD_KEY}")
            cursor.execute(f"DROP TABLE {_UNSORTED}")


class _RowsInTemporaryTable:
    """The rows of a target with times in a column and a key of one column, in order, with new ids.
    The temporary table is dropped at the end of the context, and after an error by the next one."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._connection: Any = connections[target.using]
        self._number = "rowid" if self._connection.vendor == "sqlite" else "n"

    def __enter__(self) -> _RowsInTemporaryTable:
        target, vendor = self._target, self._connection.vendor
        place = target.source.selected_place
        selected = {_PLACE: F(place) if isinstance(place, str) else place, _KEY: F("pk")}
        rows = target.missing.annotate(**selected).values_list(_PLACE, _KEY)
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

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:  # else the transaction may be aborted
            self._drop()

    @property
    def count(self) -> int:
        return int(self._execute(f"SELECT COUNT(*) FROM {_TABLE}")[0][0])

    def pages(self) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
        """The keys and the new ids of each page, as the database stores them.

        Raises ``BackfillError``, naming a row, if an id can't be generated.
        """
        target, source = self._target, self._target.source
        storage = target.field.stored(self._connection)
        columns = "*" if self._number == "n" else "rowid, *"
        sql = f"SELECT {columns} FROM {_TABLE} WHERE {self._number} > %s ORDER BY 1 LIMIT %s"
        last, size = 0, _PAGE
        while rows := self._execute(sql, [last, size]):
            places = [place for _, place, _ in rows]
            if self._convert:
                converted = self._apply(((place,) for place in places), self._convert)
                places = [place for (place,) in converted]
            if len(rows) == size:  # There may be more of the last tick.
                start, _ = target.tick_of(places[-1])
                while places and source.at(places[-1]) >= start:
                    places.pop()
                if not places:
                    size *= 2
                    continue
                del rows[len(places) :]
            last, size = rows[-1][0], _PAGE
            keys = [key for _, _, key in rows]
            ticks = target.scheme.ticks(list(source.microseconds(places)))
            try:
                numbers, _ = mint(target.scheme, ticks, None, 0)
            except TickFull as error:
                raise target.stopped((places[error.last], keys[error.last]), error) from error
            yield keys, storage.all_to_db(numbers, self._connection)

    def _drop(self) -> None:
        temporary = "TEMPORARY " if self._connection.vendor == "mysql" else ""
        self._execute(f"DROP {temporary}TABLE IF EXISTS {_TABLE}")

    def _execute(self, sql: str, parameters: Any = None) -> list[Any]:
        with self._connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return list(cursor.fetchall()) if cursor.description else []
