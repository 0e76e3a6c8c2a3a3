"""History tables contain keys of deleted rows: each gets a new key, and undoing restores the old.
They may also copy the field of the old key."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from django.core.exceptions import FieldDoesNotExist
from django.db import models
from django.db.migrations.state import ProjectState
from django.db.models import Exists, F, OuterRef, QuerySet, Subquery
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone

from ..backfill.engines.mysql_statements import kept_assignments
from ..backfill.sources import find
from ..backfill.sources.base import Given
from ..db import tables
from ..db.queries import value
from ..errors import BackfillError
from . import notes
from .changes import Column, Key, Table, Values
from .changes.maps import NEW_KEY, OLD_KEY, TIME
from .changes.moved import OLD, History, KeyCopy, MovedKey, source_of
from .engines.base import KeyEngine
from .key_map import add_column, fill, give_back, remove_column
from .texts import deleted_keys

_TRIES = 10
_COMPARED = 500
"""Values in one query."""
_INSERTED = """
INSERT INTO {table} ({key}, {time}) SELECT found_key, MIN(found_at) FROM ({found}) s
GROUP BY found_key ORDER BY MIN(found_at), found_key
"""
_COUNTED = "SELECT COUNT(DISTINCT found_key) FROM ({found}) s"


class DeletedKeys:
    """The keys of a change that only ``histories`` contain."""

    def __init__(self, engine: KeyEngine, histories: Iterable[History]) -> None:
        self._engine = engine
        self._connection = engine.connection
        self._times: Mapping[str, str] = dict(histories)
        self._copied = [(key, key.deleted) for key in engine.change.keys if key.deleted is not None]

    def collect(self) -> None:
        """Write them into tables of their own, with the time of the first row that has each."""
        self.create_tables()
        quote = self._engine.quote
        for key, deleted in self._copied:
            restored = Exists(self._all(key.model).filter(pk=OuterRef(deleted.column)))
            self._all(deleted.model).filter(restored).delete()
            found, parameters = self._found(key)
            if found:
                names = {"table": deleted.table, "key": deleted.column, "time": TIME}
                quoted = {name: quote(each) for name, each in names.items()}
                self._engine.editor.execute(_INSERTED.format(found=found, **quoted), parameters)
            self._collect_adopted(key, deleted)

    def _collect_adopted(self, key: Key, deleted: Values) -> None:
        for table, column in self._adopted(key):
            quote, orphans = self._engine.quote, self._engine.with_orphans(table, column)
            self._engine.execute(
                f"INSERT INTO {quote(deleted.table)} ({quote(deleted.column)}) "
                f"SELECT DISTINCT t.{quote(column.name)} {orphans}"
            )
        for texts in self._engine.change.texts:
            if texts.is_adopted and tables.kind(self._connection, texts.table):
                for found in deleted_keys(self._connection, texts, key):
                    rows = [deleted.model(**{deleted.column: each}) for each in found]
                    self._all(deleted.model).bulk_create(rows, batch_size=1000)

    def _adopted(self, key: Key) -> Iterator[tuple[Table, Column]]:
        """The adopted columns with values of the key."""
        for table, column in self._engine.change.histories:
            if column.key is key and not self._is_history(column):
                yield table, column

    def _is_history(self, column: Column) -> bool:
        """Whether its rows have a time."""
        return column.before is not None and column.before.model._meta.label in self._times

    def create_tables(self) -> None:
        """Create the tables that are missing."""
        for key, deleted in self._copied:
            if not tables.kind(self._connection, deleted.table):
                self._engine.create_table(deleted.model, like=key.table)

    def described(self) -> Iterator[str]:
        """What ``collect`` and ``fill_new_keys`` do, whose statements depend on the rows."""
        for key, deleted in self._copied:
            yield f"{deleted.table} gets the keys of {key.label} that only histories contain"

    def count(self, key: Key) -> int:
        """The number of these keys in history tables, before they are collected."""
        found, parameters = self._found(key)
        sql = _COUNTED.format(found=found)
        return int(value(self._connection, sql, parameters)) if found else 0

    def adopted(self) -> Iterator[tuple[str, int]]:
        """Each adopted column, and the number of keys of deleted rows in it."""
        for key, _ in self._copied:
            for table, column in self._adopted(key):
                counted = f"COUNT(DISTINCT t.{self._engine.quote(column.name)})"
                sql = f"SELECT {counted} {self._engine.with_orphans(table, column)}"
                yield f"{table.name}.{column.name}", value(self._connection, sql)
        for texts in self._engine.change.texts:
            if texts.is_adopted:
                found = (deleted_keys(self._connection, texts, key) for key, _ in self._copied)
                number = sum(len(part) for each in found for part in each)
                yield f"{texts.table}.{texts.column}", number

    def fill_new_keys(self, moved: Iterable[MovedKey]) -> None:
        """Give each a new key of that time, or the one that its old key is converted to.

        Raises ``BackfillError`` for old keys that can't be converted.
        """
        by_label = {each.model: each for each in moved}
        for key, deleted in self._copied:
            self._all(deleted.model).filter(**{f"{TIME}__isnull": True}).update(
                **{TIME: timezone.now()}
            )
            for _ in range(_TRIES):
                self._fill(deleted, by_label[key.label])
                if not self._forget_taken(key, deleted):
                    break
            else:
                raise BackfillError(
                    f"{key.label}: deleted rows in its history would get keys of other rows: "
                    f"look into {deleted.table}"
                )

    def _fill(self, deleted: Values, moved: MovedKey) -> None:
        missing = self._all(deleted.model).filter(**{f"{NEW_KEY}__isnull": True})
        if missing.exists():
            is_converted = moved.convert_from == moved.name
            given = Given(convert_from=OLD_KEY) if is_converted else Given(created_from=TIME)
            field = deleted.model._meta.get_field(NEW_KEY)
            target = find.of_source(deleted.model, field, given, self._connection.alias)
            fill(replace(target, on_out_of_range="clamp"))

    def give_back_old_keys(self) -> None:
        """Give their old keys to rows that were deleted, and are there again under their new keys.

        No row gets the old key of another one.
        """
        for key, deleted in self._copied:
            if tables.kind(self._connection, deleted.table):
                self._give_back(key, self._all(deleted.model), NEW_KEY, OLD_KEY)
        for column, name in self._with_old_keys():
            self._give_back(column.key, self._all(column.before.model), column.before.name, name)

    def _give_back(self, key: Key, rows: QuerySet[Any], new: str, old: str) -> None:
        """``new`` and ``old`` are the fields of ``rows`` with both keys."""
        live, name = self._all(key.model), key.live.next_field.name
        missing = live.filter(**{"pk": OuterRef(new), f"{name}__isnull": True})
        found = rows.filter(Exists(missing), **{f"{old}__isnull": False}).order_by()
        known = {number: pk for pk, number in found.values_list(new, old)}
        # Columns of texts with different collations can't be compared in the database.
        numbers = list(known)
        for start in range(0, len(numbers), _COMPARED):
            same = {f"{name}__in": numbers[start : start + _COMPARED]}
            for taken in live.filter(**same).values_list(name, flat=True):
                known.pop(taken, None)
        pairs = {pk: number for number, pk in known.items()}
        give_back(key.live, pairs.items(), self._connection.alias)

    def read_old_keys(self) -> None:
        """Read the old keys of rows that were deleted since the move, where histories have them."""
        for column, name in self._with_old_keys():
            assert column.key.deleted is not None
            same = {column.before.name: OuterRef(NEW_KEY), f"{name}__isnull": False}
            known = self._all(column.before.model).filter(**same).order_by().values(name)
            missing = self._all(column.key.deleted.model).filter(**{f"{OLD_KEY}__isnull": True})
            missing.update(**{OLD_KEY: Subquery(known[:1])})
        for key, deleted in self._copied:
            self._forget_taken(key, deleted)

    def _with_old_keys(self) -> Iterator[tuple[Column, str]]:
        """The columns of histories, each with the name of the field that keeps the old key."""
        for _, column in self._engine.change.histories:
            name = f"{OLD}{column.before.name}" if self._is_history(column) else ""
            if name and _has(column.before.model, name) and column.key.deleted is not None:
                yield column, name

    def _forget_taken(self, key: Key, deleted: Values) -> int:
        """Forget next values that are those of rows which exist; return how many there were."""
        taken = self._all(key.live.model).values(key.live.next_field.name)
        rows = self._all(deleted.model).filter(**{f"{deleted.next}__in": taken})
        return rows.update(**{deleted.next: None})

    def drop_tables(self, labels: Collection[str]) -> None:
        """Drop those of these models, and those without rows."""
        for key, deleted in self._copied:
            if not tables.kind(self._connection, deleted.table):
                continue
            if key.label in labels or not self._all(deleted.model).exists():
                self._engine.execute(f"DROP TABLE {self._engine.quote(deleted.table)}")

    def _found(self, key: Key) -> tuple[str, list[Any]]:
        """A query for these keys, each with a time, and its parameters."""
        parts: list[str] = []
        parameters: list[Any] = []
        for _, column in self._engine.change.histories:
            if column.key is key and self._is_history(column):
                compiler = self._missing(column).query.get_compiler(self._connection.alias)
                sql, more = compiler.as_sql()
                parts.append(sql)
                parameters += more
        return " UNION ALL ".join(parts), parameters

    def _missing(self, column: Column) -> QuerySet[Any]:
        """The values of the column that are neither keys of rows nor collected."""
        key, field = column.key, column.before
        found = self._all(field.model).filter(
            ~Exists(self._all(key.model).filter(pk=OuterRef(field.attname))),
            **{f"{field.attname}__isnull": False},
        )
        if key.deleted and tables.kind(self._connection, key.deleted.table):
            same = {key.deleted.column: OuterRef(field.attname)}
            found = found.filter(~Exists(self._all(key.deleted.model).filter(**same)))
        found = found.annotate(found_key=F(field.attname), found_at=self._time(field.model))
        rows: QuerySet[Any] = found.order_by().values_list("found_key", "found_at")
        return rows

    def _time(self, model: Any) -> Any:
        """The time of a history row. The row of another table that has it may be gone."""
        relation, _, name = self._times[model._meta.label].rpartition(LOOKUP_SEP)
        if not relation:
            return F(name)
        field = model._meta.get_field(relation)
        others = self._all(field.related_model).filter(pk=OuterRef(field.attname))
        return Subquery(others.order_by().values(name)[:1])

    def _all(self, model: Any) -> QuerySet[Any]:
        return QuerySet(model, using=self._connection.alias)


def _has(model: Any, name: str) -> bool:
    try:
        model._meta.get_field(name)
    except FieldDoesNotExist:
        return False
    return True


def add_old_copies(
    editor: Any, before: ProjectState, after: ProjectState, copies: Iterable[KeyCopy]
) -> None:
    """Add these columns, unless a killed run has, and copy the keys into them. A column that was
    added before the migration was edited is dropped first."""
    for each in copies:
        model = before.apps.get_model(each.model)
        _drop_another(editor, model, each)
        if each.old is not None:
            meta = after.apps.get_model(each.model)._meta
            copied, old = (meta.get_field(name) for name in (each.name, each.old_name))
            if not editor.collect_sql:
                identity = {"column": str(old.column), "field": source_of(each.old)}
                notes.remember_copy(each, identity, editor.connection.alias)
            _add(editor, model, copied, old)


def _drop_another(editor: Any, model: Any, copy: KeyCopy) -> None:
    """Drop a column that was added for another field, if it is there."""
    known = notes.copied(copy, editor.connection.alias)
    if known is None or (copy.old is not None and known["field"] == source_of(copy.old)):
        return
    if tables.has_column(editor.connection, model._meta.db_table, known["column"]):
        field = models.IntegerField(null=True, db_column=known["column"])
        field.set_attributes_from_name(copy.old_name)
        field.model = model
        remove_column(editor, field)


def _add(editor: Any, model: Any, copied: Any, field: Any) -> None:
    table, connection = model._meta.db_table, editor.connection
    if not tables.has_column(connection, table, field.column):
        deferred = list(editor.deferred_sql)
        add_column(editor, model, field)
        # Indexes are created at once: a killed run would forget those that are deferred.
        editor.deferred_sql[:] = deferred
    known = {each.lower() for each in tables.constraints(connection, table)}
    for statement in editor._field_indexes_sql(model, field):
        if str(statement.parts["name"]).strip('"`').lower() not in known:
            editor.execute(statement)
    quoted, old, key = map(editor.quote_name, (table, field.column, copied.column))
    kept = kept_assignments(connection, table)
    editor.execute(f"UPDATE {quoted} SET {old} = {key}{kept} WHERE {old} IS NULL", ())


def drop_old_copies(editor: Any, state: ProjectState, copies: Iterable[KeyCopy]) -> None:
    """Drop these columns, unless a killed run has."""
    for field in _fields(state, copies):
        if tables.has_column(editor.connection, field.model._meta.db_table, field.column):
            remove_column(editor, field)


def _fields(state: ProjectState, copies: Iterable[KeyCopy]) -> Iterator[Any]:
    for each in copies:
        if each.old is not None:
            yield state.apps.get_model(each.model)._meta.get_field(each.old_name)
