"""Fills the map of a key: each row's present key, and the key that it gets. On the way back, rows
that came after the move get a key of the old type.

History tables contain keys of deleted rows: each gets a new key, too, and undoing restores the old.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import Any

from django.db import transaction
from django.db.migrations.state import ProjectState
from django.db.models import DateTimeField, Exists, IntegerField, OuterRef, QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.utils import timezone

from ..backfill import plan, run
from ..backfill.engines import engine_of
from ..backfill.sources.base import Given
from ..backfill.sources.find import every_row, target_of
from ..backfill.sources.periods import Unsourced
from ..backfill.sources.target import OnNull, Target
from ..db import tables, value
from ..errors import BackfillError
from ..fields import SortableIDField
from ..functions.time_columns import as_stored, time_range
from ..schema.constraints import redefined
from ..schemes import TimeScheme
from ..schemes.clock_and_randomness import MICROSECOND
from . import notes
from .changes.change import Key, KeyColumn, ReferringColumn, Table
from .changes.engine import KeyEngine
from .changes.moved import NEW_KEY, OLD_KEY, TIME, History, MovedKey, copied, is_written_at_once
from .changes.texts import deleted_keys
from .sorted_keys import write_sorted

BATCH = 100_000
"""Rows in a transaction. Nobody else uses the tables, so nobody waits."""
_TRIES = 10
_COMPARED = 500
"""Values in one query."""
_INSERTED = """
INSERT INTO {table} ({key}, {time}) SELECT found_key, MIN(found_at) FROM ({query}) s
GROUP BY found_key ORDER BY MIN(found_at), found_key
"""
_COUNTED = "SELECT COUNT(DISTINCT found_key) FROM ({query}) s"
_KEPT = """
INSERT INTO {} (old_key, new_key) SELECT old_key, new_key FROM {} WHERE time IS NOT NULL
"""


def check(moved: Sequence[MovedKey], state: ProjectState, using: str) -> Iterator[str]:
    """Warnings. Raises ``BackfillError`` for rows that ``fill_new_keys`` would refuse later, when
    the application is stopped already. Writes nothing."""
    for key in moved:
        model = state.apps.get_model(key.model)
        field = redefined(key.field, "primary_key", "serialize", "blank", "db_column", null=True)
        field.set_attributes_from_name(NEW_KEY)
        field.model = model
        target = replace(every_row(model, field, key.given, using), on_null=key.on_null)
        plan.check_writable(target, target.rows.count())
        plan.check_future(target)
        yield from (f"{key.model}: {warning}" for warning in target.source.warnings)


class KeyMaps:
    """The maps of a move, also of the keys of deleted rows, which histories contain."""

    def __init__(self, engine: KeyEngine, histories: Iterable[History]) -> None:
        self._engine = engine
        self._connection = engine.connection
        self._quote = engine.quote
        self._times: Mapping[str, str] = dict(histories)
        self._copied = [(key, key.kept_keys) for key in engine.change.keys if key.kept_keys]

    def fill_new_keys(self, moved: Sequence[MovedKey]) -> None:
        """Write a new key for every row into the empty maps, and for deleted ones: that has the
        time of the first row that contains the old key, or is converted from it.

        Raises ``BackfillError`` for rows without a usable time, and for old keys that can't be
        converted.
        """
        for key, planned in zip(self._engine.change.keys, moved, strict=True):
            if is_written_at_once(planned):
                next_key, using = key.map.next_field, self._engine.using
                write_sorted(every_row(key.model, next_key, planned.given, using), key.map)
                continue
            fields = copied(planned)
            self._copy(key, {key.map.column: "pk", **fields})
            in_map = {name: name if name in fields else OLD_KEY for name in planned.field_arguments}
            self._fill(key, planned.given | in_map, planned.on_null)
        converted = {key.model for key in moved if key.convert_from == key.name}
        for key, kept in self._copied:
            self._collect(key)
            rows = self._all(key.map.model)
            deleted, scheme = rows.filter(**{f"{TIME}__isnull": False}), key.map.next_field.scheme
            if isinstance(scheme, TimeScheme):
                # Times that the scheme doesn't have become its first or its last one.
                start, end = map(as_stored, time_range(scheme))
                rows.filter(**{f"{TIME}__lt": start}).update(**{TIME: start})
                rows.filter(**{f"{TIME}__gte": end}).update(**{TIME: end - MICROSECOND})
            given = Given(created_from=TIME)
            if key.label in converted:
                given = Given(convert_from=OLD_KEY)
            live = rows.filter(**{f"{TIME}__isnull": True, NEW_KEY: OuterRef(NEW_KEY)})
            for _ in range(_TRIES):
                self._fill(key, given)
                # Keys of rows that exist are generated again.
                taken = deleted.filter(Exists(live)).values_list("pk", flat=True)[:_COMPARED]
                if not rows.filter(pk__in=list(taken)).update(**{NEW_KEY: None}):
                    break
            else:
                raise BackfillError(
                    f"{key.label}: deleted rows in its history would get keys of other rows: "
                    f"look into {key.map.table}"
                )
            if key.old is not None:
                # The pairs remain in a table, which a move that was stopped may have left.
                self._engine.drop_table(kept.table)
                if deleted.exists():
                    self._engine.create_table(kept.model, like=key.table)
                    names = map(self._quote, (kept.table, key.map.table))
                    self._engine.execute(_KEPT.format(*names))

    def _fill(self, key: Key, given: Given, on_null: OnNull = "error") -> None:
        using = self._engine.using
        target = target_of(key.map.model, key.map.next_field, given, using)
        target = replace(target, on_null=on_null, allow_triggers=True)  # The table is of this app.
        notes.forget_run(key, using)
        if target.without_id.exists():
            run.execute(plan.build(target, BATCH))

    def _copy(self, key: Key, fields: dict[str, str]) -> None:
        """Insert a row of the map for each row; ``fields`` maps its columns to the fields that they
        are copied from."""
        selected = self._all(key.model).order_by().values_list(*fields.values())
        sql, parameters = selected.query.get_compiler(self._engine.using).as_sql()
        names = ", ".join(map(self._quote, fields))
        insert = f"INSERT INTO {self._quote(key.map.table)} ({names}) {sql}"
        self._engine.editor.execute(insert, parameters or None)

    def fill_old_keys(self) -> None:
        """Write an old key into the empty maps for every row, also for deleted ones: the one that
        the row had, or the next. No row gets the old key of another one.

        Raises ``BackfillError`` for rows that had none, if their old key has no next value.
        """
        for key in self._engine.change.keys:
            self._copy(key, {key.map.column: "pk", key.map.next: key.dropped.name})
            self._complete(key)
        for key, _ in self._copied:
            self._collect(key)
            self._complete(key)

    def _complete(self, key: Key) -> None:
        pairs = self._all(key.map.model)
        missing = pairs.filter(**{f"{key.map.next}__isnull": True}).order_by("pk")
        if self._connection.vendor == "postgresql":
            # With statistics of a smaller table, it may look for each key in the whole table.
            self._engine.execute(f"ANALYZE {self._quote(key.map.table)}")
        # Rows with old keys, and the names of their fields for the present and the old key.
        sources = []
        if key.kept_keys and tables.kind(self._connection, key.kept_keys.table):
            sources.append((key.kept_keys.model, NEW_KEY, OLD_KEY))
        for _, column in self._engine.change.histories_of(key):
            if column.dropped is not None:
                sources.append((column.dropped.model, column.before.name, column.dropped.name))
        for model, new, old in sources:
            rows, rest = self._all(model), missing
            while pks := list(rest.values_list("pk", flat=True)[:_COMPARED]):
                rest = missing.filter(pk__gt=pks[-1])
                known = rows.filter(**{f"{new}__in": pks, f"{old}__isnull": False}).order_by()
                by_old = {was: pk for pk, was in known.values_list(new, old)}
                # Not those that another key has.
                assigned = pairs.filter(**{f"{key.map.next}__in": list(by_old)})
                for taken in assigned.values_list(key.map.next, flat=True):
                    by_old.pop(taken, None)
                self._send(key, by_old.values(), by_old.keys())
        if not missing.exists():
            return
        # The others get the next number, or the default of the old key, in the order of their ids.
        field, next_keys = key.after, iter(key.after.get_default, None)
        if isinstance(field, IntegerField) and not isinstance(field, SortableIDField):
            next_keys = count(self._engine.last_number(key) + 1)
        elif not field.has_default() or field.default is None:
            raise BackfillError(
                f"{key.label}: rows that were inserted since the key was moved have no "
                f"{key.dropped.name}, and {type(field).__name__} has no next value: fill "
                f"it, and migrate again"
            )
        while pks := list(missing.values_list("pk", flat=True)[:BATCH]):
            self._send(key, pks, islice(next_keys, len(pks)))

    def _send(self, key: Key, present: Iterable[Any], old: Iterable[Any]) -> None:
        """Write the old keys of present ones into the map."""
        field, pk, using = key.map.next_field, key.map.key_field, self._engine.using
        target = Target(field, Unsourced.of(key.map.model, using))
        keys = [pk.get_db_prep_save(value, self._connection) for value in present]
        stored = [field.get_db_prep_save(value, self._connection) for value in old]
        if keys:
            with transaction.atomic(using):
                engine_of(using).statements(target).send([keys], stored, [])

    def _collect(self, key: Key) -> None:
        quote, present = self._quote, key.map.column
        if query := self._query(self._engine.change.histories_of(key), key.map):
            names = {"table": quote(key.map.table), "key": quote(present), "time": quote(TIME)}
            self._engine.execute(_INSERTED.format(query=query, **names))
        for texts in self._engine.change.texts:
            if texts.is_adopted:
                for keys in deleted_keys(self._connection, texts, key, key.map):
                    # A model of the map would generate the other key.
                    prepare = key.map.key_field.get_db_prep_save
                    stored = [[prepare(old_key, self._connection)] for old_key in keys]
                    insert = f"INSERT INTO {quote(key.map.table)} ({quote(present)}) VALUES (%s)"
                    with self._connection.cursor() as cursor:
                        cursor.executemany(insert, stored)
        untimed = {f"{key.map.next}__isnull": True, f"{TIME}__isnull": True}
        self._all(key.map.model).filter(**untimed).update(**{TIME: timezone.now()})

    def count(self, key: Key) -> int:
        """The number of these keys in history tables, before they move."""
        histories = self._engine.change.histories_of(key)
        return self._count(key, [pair for pair in histories if self._time(pair[1])])

    def adopted(self) -> Iterator[tuple[str, int]]:
        """Each adopted column, and the number of keys of deleted rows in it."""
        for key, _ in self._copied:
            for table, column in self._engine.change.histories_of(key):
                if self._time(column) is None:
                    yield f"{table.name}.{column.name}", self._count(key, [(table, column)])
        for texts in self._engine.change.texts:
            if texts.is_adopted:
                pages = (
                    deleted_keys(self._connection, texts, key, key.own) for key, _ in self._copied
                )
                number = sum(len(keys) for keys_of_one in pages for keys in keys_of_one)
                yield f"{texts.table}.{texts.column}", number

    def _count(self, key: Key, columns: list[tuple[Table, ReferringColumn]]) -> int:
        query = self._query(columns, key.own)
        return int(value(self._connection, _COUNTED.format(query=query))) if query else 0

    def _query(self, columns: list[tuple[Table, ReferringColumn]], known: KeyColumn) -> str:
        """A query for the values that are none of the known keys, each with the time of its row;
        NULL in adopted columns."""
        kind = DateTimeField().cast_db_type(self._connection)
        return " UNION ALL ".join(
            f"SELECT t.{self._quote(column.name)} AS found_key, "
            f"{self._time(column) or f'CAST(NULL AS {kind})'} AS found_at "
            f"{self._engine.with_orphans(table.name, column, known)}"
            for table, column in columns
        )

    def _time(self, column: ReferringColumn) -> str | None:
        """The time of a history row in SQL, also of another table's row; None in other tables."""
        meta = column.before and column.before.model._meta
        path = self._times.get(meta.label) if meta else None
        if path is None:
            return None
        quote = self._quote
        relation, _, name = path.rpartition(LOOKUP_SEP)
        if not relation:
            return f"t.{quote(meta.get_field(name).column)}"
        field = meta.get_field(relation)
        other = field.related_model._meta
        time, key = quote(other.get_field(name).column), quote(other.pk.column)
        return (
            f"(SELECT o.{time} FROM {quote(other.db_table)} o "
            f"WHERE o.{key} = t.{quote(field.column)})"
        )

    def _all(self, model: Any) -> QuerySet[Any]:
        return QuerySet(model, using=self._connection.alias)
