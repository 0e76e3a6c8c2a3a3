"""Columns that a move adds, and drops again."""

from __future__ import annotations

from typing import Any

from ...db.locks import with_short_lock_timeout
from ...schema.constraints_sqlite import drop_column


def add(editor: Any, model: Any, field: Any) -> None:
    """Add the column of the field to the table of the model."""
    with_short_lock_timeout(editor, lambda: editor.add_field(model, field))


def drop(editor: Any, field: Any) -> None:
    """Drop the column of the field."""
    if editor.connection.vendor == "sqlite":
        # Django would copy the table and lose what the model doesn't know.
        drop_column(editor, field)
    else:
        with_short_lock_timeout(editor, lambda: editor.remove_field(field.model, field))
