"""History tables contain keys of deleted rows: each gets a new key, and undoing restores the
old."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import DateTimeField, Exists, OuterRef, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone

from ..backfill.sources.base import Given
from ..db import tables
from ..db.queries import value
from ..errors import BackfillError
from ..functions.time_columns import as_stored, last_tick, time_range
from ..schemes import TimeScheme
from .changes.graph import Column, Key, Table, Values
from .changes.moved import NEW_KEY, OLD_KEY, TIME, History, MovedKey
from .changes.texts import deleted_keys
from .engines.base import KeyEngine
from .key_map import fill, number_the_rest, write_old_keys

_TRIES = 10
_COMPARED = 500
"""Values in one query."""
_PAGE = 10_000
_INSERTED = """
INSERT INTO {table} ({key}, {time}) SELECT found_key, MIN(found_at) FROM ({found}) s
GROUP BY found_key ORDER BY MIN(found_at), found_key
"""
_COUNTED = "SELECT COUNT(DISTINCT found_key) FROM ({found}) s"
_KEPT = """
INSERT INTO {kept} (old_key, new_key) SELECT old_key, new_key FROM {map} WHERE time IS NOT NULL
"""


class DeletedKeys:
    """The keys of a change that only ``histories`` contain."""

    def __init__(self, engine: KeyEngine, histories: Iterable[History]) -> None:
        self._engine = engine
        self._connection = engine.connection
        self._times: Mapping[str, str] = dict(histories)
        self._copied = [(key, key.kept) for key in engine.change.keys if key.kept is not None]

    def fill_new_keys(self, moved: Iterable[MovedKey]) -> None:
        """Add each to the map, with a new key of the time of the first row that has it, or the one
        that its old key is converted to.

        Raises ``BackfillError`` for old keys that can't be converted.
        """
        by_label = {each.model: each for each in moved}
        for key, kept in self._copied:
            self._collect(key)
            self._bring_into_range(key)
            is_converted = by_label[key.label].convert_from == by_label[key.label].name
            given = Given(convert_from=OLD_KEY) if is_converted else Given(created_from=TIME)
            for _ in range(_TRIES):
                fill(key, given, self._engine.using)
                if not self._forget_taken(key):
                    break
            else:
                raise BackfillError(
                    f"{key.label}: deleted rows in its history would get keys of other rows: "
                    f"look into {key.map.table}"
                )
            if key.old is not None:
                self._keep(key, kept)

    def _bring_into_range(self, key: Key) -> None:
        """Give those of times that the scheme doesn't have its first or its last one."""
        scheme = key.map.next_field.scheme
        if isinstance(scheme, TimeScheme):
            keys, (start, end) = self._all(key.map.model), map(as_stored, time_range(scheme))
            keys.filter(**{f"{TIME}__lt": start}).update(**{TIME: start})
            keys.filter(**{f"{TIME}__gte": end}).update(**{TIME: as_stored(last_tick(scheme))})

    def _forget_taken(self, key: Key) -> int:
        """Forget new keys that are those of rows which exist; return how many there were."""
        rows = self._all(key.map.model)
        live = rows.filter(**{f"{TIME}__isnull": True, NEW_KEY: OuterRef(NEW_KEY)})
        taken = rows.filter(Exists(live), **{f"{TIME}__isnull": False})
        pks = list(taken.values_list("pk", flat=True)[:_COMPARED])
        return rows.filter(pk__in=pks).update(**{NEW_KEY: None})

    def _keep(self, key: Key, kept: Values) -> None:
        """Write the pairs into a table that remains; those of a move that was stopped go."""
        self._engine.drop_table(kept.table)
        if self._all(key.map.model).filter(**{f"{TIME}__isnull": False}).exists():
            self._engine.create_table(kept.model, like=key.table)
            names = map(self._engine.quote, (kept.table, key.map.table))
            self._engine.execute(_KEPT.format(**dict(zip(("kept", "map"), names, strict=True))))

    def fill_old_keys(self) -> None:
        """Give an old key to rows of the map that have none, and to those of deleted rows: the one
        that they had, or the next. No row gets the old key of another one."""
        for key in self._engine.change.keys:
            self._restore(key)
            number_the_rest(self._engine, key)
        for key, _ in self._copied:
            self._collect(key)
            self._restore(key)
            number_the_rest(self._engine, key)

    def _restore(self, key: Key) -> None:
        for rows, new, old in self._with_old_keys(key):
            missing = self._all(key.map.model).filter(**{f"{key.map.next}__isnull": True})
            missing = rest = missing.order_by("pk")
            while pks := list(rest.values_list("pk", flat=True)[:_PAGE]):
                rest = missing.filter(pk__gt=pks[-1])
                write_old_keys(self._engine, key, self._known(key, rows, new, old, pks).items())

    def _known(
        self, key: Key, rows: QuerySet[Any], new: str, old: str, pks: list[Any]
    ) -> dict[Any, Any]:
        """The old key of each that rows know, without those that others have."""
        known: dict[Any, Any] = {}
        for start in range(0, len(pks), _COMPARED):
            part = {f"{new}__in": pks[start : start + _COMPARED], f"{old}__isnull": False}
            found = {was: pk for pk, was in rows.filter(**part).order_by().values_list(new, old)}
            others = self._all(key.map.model).filter(**{f"{key.map.next}__in": list(found)})
            for taken in others.values_list(key.map.next, flat=True):
                found.pop(taken, None)
            known |= {pk: was for was, pk in found.items()}
        return known

    def _with_old_keys(self, key: Key) -> Iterator[tuple[QuerySet[Any], str, str]]:
        """Rows that know old keys, with the fields of the present and of the old one."""
        if key.kept and tables.kind(self._connection, key.kept.table):
            yield self._all(key.kept.model), NEW_KEY, OLD_KEY
        for _, column in self._engine.change.histories:
            if column.key is key and column.gone:
                own = column.before.model._meta.local_concrete_fields
                (old,) = (each.name for each in own if each.column == column.gone)
                yield self._all(column.before.model), column.before.name, old

    def drop_tables(self, labels: Iterable[str]) -> None:
        """Drop those that kept old keys of these models, which don't come back."""
        for key, kept in self._copied:
            if key.label in labels:
                self._engine.drop_table(kept.table)

    def _collect(self, key: Key) -> None:
        quote, present = self._engine.quote, key.map.column
        if found := self._found(self._columns(key), key.map):
            names = {"table": quote(key.map.table), "key": quote(present), "time": quote(TIME)}
            self._engine.execute(_INSERTED.format(found=found, **names))
        for texts in self._engine.change.texts:
            if texts.is_adopted and tables.kind(self._connection, texts.table):
                for keys in deleted_keys(self._connection, texts, key, key.map):
                    # A model of the map would generate the other key.
                    prepared = key.map.key_field.get_db_prep_save
                    stored = [[prepared(each, self._connection)] for each in keys]
                    insert = f"INSERT INTO {quote(key.map.table)} ({quote(present)}) VALUES (%s)"
                    with self._connection.cursor() as cursor:
                        cursor.executemany(insert, stored)
        untimed = {f"{key.map.next}__isnull": True, f"{TIME}__isnull": True}
        self._all(key.map.model).filter(**untimed).update(**{TIME: timezone.now()})

    def count(self, key: Key) -> int:
        """The number of these keys in history tables, before they move."""
        return self._count(key, [each for each in self._columns(key) if self._time(each[1])])

    def adopted(self) -> Iterator[tuple[str, int]]:
        """Each adopted column, and the number of keys of deleted rows in it."""
        for key, _ in self._copied:
            for table, column in self._columns(key):
                if self._time(column) is None:
                    yield f"{table.name}.{column.name}", self._count(key, [(table, column)])
        for texts in self._engine.change.texts:
            if texts.is_adopted:
                found = (
                    deleted_keys(self._connection, texts, key, key.own) for key, _ in self._copied
                )
                number = sum(len(part) for each in found for part in each)
                yield f"{texts.table}.{texts.column}", number

    def _count(self, key: Key, columns: list[tuple[Table, Column]]) -> int:
        found = self._found(columns, key.own)
        return int(value(self._connection, _COUNTED.format(found=found))) if found else 0

    def _columns(self, key: Key) -> list[tuple[Table, Column]]:
        return [each for each in self._engine.change.histories if each[1].key is key]

    def _found(self, columns: list[tuple[Table, Column]], known: Values) -> str:
        """A query for the values that are none of the known keys, each with the time of its row;
        NULL in adopted columns."""
        kind = DateTimeField().cast_db_type(self._connection)
        return " UNION ALL ".join(
            f"SELECT t.{self._engine.quote(column.name)} AS found_key, "
            f"{self._time(column) or f'CAST(NULL AS {kind})'} AS found_at "
            f"{self._engine.with_orphans(table, column, known)}"
            for table, column in columns
        )

    def _time(self, column: Column) -> str | None:
        """The time of a history row in SQL; None in other tables. The row of another table that has
        it may be gone."""
        meta = column.before and column.before.model._meta
        path = self._times.get(meta.label) if meta else None
        if path is None:
            return None
        quote = self._engine.quote
        relation, _, name = path.rpartition(LOOKUP_SEP)
        if not relation:
            return f"t.{quote(meta.get_field(name).column)}"
        field = meta.get_field(relation)
        other = field.related_model._meta
        time, key = (quote(each.column) for each in (other.get_field(name), other.pk))
        return (
            f"(SELECT o.{time} FROM {quote(other.db_table)} o "
            f"WHERE o.{key} = t.{quote(field.column)})"
        )

    def _all(self, model: Any) -> QuerySet[Any]:
        return QuerySet(model, using=self._connection.alias)
