"""The SQL of each database that replaces keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import NotSupportedError

from .engine import KeyEngine
from .graph import Change
from .mysql import MySQLKeys
from .postgresql import PostgreSQLKeys
from .sqlite import SQLiteKeys

if TYPE_CHECKING:
    from ..notes import Note

_ENGINES: dict[str, type[KeyEngine]] = {
    "sqlite": SQLiteKeys,
    "postgresql": PostgreSQLKeys,
    "mysql": MySQLKeys,
}


def key_engine_of(editor: Any, planned: Change, note: Note) -> KeyEngine:
    """The engine of the database. Raises ``NotSupportedError`` if there is none."""
    vendor = editor.connection.vendor
    if vendor not in _ENGINES:
        raise NotSupportedError(f"primary keys can't be moved on {vendor}")
    return _ENGINES[vendor](editor, planned, note)
