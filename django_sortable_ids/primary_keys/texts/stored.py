"""The texts of keys in SQL."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import CharField, IntegerField, UUIDField

from ...fields import SortableIDField
from ...fields.values.storage import BinaryStorage, IntegerStorage, TextStorage, UUIDStorage

_ENDS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
"""Start and length of each part of a UUID in its 32 digits."""


def text_of(field: Any, column: str, connection: Any) -> str | None:
    """The expression for ``str()`` of the value in a column; None if SQL has no simple one."""
    vendor = connection.vendor
    match _kind(field, connection):
        case "native":
            return f"{column}::text" if vendor == "postgresql" else f"CAST({column} AS char)"
        case "number":
            return f"CAST({column} AS {'char' if vendor == 'mysql' else 'text'})"
        case "digits":
            return _with_hyphens(column, vendor)
        case "bytes":
            digits = f"encode({column}, 'hex')" if vendor == "postgresql" else f"HEX({column})"
            return _with_hyphens(f"LOWER({digits})", vendor)
        case "text":
            return column
    return None


def _with_hyphens(digits: str, vendor: str) -> str:
    function = "SUBSTR" if vendor == "sqlite" else "SUBSTRING"
    parts = [f"{function}({digits}, {start}, {length})" for start, length in _ENDS]
    return (
        " || '-' || ".join(parts) if vendor == "sqlite" else f"CONCAT_WS('-', {', '.join(parts)})"
    )


def _kind(field: Any, connection: Any) -> str | None:
    if isinstance(field, SortableIDField):
        return _stored(field, connection)
    if isinstance(field, IntegerField):
        return "number"
    if isinstance(field, UUIDField):
        return "native" if connection.features.has_native_uuid_field else "digits"
    return "text" if isinstance(field, CharField) else None


def _stored(field: SortableIDField, connection: Any) -> str | None:
    scheme = field.scheme
    match field.stored(connection):
        case IntegerStorage(unsigned=False):
            return "number"
        case UUIDStorage() if scheme.value_type is UUID:
            return "native" if connection.features.has_native_uuid_field else "digits"
        case BinaryStorage() if scheme.value_type is UUID:
            return "bytes"
        case TextStorage(form=form) if form == scheme.canonical:
            return "text"
    return None
