"""A planned move as text."""

from __future__ import annotations

from collections.abc import Iterator

from ..db import chunks
from .changes.moved import MovedKey
from .planning import Planned


def lines(planned: Planned) -> Iterator[str]:
    """What moves, and what refers to it; row counts are exact."""
    operation, change = planned.operation, planned.move.change
    for key in operation.keys:
        model = planned.move.change.keys[operation.keys.index(key)].before.model
        rows = chunks.count(model._base_manager.using(planned.using))
        old = f"; the old key stays as {key.old_name}" if key.old else "; the old key is dropped"
        yield f"{key.model}.{key.name}: {type(key.field).__name__}, {rows:,} rows{old}"
        yield f"  times from {_source(key)}"
        for table in change.tables:
            yield from (
                f"  {table.name}.{each.name}"
                for each in table.columns
                if each.key.label == key.model
            )
    for generic in operation.generic:
        yield f"{generic.table}.{generic.column}, by {generic.content_type}"


def _source(key: MovedKey) -> str:
    if key.created_from == "pk":
        return f"{key.start} to {key.end}, in the order of the old key"
    if key.created_at:
        return "now, in the order of the old key"
    return key.created_from or f"the ids in {key.convert_from}"
