"""Gives every row the value that its key will get: in a column of its own, or in a map. On the way
back, rows that came after the move get a key of the old type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, islice
from typing import Any

from django.db import connections, transaction
from django.db.migrations.operations import AddField
from django.db.migrations.state import ProjectState
from django.db.models import IntegerField, QuerySet

from ..backfill import checks, plan, run
from ..backfill.engines import engine_of
from ..backfill.sources import find
from ..backfill.sources.find import every_row
from ..backfill.sources.periods import Unsourced
from ..backfill.sources.target import EveryRow, Target
from ..backfill.writing import sorted_rows
from ..backfill.writing.sorted_rows import NewIDs, SortedRows
from ..db import chunks, tables
from ..db.locks import with_short_lock_timeout
from ..errors import BackfillError
from ..fields import SortableIDField
from ..models import BackfillRun, MoveNote
from ..schema.constraints import redefined
from ..schema.constraints_sqlite import drop_column
from . import notes
from .changes import Key, Values
from .changes.graph import rendered
from .changes.maps import DELETED, LIVE, NEW_KEY, OLD_KEY, is_mapped
from .changes.moved import KeyCopy, MovedKey

BATCH = 100_000
"""Rows in a transaction. Nobody else uses the tables, so nobody waits."""


def with_next_keys(state: ProjectState, moved: Sequence[MovedKey], vendor: str) -> ProjectState:
    """The state with a field or a map for the new keys of each model, and with the tables of keys
    of deleted rows."""
    filled = rendered(state)
    mapped = [each for each in moved if is_mapped(each, filled.apps, vendor)]
    for key in moved:
        if key in mapped:
            continue
        unlike = ("primary_key", "serialize", "blank", "db_column")
        field = redefined(key.field, *unlike, null=True)
        AddField(key.model_key[1], key.next_name, field).state_forwards(key.model_key[0], filled)
    LIVE.add_models(filled, mapped, state)
    DELETED.add_models(filled, moved, state)
    return filled


def add_columns(
    editor: Any, state: ProjectState, filled: ProjectState, moved: Iterable[MovedKey]
) -> None:
    """Add the columns of these fields, unless a killed run has. What was filled before the
    migration was edited is dropped first."""
    for key in moved:
        is_of_another = notes.is_of_another(key, editor.connection.alias)
        if is_of_another:
            _drop_table(editor, DELETED.model_of(filled.apps, key)._meta.db_table)
        if LIVE.model_of(filled.apps, key):
            _drop_column(editor, state, filled, key)
            if not editor.collect_sql:
                notes.remember(key, editor.connection.alias)
            continue
        model = filled.apps.get_model(key.model)
        # A map of the key, which has a column now.
        _drop_table(editor, LIVE.table_of(model._meta.db_table))
        field = model._meta.get_field(key.next_name)
        if is_of_another and _has_column(editor, field):
            remove_column(editor, field)
        if not _has_column(editor, field):
            if not editor.collect_sql:
                forget([key], editor.connection.alias)
                notes.remember(key, editor.connection.alias)
            add_column(editor, state.apps.get_model(key.model), field)


def _drop_column(editor: Any, state: ProjectState, filled: ProjectState, key: MovedKey) -> None:
    """Drop the column of a key that is mapped now."""
    table = filled.apps.get_model(key.model)._meta.db_table
    if tables.has_column(editor.connection, table, key.next_name):
        unmapped = with_next_keys(state, [key], "").apps.get_model(key.model)
        remove_column(editor, unmapped._meta.get_field(key.next_name))


def _drop_table(editor: Any, table: str) -> None:
    if tables.kind(editor.connection, table):
        editor.execute(f"DROP TABLE {editor.quote_name(table)}")


def _has_column(editor: Any, field: Any) -> bool:
    return tables.has_column(editor.connection, field.model._meta.db_table, str(field.column))


def check(moved: Sequence[MovedKey], state: ProjectState, using: str) -> None:
    """Raise ``BackfillError`` for rows that ``fill_new_keys`` would refuse, when the application is
    stopped already. Writes nothing."""
    filled = with_next_keys(state, moved, "")
    for key in moved:
        model = filled.apps.get_model(key.model)
        target = replace(
            every_row(model, model._meta.get_field(key.next_name), key.given, using),
            on_null=key.on_null,
            on_out_of_range=key.on_out_of_range,
        )
        checks.check_rows(target, chunks.count(target.rows), engine_of(using), may_be_misread=True)


def fill_new_keys(
    moved: Iterable[MovedKey], filled: ProjectState, using: str, *, allow_triggers: bool
) -> None:
    """Fill the columns that ``add_columns`` added, by the same backfill as ``backfill_ids``, and
    the empty maps.

    Raises ``BackfillError`` for rows without a usable time.
    """
    checked: set[tuple[str, str]] = set()
    for key in moved:
        model = filled.apps.get_model(key.model)
        if (mapped := LIVE.model_of(filled.apps, key)) is not None:
            _fill_map(key, model, mapped, using, checked)
            continue
        target = replace(
            find.of_source(model, model._meta.get_field(key.next_name), key.given, using),
            on_null=key.on_null,
            on_out_of_range=key.on_out_of_range,
            allow_triggers=allow_triggers,
        )
        if target.without_id.exists():
            fill(target)


def _fill_map(
    key: MovedKey, model: Any, mapped: Any, using: str, checked: set[tuple[str, str]]
) -> None:
    """``checked`` are the tables and columns whose times were checked."""
    target = every_row(model, mapped._meta.get_field(NEW_KEY), key.given, using)
    times = target.source.field
    source = times.model._meta.db_table, str(times.column)
    _write_map(target, mapped._meta.db_table, is_checked=source in checked)
    checked.add(source)


def fill(target: Target) -> None:
    """Fill a table that nobody else uses."""
    planned = plan.build(target, BATCH)
    if sorted_rows.can_fill(target):
        sorted_rows.fill(target)
    # Also the rows that the policies for times handle after all others.
    if target.without_id.exists():
        run.execute(planned)


def described(moved: Iterable[MovedKey], filled: ProjectState) -> Iterator[str]:
    """What ``fill_new_keys`` does, whose statements depend on the rows."""
    for key in moved:
        meta = filled.apps.get_model(key.model)._meta
        if mapped := LIVE.model_of(filled.apps, key):
            yield f"{mapped._meta.db_table} gets the new keys of {meta.db_table}"
        else:
            column = f"{meta.db_table}.{meta.get_field(key.next_name).column}"
            yield f"{column} gets new keys, {BATCH:,} rows in a transaction"


def forget(moved: Sequence[MovedKey], using: str, copies: Iterable[KeyCopy] = ()) -> None:
    """Delete the records of these backfills, whose columns are gone or stay."""
    labels = [f"{key.model}.{key.next_name}" for key in moved]
    labels += [DELETED.label_of(key) for key in moved]
    labels += [*map(notes.target_of, moved), *map(notes.target_of, copies)]
    for records in (BackfillRun, MoveNote):
        records.objects.using(using).filter(target__in=labels).delete()


def add_column(editor: Any, model: Any, field: Any) -> None:
    """Add the column of the field to the table of the model."""
    with_short_lock_timeout(editor, lambda: editor.add_field(model, field))


def remove_column(editor: Any, field: Any) -> None:
    """Drop the column of the field."""
    if editor.connection.vendor == "sqlite":
        # Django would copy the table and lose what the model doesn't know.
        drop_column(editor, field)
    else:
        with_short_lock_timeout(editor, lambda: editor.remove_field(field.model, field))


_NEXT = "sortable_ids_next"
"""The function of SQLite that returns the next id of a page."""
_ROWS = 10_000
"""In one INSERT."""
_UNSORTED = "sorted_rows_with_ids"


def _write_map(target: EveryRow, map_table: str, *, is_checked: bool) -> None:
    """Write an id for every row of the target into the empty table ``map_table``.

    ``is_checked`` says that the times of its source were checked already. Raises ``BackfillError``
    for a row without a usable time.
    """
    with SortedRows(target) as rows:
        _check(target, rows, is_checked)
        ids = NewIDs(target, rows)
        if connections[target.using].vendor == "sqlite":
            _write_in_sqlite(target, map_table, rows, ids)
        else:
            _write_in_mysql(target, map_table, rows, ids)


def _check(target: EveryRow, rows: SortedRows, is_checked: bool) -> None:
    """The first and the last time show whether all are there and in the scheme's range."""
    ends = rows.ends
    if ends is not None:
        checks.check_rows(
            target,
            rows.count,
            engine_of(target.using),
            may_be_misread=not is_checked,
            are_in_range=_are_in_range(target, ends),
        )


def _are_in_range(target: EveryRow, ends: Sequence[Any]) -> bool:
    if None in ends or target.time_range is None:
        return False
    start, end = target.time_range
    return all(start <= target.source.at(each) < end for each in ends)


def _write_in_sqlite(target: EveryRow, map_table: str, rows: SortedRows, ids: NewIDs) -> None:
    """The map is written in the order of its key, because a row at a random place takes several
    times as long as sorting it."""
    connection: Any = connections[target.using]
    quote = connection.ops.quote_name
    (key,) = rows.key_columns
    with transaction.atomic(target.using), connection.cursor() as cursor:
        cursor.execute(f"CREATE TEMPORARY TABLE {_UNSORTED} (old_key, new_key)")
        for page in rows.places():
            with _next_of(connection, ids.stored(page)):
                cursor.execute(
                    f"INSERT INTO {_UNSORTED} SELECT {quote(key)}, {_NEXT}() FROM {rows.table} "
                    f"WHERE rowid BETWEEN %s AND %s ORDER BY rowid",
                    [page.first, page.last],
                )
        cursor.execute(
            f"INSERT INTO {quote(map_table)} ({OLD_KEY}, {NEW_KEY}) "
            f"SELECT old_key, new_key FROM {_UNSORTED} ORDER BY old_key"
        )
        cursor.execute(f"DROP TABLE {_UNSORTED}")


@contextmanager
def _next_of(connection: Any, stored: Sequence[Any]) -> Iterator[None]:
    """``_NEXT`` returns one of these after the other."""
    create = connection.connection.create_function
    create(_NEXT, 0, iter(stored).__next__)
    try:
        yield
    finally:
        create(_NEXT, 0, None)


def _write_in_mysql(target: EveryRow, map_table: str, rows: SortedRows, ids: NewIDs) -> None:
    connection: Any = connections[target.using]
    quote = connection.ops.quote_name
    sql = f"INSERT INTO {quote(map_table)} ({OLD_KEY}, {NEW_KEY}) VALUES "
    for page in rows.pages():
        # In the order of the key, a page of the table is read and written once.
        pairs = sorted(zip((key for (key,) in page.keys), ids.stored(page), strict=True))
        with transaction.atomic(target.using), connection.cursor() as cursor:
            for start in range(0, len(pairs), _ROWS):
                listed = [f"({key},{_literal(new)})" for key, new in pairs[start : start + _ROWS]]
                cursor.execute(sql + ",".join(listed))


def _literal(stored: Any) -> str:
    """An id in SQL: the driver takes several times as long to write one."""
    if isinstance(stored, int):
        return str(stored)
    text = stored.hex() if isinstance(stored, bytes) else str(stored)
    if not text.replace("-", "").isalnum() or not text.isascii():
        raise BackfillError(f"{text!r} is no id")
    return f"x'{text}'" if isinstance(stored, bytes) else f"'{text}'"


def fill_old_keys(key: Key, using: str, last_number: Callable[[Key], int]) -> None:
    """Give rows without an old key the next one, in the order of their ids: the next number after
    ``last_number``, or the default of the old key. Those that were deleted again get theirs after
    them.

    Raises ``BackfillError`` if the old key has neither.
    """
    following: Iterator[Any] | None = None
    for values in key.values:
        write = None
        rows: QuerySet[Any] = QuerySet(values.model, using=using)
        missing = rows.filter(**{f"{values.next_field.name}__isnull": True})
        missing = missing.order_by(values.key_field.name)
        while found := list(missing.values_list("pk", flat=True)[:BATCH]):
            following = following or _next_keys(key, last_number)
            write = write or _Writer(values, using)
            write(found, list(islice(following, len(found))))


def give_back(values: Values, known: Iterable[tuple[Any, Any]], using: str) -> None:
    """Give rows without an old key a known one: pairs of the primary key and the old key."""
    write = None
    pairs = iter(known)
    while page := list(islice(pairs, BATCH)):
        pks, old = zip(*page, strict=True)
        write = write or _Writer(values, using)
        write(pks, old)


class _Writer:
    """Writes old keys into a table, whose statistics are collected at first."""

    def __init__(self, values: Values, using: str) -> None:
        self._using = using
        self._connection = connections[using]
        self._field, self._pk = values.next_field, values.model._meta.pk
        tables.analyze(self._connection, values.table)
        target = Target(self._field, Unsourced.of(values.model, using))
        self._statements = engine_of(using).statements(target, with_times=False)

    def __call__(self, pks: Sequence[Any], old: Sequence[Any]) -> None:
        connection = self._connection
        keys = [[self._pk.get_db_prep_save(each, connection)] for each in pks]
        stored = [self._field.get_db_prep_save(each, connection) for each in old]
        with transaction.atomic(self._using):
            self._statements.send(keys, stored, [])


def _next_keys(key: Key, last_number: Callable[[Key], int]) -> Iterator[Any]:
    old = key.after
    if isinstance(old, IntegerField) and not isinstance(old, SortableIDField):
        return count(last_number(key) + 1)
    if not old.has_default():
        raise BackfillError(
            f"{key.label}: rows that were inserted since the key was moved have no "
            f"{key.live.next_field.name}, and a {type(old).__name__} has no next value: fill it, "
            f"and migrate again"
        )
    return iter(old.get_default, None)
