"""Compares stored ids with what their field stores for an id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connections

from ...fields.values.storage import UUIDStorage
from ...schemes import TimeScheme
from ..sources.base import Target
from .verification import Verification

Page = Sequence[tuple[Any, Any, Any]]
"""Place, key and stored value of each row."""

Read = tuple[int, Any]
"""The number of an id, and what it sorts by: tick and suffix, or the number if it has no time."""

_READ_ERRORS = (ValueError, TypeError, AttributeError, OverflowError)
"""Of a stored value of any type that is no id."""


class Form:
    """Reads the stored values of pages, and adds those that are no ids to ``found``."""

    def __init__(self, target: Target, found: Verification) -> None:
        self._target, self._found = target, found
        self._scheme, self._field = target.field.scheme, target.field
        self._connection = connections[target.using]
        self._storage = target.field.stored(self._connection)
        self._times = self._scheme if isinstance(self._scheme, TimeScheme) else None

    def read(self, page: Page) -> list[Read | None]:
        """Each id; None for rows without one, and for values that are no ids of the scheme, which
        are counted."""
        found, given = self._found, [row[2] for row in page if row[2] is not None]
        found.rows += len(page)
        found.missing += len(page) - len(given)
        try:
            numbers = list(map(self._storage.from_db, given))
            written = (
                given if self._is_native else self._storage.all_to_db(numbers, self._connection)
            )
            is_clean = written == given
        except _READ_ERRORS:
            is_clean = False
        if is_clean and len(given) == len(page):
            if self._times:
                parts = self._times.layout.split_all(numbers)
                if None not in parts:
                    return list(zip(numbers, parts, strict=True))
            return [self._of_scheme(row, number) for row, number in zip(page, numbers, strict=True)]
        return [None if row[2] is None else self._read(row) for row in page]

    @property
    def _is_native(self) -> bool:
        """Whether the type of the column has one form of each value."""
        is_uuid = isinstance(self._storage, UUIDStorage)
        return is_uuid and self._connection.features.has_native_uuid_field

    def _read(self, row: tuple[Any, Any, Any]) -> Read | None:
        stored = row[2]
        try:
            number = self._storage.from_db(stored)
            written = self._storage.to_db(number, self._connection)
        except _READ_ERRORS:
            return self._malformed(row)
        if not self._is_native and written != stored:
            return self._malformed(row, written)
        return self._of_scheme(row, number)

    def _of_scheme(self, row: tuple[Any, Any, Any], number: int) -> Read | None:
        """The id of a number, if it is one of the scheme's; others are counted."""
        times = self._times
        if times is None:
            return (number, number) if self._scheme.holds(number) else self._malformed(row)
        parts = times.layout.split(number)
        if parts is not None:
            return number, parts
        if self._scheme.value_type is not UUID:
            return self._malformed(row)
        if self._field.accept_other_versions and self._scheme.holds(number):
            self._found.other_versions += 1
            return None
        shown = str(UUID(int=number))
        self._found.keep("refused_versions", f"{row[1]} has {shown}; {self._mending(row[1])}")
        return None

    def _malformed(self, row: tuple[Any, Any, Any], written: Any = None) -> Read | None:
        """Count a stored value that is no id, or another spelling of the one ``written``."""
        pk, stored = row[1:]
        if written is None and isinstance(stored, str):
            written = self._respelled(stored)
        if self._found.has_room("malformed"):
            value = bytes(stored) if isinstance(stored, memoryview) else stored
            what = f"{pk} has {value!r}, which is not stored as a {self._scheme.title}"
            self._found.keep("malformed", f"{what}; {self._mending(pk, written)}")
        else:
            self._found.malformed += 1
        return None

    def _respelled(self, stored: str) -> Any:
        """What the field stores for a text that it reads; None if it doesn't read it."""
        try:
            value = self._field.to_python(stored.strip())
            return self._storage.to_db(self._scheme.to_int(value), self._connection)
        except (ValidationError, *_READ_ERRORS):
            return None

    def _mending(self, pk: Any, written: Any = None) -> str:
        """The statement that corrects a row: by another spelling, or by NULL, for the next run."""
        quote = self._connection.ops.quote_name
        keys = zip(self._target.key_fields, self._target.stored_keys([pk])[0], strict=True)
        where = " AND ".join(
            f"{quote(str(key.column))} = {self._literal(value)}" for key, value in keys
        )
        table, column = quote(self._target.model._meta.db_table), quote(str(self._field.column))
        return f"UPDATE {table} SET {column} = {self._literal(written)} WHERE {where};"

    def _literal(self, value: Any) -> str:
        """A stored value in SQL."""
        if value is None or isinstance(value, int):
            return "NULL" if value is None else str(value)
        if isinstance(value, bytes | memoryview):
            digits = bytes(value).hex()
            is_postgresql = self._connection.vendor == "postgresql"
            return f"'\\x{digits}'::bytea" if is_postgresql else f"X'{digits}'"
        return "'" + str(value).replace("'", "''") + "'"
