"""Swaps the names of two columns; and the notes of swaps and moves that were stopped.

A note in the database tells what was done: the process may be killed before the migration is
recorded. Django records the undoing of a migration after its transaction, on every engine.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from django.db import DatabaseError, connections, models, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.writer import MigrationWriter
from django.db.models import Count, Max, QuerySet

from ..db import tables
from ..db.transactions import with_short_lock_timeout
from ..errors import BackfillError, counted
from ..fields.of_model import is_unique_alone
from ..models import OF_FIELDS, BackfillRun, MoveNote, SequenceCounter
from ..workers.counters import key_of, periods_of

TEMPORARY = "swapped__"


def swap(
    editor: Any,
    before: type[models.Model],
    after: type[models.Model],
    name: str,
    other: str,
    *,
    backwards: bool,
) -> None:
    """``name`` gets the column of ``other``, and vice versa; ``before`` and ``after`` are the model
    before and after the migration. A killed run is completed: its note tells how far it was.

    Raises ``BackfillError`` if these fields can't be swapped.
    """
    _refuse(before, name, other)
    old, new = before._meta.get_field(name), before._meta.get_field(other)
    pairs: list[tuple[Any, Any]] = [
        (field, after._meta.get_field(new_name)) for field, new_name in ((old, other), (new, name))
    ]
    moves = {was.column: column for was, is_now in pairs if was.column != (column := is_now.column)}
    if not backwards:
        _check(editor, old, new)
    connection, table = editor.connection, before._meta.db_table
    using, columns, target = connection.alias, [*moves], f"{_SWAP}{table} {name} {other}"[:200]
    # Another swap of the same fields starts from other definitions.
    identity = {
        "backwards": backwards,
        "table": table,
        "model": before._meta.label,
        "fields": [name, other],
        "were": [MigrationWriter.serialize(field)[0] for field in (old, new)],
    }

    def once() -> None:
        """Start the note, rename the columns, complete the note. This is one transaction, except
        on MariaDB and MySQL."""
        notes = MoveNote.objects.using(using).filter(target=target)
        note = notes.first() or MoveNote(target=target)
        if note.identity != identity:
            note.identity, note.state = identity, {}
        if awaits_record(note, using):
            return
        if not is_swapped(note, connection):
            note.state = {"columns": columns, "places": positions(connection, table, columns)}
            note.save(using=using)
            if moves:
                rename(editor, old, moves)
        with transaction.atomic(using):
            _rename_records(pairs, using)
            note.state = {RECORDED: recorded(using)}
            note.save(using=using)

    with_short_lock_timeout(editor, once)


def _check(editor: Any, old: Any, new: Any) -> None:
    """Raise ``BackfillError`` if the new column has weaker constraints or lacks ids."""
    weaker = ["NOT NULL"] if new.null and not old.null else []
    if is_unique_alone(old) and not is_unique_alone(new):
        weaker.append("unique")
    if weaker:
        raise BackfillError(
            f"{old} is {' and '.join(weaker)}, and {new.name} is not: fill it, and "
            f"run a ConstrainSortableID of {new.name} before the swap"
        )
    if not new.null:
        return
    rows: QuerySet[Any] = QuerySet(old.model, using=editor.connection.alias)
    lost = rows.filter(**{f"{old.name}__isnull": False, f"{new.name}__isnull": True})
    if lost.order_by().exists():
        raise BackfillError(
            f"{counted(lost.count(), 'row')} of {old} without {new.name}, and so without an id "
            f"after the swap: run `manage.py backfill_ids {new} --convert-from {old.name}`, and "
            f"migrate again"
        )


def rename(editor: Any, field: Any, moves: dict[str, str]) -> None:
    """Rename columns of the field's table. Indexes and constraints keep their names, as after a
    ``RenameField``."""
    connection, quote = editor.connection, editor.quote_name
    vendor, table = connection.vendor, quote(field.model._meta.db_table)
    if vendor == "mysql":
        changes = [f"RENAME COLUMN {quote(old)} TO {quote(new)}" for old, new in moves.items()]
        how = "ALGORITHM=INPLACE, LOCK=NONE"
        editor.execute(f"ALTER TABLE {table} {', '.join([*changes, how])}", None)
        return
    renamings = [*moves.items()]
    if {*moves} == {*moves.values()}:  # Two columns swap their names.
        (first, to_first), second = renamings
        temporary = f"{TEMPORARY}{first}"[:60]
        renamings = [(first, temporary), second, (temporary, to_first)]
    try:
        for old, new in renamings:
            renaming = f"RENAME COLUMN {quote(old)} TO {quote(new)}"
            editor.execute(f"ALTER TABLE {table} {renaming}", None)
    except DatabaseError as error:
        if vendor != "sqlite":
            raise
        raise BackfillError(
            f"{field}: SQLite can't rename the column: {error}. Drop what uses the "
            f"column, migrate, and create it again"
        ) from error


def _rename_records(pairs: list[tuple[Any, Any]], using: str) -> None:
    """Rename this app's runs and counters of the two fields, which refer to them by name."""
    labels = {str(old): str(new) for old, new in pairs}
    names = {old.name: new.name for old, new in pairs}
    runs = BackfillRun.objects.using(using)
    for run in runs.filter(target__in=labels):
        sources = {option: run.options.get(option) for option in OF_FIELDS}
        renamed = {option: names[name] for option, name in sources.items() if name in names}
        runs.filter(pk=run.pk).update(options={**run.options, **renamed})
    _replace(runs, "target", labels)
    keys = {
        key_of(old, period): key_of(new, period)
        for old, new in pairs
        for period in periods_of(old, using)
    }
    _replace(SequenceCounter.objects.using(using), "key", keys)


def _replace(rows: QuerySet[Any], column: str, values: dict[str, str]) -> None:
    """Replace values of a unique column by others, of which some may be in use by these rows."""
    old_values = dict(rows.filter(**{f"{column}__in": values}).values_list("pk", column))
    for pk in old_values:
        rows.filter(pk=pk).update(**{column: f"{TEMPORARY}{pk}"})
    for pk, old in old_values.items():
        rows.filter(pk=pk).update(**{column: values[old]})


def _refuse(model: type[models.Model], name: str, other: str) -> None:
    label = model._meta.label
    for field_name in (name, other):
        field: Any = model._meta.get_field(field_name)
        if field in model._meta.pk_fields:
            raise BackfillError(
                f"{label}.{field_name} is the primary key or a part of it, and other tables "
                f"contain its values: it can't be swapped"
            )
        if field.is_relation or not field.concrete:
            raise BackfillError(f"{label}.{field_name} has no column of ids: it can't be swapped")
    names = {name, other}
    for relation in model._meta.related_objects:
        pointed = {target.name for target in relation.field.foreign_related_fields}
        if names & pointed:
            raise BackfillError(
                f"{relation.field} refers to {label}.{(names & pointed).pop()} by to_field and "
                f"contains its values: make it refer to the primary key before {label}.{name} is "
                f"swapped"
            )
    words = re.compile(rf"\b({'|'.join(map(re.escape, names))})(\b|__)")
    dependents = []
    for definition in (*model._meta.indexes, *model._meta.constraints):
        _, args, kwargs = definition.deconstruct()
        rest = {key: value for key, value in kwargs.items() if key not in ("fields", "name")}
        dependents += [definition.name] if words.search(repr((args, rest))) else []
    for field in model._meta.local_fields:
        if field.generated and words.search(repr(getattr(field, "expression", ""))):
            dependents.append(field.name)
    if dependents:
        raise BackfillError(
            f"{', '.join(dependents)} of {label} uses {name} or {other} in an expression or a "
            f"condition: remove it before the swap, and add it again afterwards"
        )


_SWAP = "swap "
RECORDED = "recorded"


def recorded(using: str) -> dict[str, int]:
    """The number of recorded migrations, and that of the last one: what a note says of its end."""
    recorder = MigrationRecorder(connections[using])
    if not recorder.has_table():
        return {"count": 0, "last": 0}
    totals = recorder.migration_qs.aggregate(count=Count("pk"), last=Max("pk"))
    return {name: number or 0 for name, number in totals.items()}


def awaits_record(note: MoveNote, using: str) -> bool:
    """Whether the migration of a complete note isn't recorded yet: no migration was since. Django
    records the undoing of a migration by the deletion of its row."""
    before = note.state.get(RECORDED)
    if before is None:
        return False
    now = recorded(using)
    if now["last"] > before["last"]:
        return False
    return not note.identity["backwards"] or bool(now["count"] >= before["count"])


def notes_of(connection: Any, kind: str) -> Iterable[MoveNote]:
    """The notes whose target begins with ``kind``; none in a database without their table, nor in
    a schema that shares it with others."""
    table, recorder = MoveNote._meta.db_table, MigrationRecorder(connection)
    if tables.kind(connection, table) != "table" or not recorder.has_table():
        return []
    if tables.two_schemas(connection, table, recorder.Migration._meta.db_table):
        return []
    notes = MoveNote.objects.using(connection.alias)
    return notes.filter(target__startswith=kind).order_by("pk")


def unrecorded_swaps(connection: Any) -> Iterator[MoveNote]:
    """Notes of swaps that are done, and whose migration is not recorded."""
    for note in notes_of(connection, _SWAP):
        if awaits_record(note, connection.alias) or is_swapped(note, connection):
            yield note


def is_swapped(note: MoveNote, connection: Any) -> bool:
    """Whether the columns were renamed after the note was started: that keeps their positions."""
    if "places" not in note.state:
        return False
    before = note.state["places"]
    now = positions(connection, note.identity["table"], note.state["columns"])
    return bool(before == now[::-1]) if len(now) == 2 else now == [None] * len(now)


def positions(connection: Any, table: str, columns: list[str]) -> list[int | None]:
    """The positions of the columns in the table; None for those that it doesn't have."""
    known = tables.columns(connection, table)
    infos = [known.get(tables.folded(connection, column)) for column in columns]
    return [info and info.position for info in infos]
