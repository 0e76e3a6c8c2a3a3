"""The SQL of each database that replaces keys."""

from __future__ import annotations

from typing import Any

from django.db import NotSupportedError

from ..changes import Change
from .base import KeyEngine


def engine_of(editor: Any, change: Change) -> KeyEngine:
    """The engine of the database. Raises ``NotSupportedError`` if there is none."""
    match editor.connection.vendor:
        case "sqlite":
            from .sqlite import SQLiteKeys

            return SQLiteKeys(editor, change)
        case "postgresql":
            from .postgresql import PostgreSQLKeys

            return PostgreSQLKeys(editor, change)
        case vendor:
            raise NotSupportedError(f"primary keys can't be moved on {vendor}")
