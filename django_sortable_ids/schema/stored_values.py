"""What a column holds, seen in a bounded number of its rows: ids of a field, or not."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from ..db.introspection import begins_an_index
from ..fields import SortableIDField
from ..schemes import InvalidID, OutOfRange, TimeScheme

PAGE = 1000
"""Rows at each end and in the middle."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table, and the key by which its rows are found."""

    connection: BaseDatabaseWrapper
    table: str
    name: str
    key: str | None

    def values(self, page: int = PAGE) -> list[Any]:
        """As the driver gives them, without NULL: those at both ends of the key and in its middle,
        and those at both ends of the column where an index has it in order."""
        found: dict[Any, None] = {}
        with self.connection.cursor() as cursor:
            for query, parameters in self._queries(cursor, page):
                cursor.execute(query, parameters)
                found |= dict.fromkeys(_hashable(value) for (value,) in cursor.fetchall())
        return list(found)

    def _queries(self, cursor: Any, page: int) -> Iterator[tuple[str, list[Any]]]:
        quote = self.connection.ops.quote_name
        table, name = quote(self.table), quote(self.name)
        given = f"SELECT {name} FROM {table} WHERE {name} IS NOT NULL"
        if self.key is None:
            yield f"{given} LIMIT {page}", []
            return
        key = quote(self.key)
        # The rows first, or a column that is nearly empty would be read from end to end.
        rows = f"SELECT {key} AS place, {name} AS id FROM {table}"
        outer = "SELECT id FROM ({}) rows_of_the_key WHERE id IS NOT NULL"
        yield outer.format(f"{rows} ORDER BY {key} LIMIT {page}"), []
        yield outer.format(f"{rows} ORDER BY {key} DESC LIMIT {page}"), []
        ends = []
        for order in ("ASC", "DESC"):
            cursor.execute(f"SELECT {key} FROM {table} ORDER BY {key} {order} LIMIT 1")
            ends += [value for (value,) in cursor.fetchall() if isinstance(value, int)]
        if len(ends) == 2:
            middle = f"{rows} WHERE {key} >= %s ORDER BY {key} LIMIT {page}"
            yield outer.format(middle), [sum(ends) // 2]
        if self.name != self.key and begins_an_index(self.connection, self.table, self.name):
            yield f"{given} ORDER BY {name} LIMIT {page}", []
            yield f"{given} ORDER BY {name} DESC LIMIT {page}", []


def found_in(
    field: SortableIDField,
    connection: BaseDatabaseWrapper,
    page: int,
    old: SortableIDField | None = None,
) -> str | None:
    """The first value of some hundred in the field's own column that is no id of its scheme, or
    not the one that it is of ``old``."""
    meta = field.model._meta
    key = str(meta.pk_fields[0].column)
    values = Column(connection, meta.db_table, str(field.column), key).values(page)
    return misfit(values, field, old, connection)


def misfit(
    values: list[Any], new: SortableIDField, old: models.Field[Any, Any] | None, connection: Any
) -> str | None:
    """The first stored value that is no id of ``new``, or not the one that it is of ``old``, and
    why; None where all of them stay what they are."""
    for value in values:
        reason = _reason(value, new, old, connection)
        if reason:
            return reason
    return None


def _reason(
    value: Any, new: SortableIDField, old: models.Field[Any, Any] | None, connection: Any
) -> str | None:
    title, shown = new.scheme.title, _shown(value)
    try:
        number = new.stored(connection).from_db(value)
        new.scheme.from_int(number)
        written = new.stored(connection).to_db(number, connection)
    except (ValueError, TypeError, AttributeError) as error:  # of another type of column, too
        return str(error) if isinstance(value, int) else f"{shown} is no {title}."
    if _plain(written) != _plain(value) and not isinstance(value, int):
        return f"{shown} is no {title} as this column keeps it, {_shown(written)}."
    if isinstance(old, SortableIDField):
        try:
            before = old.stored(connection).from_db(value)
            same = before == number and _time(old, before) == _time(new, number)
        except (ValueError, TypeError, AttributeError):
            return None  # what was no id before
        if not same:
            return f"{shown} would be another {title}, or of another time."
        return _lost_text(number, new, old)
    return None


def _lost_text(number: int, new: SortableIDField, old: SortableIDField) -> str | None:
    """Why the public text of an id is not found in another scheme; None where it is, and where
    the scheme stays and its spelling alone may change."""
    if old.scheme.name == new.scheme.name:
        return None
    try:
        text = old.public_text.format(old.scheme.from_trusted(number))
    except InvalidID:  # an accepted UUID of another version
        return None
    try:
        if new.scheme.to_int(new.public_text.parse(text)) == number:
            return None
    except InvalidID:
        pass
    written = new.public_text.format(new.scheme.from_trusted(number))
    return f"the public id {text} would be written {written}, and be found no longer."


def _time(field: SortableIDField, number: int) -> Any:
    scheme = field.scheme
    if not isinstance(scheme, TimeScheme):
        return None
    value = scheme.from_trusted(number)
    try:
        return scheme.created_at(value) if scheme.carries_time(value) else None
    except OutOfRange:
        return "past the year 9999"


def _hashable(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview | bytearray) else value


def _plain(value: Any) -> Any:
    """One type for what a driver gives and what it takes for the same UUID."""
    if isinstance(value, uuid.UUID):
        return str(value)
    return _hashable(value)


def _shown(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
