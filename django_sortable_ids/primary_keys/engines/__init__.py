"""The SQL of each database that replaces keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import NotSupportedError

from ..changes import Change
from .base import KeyEngine

if TYPE_CHECKING:
    from ..notes import Note


def engine_of(editor: Any, change: Change, note: Note) -> KeyEngine:
    """The engine of the database. Raises ``NotSupportedError`` if there is none."""
    match editor.connection.vendor:
        case "sqlite":
            from .sqlite import SQLiteKeys

            return SQLiteKeys(editor, change, note)
        case "postgresql":
            from .postgresql import PostgreSQLKeys

            return PostgreSQLKeys(editor, change, note)
        case "mysql":
            from .mysql import MySQLKeys

            return MySQLKeys(editor, change, note)
        case vendor:
            raise NotSupportedError(f"primary keys can't be moved on {vendor}")
