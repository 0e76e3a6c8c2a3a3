"""Notes of what changed tables: the process may be killed before the migration is recorded.

Django records the undoing of a migration after its transaction, on every engine.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import connections, models
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, Max

from ..db import tables
from ..models import MoveNote

_SWAP = "swap "
_RECORDED = "recorded"


def recorded(using: str) -> dict[str, int]:
    """The number of recorded migrations, and that of the last one: what a note says of its end."""
    recorder = MigrationRecorder(connections[using])
    if not recorder.has_table():
        return {"count": 0, "last": 0}
    found = recorder.migration_qs.aggregate(count=Count("pk"), last=Max("pk"))
    return {name: number or 0 for name, number in found.items()}


def is_open(note: MoveNote, using: str) -> bool:
    """Whether the migration of a complete note is still to be recorded: none was since. One that
    is undone is recorded by the deletion of its row."""
    before = note.state.get(_RECORDED)
    if before is None:
        return False
    now = recorded(using)
    if now["last"] > before["last"]:
        return False
    return not note.identity["backwards"] or bool(now["count"] >= before["count"])


def of_swap(
    before: type[models.Model], name: str, other: str, *, backwards: bool, using: str
) -> MoveNote:
    """The note of this swap if it is not recorded yet; else a new one. Another swap of the same
    fields starts from other definitions."""
    table = before._meta.db_table
    fields = [before._meta.get_field(each) for each in (name, other)]
    identity = {
        "backwards": backwards,
        "table": table,
        "model": before._meta.label,
        "fields": [name, other],
        "were": [_definition(field) for field in fields],
    }
    target = f"{_SWAP}{table} {name} {other}"[:200]
    note = MoveNote.objects.using(using).filter(target=target).first() or MoveNote(target=target)
    is_ended = _RECORDED in (note.state or ()) and not is_open(note, using)
    if note.identity != identity or is_ended:
        note.identity, note.state = identity, {}
    return note


def unrecorded_swaps(connection: Any) -> Iterator[MoveNote]:
    """Notes of swaps that are done, and whose migration is not recorded."""
    if tables.kind(connection, MoveNote._meta.db_table) != "table":
        return
    notes = MoveNote.objects.using(connection.alias).filter(target__startswith=_SWAP)
    for note in notes.order_by("pk"):
        is_complete = _RECORDED in note.state
        if is_open(note, connection.alias) if is_complete else is_swapped(note, connection):
            yield note


def is_swapped(note: MoveNote, connection: Any) -> bool:
    """Whether the columns were renamed after the note was started: that keeps their places."""
    if "places" not in note.state:
        return False
    before = note.state["places"]
    now = places(connection, note.identity["table"], note.state["columns"])
    return bool(before == now[::-1]) if len(now) == 2 else now == [None] * len(now)


def places(connection: Any, table: str, columns: list[str]) -> list[int | None]:
    """The positions of the columns in the table; None for those that it doesn't have."""
    known = tables.columns(connection, table)
    found = [known.get(tables.folded(connection, column)) for column in columns]
    return [each and each.place for each in found]


def _definition(field: Any) -> str:
    _, path, _, kwargs = field.deconstruct()
    plain = {each: kwargs[each] for each in sorted(kwargs) if isinstance(kwargs[each], str | int)}
    return f"{path} {plain}"
