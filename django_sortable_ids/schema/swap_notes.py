"""Notes of swaps, which may be killed before their migration is recorded.

A note has the definitions of the two fields before the swap, and the positions of their columns in
the table. Renaming keeps a column's position, so the positions show whether the swap was done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import models

from ..db import tables
from ..models import MoveNote

_PREFIX = "swap "


def key(before: type[models.Model], name: str, other: str) -> str:
    return f"{_PREFIX}{before._meta.db_table} {name} {other}"[:200]


def identity(
    before: type[models.Model], name: str, other: str, *, backwards: bool
) -> dict[str, Any]:
    """Identifies a swap: another swap of the same fields starts from other definitions."""
    fields = [before._meta.get_field(each) for each in (name, other)]
    return {
        "backwards": backwards,
        "model": before._meta.label,
        "fields": [name, other],
        "were": [_definition(field) for field in fields],
    }


def _definition(field: Any) -> str:
    _, path, _, kwargs = field.deconstruct()
    plain = {each: kwargs[each] for each in sorted(kwargs) if isinstance(kwargs[each], str | int)}
    return f"{path} {plain}"


def state(connection: Any, table: str, columns: Iterable[str]) -> dict[str, Any]:
    """The state that is saved before the columns are renamed."""
    names = list(columns)
    places = _places(connection, table, names)
    return {"columns": names, "places": places}


def is_done(note: MoveNote, connection: Any, table: str) -> bool:
    """Whether the columns were renamed after the note was saved."""
    before, now = note.state["places"], _places(connection, table, note.state["columns"])
    return bool(before == now[::-1]) if len(now) == 2 else now == [None] * len(now)


def unrecorded(connection: Any) -> Iterator[MoveNote]:
    """Notes of swaps whose migration may not be recorded; without swaps of two equal definitions,
    for which nothing shows whether they are recorded."""
    if tables.kind(connection, MoveNote._meta.db_table) != "table":
        return
    notes = MoveNote.objects.using(connection.alias).filter(target__startswith=_PREFIX)
    for note in notes.order_by("pk"):
        first, second = note.identity.get("were", ("", ""))
        if first != second:
            yield note


def _places(connection: Any, table: str, columns: list[str]) -> list[int | None]:
    known = tables.columns(connection, table)
    found = [known.get(tables.folded(connection, column)) for column in columns]
    return [each and each.place for each in found]
