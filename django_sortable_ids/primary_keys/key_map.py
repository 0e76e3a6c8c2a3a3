"""Fills the map of a key: each row's present key, and the key that it gets. On the way back, rows
that came after the move get a key of the old type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count, islice
from typing import Any

from django.db import connections, transaction
from django.db.migrations.state import ProjectState
from django.db.models import IntegerField, QuerySet

from ..backfill import plan, run
from ..backfill.engines import engine_of
from ..backfill.sources import find
from ..backfill.sources.base import Given
from ..backfill.sources.find import every_row
from ..backfill.sources.periods import Unsourced, WithoutTime
from ..backfill.sources.target import EveryRow, OnNull, Target
from ..backfill.writing.sorted_rows import SortedRows
from ..db import tables
from ..errors import BackfillError
from ..fields import SortableIDField
from ..schema.constraints import redefined
from . import notes
from .changes.graph import Key, Values
from .changes.moved import NEW_KEY, OLD_KEY, MovedKey, copied, is_written_at_once
from .engines.base import KeyEngine

BATCH = 100_000
"""Rows in a transaction. Nobody else uses the tables, so nobody waits."""
_UNSORTED = "sorted_rows_with_keys"


def check(moved: Sequence[MovedKey], state: ProjectState, using: str) -> Iterator[str]:
    """Warnings. Raises ``BackfillError`` for rows that ``fill_new_keys`` would refuse, when the
    application is stopped already. Writes nothing."""
    for key in moved:
        model = state.apps.get_model(key.model)
        field = redefined(key.field, "primary_key", "serialize", "blank", "db_column", null=True)
        field.set_attributes_from_name(NEW_KEY)
        field.model = model
        target = replace(every_row(model, field, key.given, using), on_null=key.on_null)
        plan.check_writable(target, target.rows.count(), engine_of(using))
        plan.check_late(target)
        yield from (f"{key.model}: {each}" for each in target.source.warnings(target))


def fill_new_keys(engine: KeyEngine, moved: Sequence[MovedKey]) -> None:
    """Write a new key for every row into the empty maps.

    Raises ``BackfillError`` for rows without a usable time.
    """
    for key, planned in zip(engine.change.keys, moved, strict=True):
        if is_written_at_once(planned):
            target = every_row(key.model, key.map.next_field, planned.given, engine.using)
            _write(replace(target, on_null=planned.on_null), key.map)
        else:
            fields = copied(planned)
            _copy(engine, key, {key.map.column: "pk", **fields})
            given = replace(planned.given, **{name: name for name in fields})
            if planned.convert_from == planned.name:
                given = replace(given, convert_from=OLD_KEY)
            fill(key, given, engine.using, on_null=planned.on_null)


def fill(key: Key, given: Given, using: str, on_null: OnNull = "error") -> None:
    found = find.of_source(key.map.model, key.map.next_field, given, using)
    target = replace(found, on_null=on_null)
    notes.forget_runs([key], using)
    if target.without_id.exists():
        run.execute(plan.build(target, BATCH))


def _copy(engine: KeyEngine, key: Key, fields: dict[str, str]) -> None:
    """Insert a row of the map for each row; ``fields`` are names of columns, and from which fields
    they are."""
    quote = engine.quote
    rows: QuerySet[Any] = QuerySet(key.model, using=engine.using)
    selected = rows.order_by().values_list(*fields.values())
    sql, parameters = selected.query.get_compiler(engine.using).as_sql()
    names = ", ".join(map(quote, fields))
    insert = f"INSERT INTO {quote(key.map.table)} ({names}) {sql}"
    engine.editor.execute(insert, parameters or None)


def _write(target: EveryRow, to: Values) -> None:
    """Sort the rows of the target once, and write the keys of all of them."""
    connection: Any = connections[target.using]
    columns = f"({OLD_KEY}, {NEW_KEY})"
    table = connection.ops.quote_name(to.table)
    insert = f"INSERT INTO {table} {columns}"
    # On SQLite the pairs are sorted before they get into the map, since a row at a random place of
    # a tree takes several times as long.
    is_unsorted = connection.vendor == "sqlite"
    with SortedRows(target) as rows, connection.cursor() as cursor:
        plan.check_writable(target, rows.count, engine_of(target.using))
        if is_unsorted:
            cursor.execute(f"DROP TABLE IF EXISTS {_UNSORTED}")
            cursor.execute(f"CREATE TEMPORARY TABLE {_UNSORTED} {columns}")
        for keys, ids in chain(rows.pages(), _without_time(target)):
            pairs: Iterable[Any] = zip(keys, ids, strict=True)
            if not is_unsorted and isinstance(keys[0], int):
                # In the order of the key, a page of the table is read and written once.
                pairs = sorted(pairs)
            with transaction.atomic(target.using):
                if connection.vendor == "postgresql":
                    kinds = (each.db_type(connection) for each in (to.key_field, to.next_field))
                    arrays = ", ".join(f"%s::{kind}[]" for kind in kinds)
                    old, new = map(list, zip(*pairs, strict=True))
                    cursor.execute(f"{insert} SELECT * FROM unnest({arrays})", [old, new])
                elif is_unsorted:
                    cursor.executemany(f"INSERT INTO {_UNSORTED} VALUES (%s, %s)", pairs)
                else:  # Drivers of MariaDB and MySQL join the pairs to large statements.
                    cursor.executemany(f"{insert} VALUES (%s, %s)", pairs)
        if is_unsorted:
            cursor.execute(f"{insert} SELECT * FROM {_UNSORTED} ORDER BY {OLD_KEY}")
            cursor.execute(f"DROP TABLE {_UNSORTED}")


def _without_time(target: EveryRow) -> Iterator[tuple[list[Any], list[Any]]]:
    """The keys and the ids of now of rows without a time, as the database stores them."""
    if target.on_null != "now":
        return
    rest, connection = WithoutTime.in_target(target), connections[target.using]
    keys = rest.missing.values_list("pk", flat=True)
    pages: QuerySet[Any] = keys
    while found := [(None, pk) for pk in pages[:BATCH]]:
        ids = rest.source.known_ids(rest, found)
        assert ids is not None, "the scheme has times"
        save = target.field.get_db_prep_save
        stored = [key for (key,) in rest.stored_keys([pk for _, pk in found])]
        yield stored, [save(each, connection) for each in ids]
        pages = keys.filter(pk__gt=found[-1][1])


def copy_old_keys(engine: KeyEngine) -> None:
    """Write the old key of every row that has one into the empty maps."""
    for key in engine.change.keys:
        _copy(engine, key, {key.map.column: "pk", key.map.next: key.own.next_field.name})


def number_the_rest(engine: KeyEngine, key: Key) -> None:
    """Give rows of the map without an old key the next one, in the order of their ids: the next
    number, or the default of the old key.

    Raises ``BackfillError`` if the old key has neither.
    """
    rows: QuerySet[Any] = QuerySet(key.map.model, using=engine.using)
    missing = rows.filter(**{f"{key.map.next}__isnull": True}).order_by("pk")
    following: Iterator[Any] | None = None
    while found := list(missing.values_list("pk", flat=True)[:BATCH]):
        following = following or _next_keys(engine, key)
        write_old_keys(engine, key, zip(found, following, strict=False))


def write_old_keys(engine: KeyEngine, key: Key, known: Iterable[tuple[Any, Any]]) -> None:
    """Write old keys into the map: pairs of the present key and the old one."""
    connection = engine.connection
    field, pk = key.map.next_field, key.map.key_field
    pairs = iter(known)
    while page := list(islice(pairs, BATCH)):
        tables.analyze(connection, key.map.table)
        target = Target(field, Unsourced.of(key.map.model, engine.using))
        statements = engine_of(engine.using).statements(target)
        keys = [[pk.get_db_prep_save(each, connection)] for each, _ in page]
        stored = [field.get_db_prep_save(old, connection) for _, old in page]
        with transaction.atomic(engine.using):
            statements.send(keys, stored, [])


def _next_keys(engine: KeyEngine, key: Key) -> Iterator[Any]:
    old = key.after
    if isinstance(old, IntegerField) and not isinstance(old, SortableIDField):
        return count(engine.last_number(key) + 1)
    if not old.has_default():
        raise BackfillError(
            f"{key.label}: rows that were inserted since the key was moved have no "
            f"{key.own.next_field.name}, and {type(old).__name__} has no next value: fill it, "
            f"and migrate again"
        )
    return iter(old.get_default, None)
