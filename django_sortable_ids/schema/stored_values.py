"""Samples a column's values and checks whether they are ids of a field."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from ..db import queries
from ..db.tables import begins_an_index
from ..fields import SortableIDField
from ..schemes import InvalidID, OutOfRange, TimeScheme

PAGE = 1000
"""Rows that are sampled at each end and in the middle."""


def sampled(
    connection: BaseDatabaseWrapper, table: str, column: str, key: str | None, page: int = PAGE
) -> list[Any]:
    """Distinct values of a column as the driver returns them, without NULL.

    They come from both ends and the middle of the column ``key``, and from both ends of the column
    itself if an index begins with it. ``page`` is the number of rows of each.
    """
    values: dict[Any, None] = {}
    for query, parameters in _samples(connection, table, column, key, page):
        found = queries.rows(connection, query, parameters)
        values |= dict.fromkeys(_hashable(value) for (value,) in found)
    return list(values)


def _samples(
    connection: BaseDatabaseWrapper, table: str, column: str, key: str | None, page: int
) -> Iterator[tuple[str, list[Any]]]:
    quote = connection.ops.quote_name
    quoted, name = quote(table), quote(column)
    not_null = f"SELECT {name} FROM {quoted} WHERE {name} IS NOT NULL"
    if key is None:
        yield f"{not_null} LIMIT {page}", []
        return
    place = quote(key)
    # LIMIT before the NULL filter: a nearly empty column would need a full scan.
    both = f"SELECT {place} AS place, {name} AS id FROM {quoted}"
    outer = "SELECT id FROM ({}) rows_of_the_key WHERE id IS NOT NULL"
    yield outer.format(f"{both} ORDER BY {place} LIMIT {page}"), []
    yield outer.format(f"{both} ORDER BY {place} DESC LIMIT {page}"), []
    all_places = f"SELECT {place} FROM {quoted} ORDER BY {place}"
    ends = [queries.value(connection, f"{all_places} {order} LIMIT 1") for order in ("ASC", "DESC")]
    if all(isinstance(end, int) for end in ends):
        middle = f"{both} WHERE {place} >= %s ORDER BY {place} LIMIT {page}"
        yield outer.format(middle), [sum(ends) // 2]
    if column != key and begins_an_index(connection, table, column):
        yield f"{not_null} ORDER BY {name} LIMIT {page}", []
        yield f"{not_null} ORDER BY {name} DESC LIMIT {page}", []


def found_in(
    field: SortableIDField,
    connection: BaseDatabaseWrapper,
    page: int,
    old: SortableIDField | None = None,
) -> str | None:
    """Why a sampled value of the field's column is no id of its scheme; None if all are.

    With ``old`` each value must also be the same id for both fields. ``page`` is as for
    ``sampled``.
    """
    meta = field.model._meta
    key = str(meta.pk_fields[0].column)
    values = sampled(connection, meta.db_table, str(field.column), key, page)
    return misfit(values, field, old, connection)


def misfit(
    values: list[Any], new: SortableIDField, old: models.Field[Any, Any] | None, connection: Any
) -> str | None:
    """Why a stored value is no id of ``new``, or another id than of ``old``; None if all values
    keep their meaning."""
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
    except (ValueError, TypeError, AttributeError) as error:  # The column type may differ, too.
        return str(error) if isinstance(value, int) else f"{shown} is no {title}."
    if _plain(written) != _plain(value) and not isinstance(value, int):
        return f"{shown} is no {title} in the form of this column, {_shown(written)}."
    if isinstance(old, SortableIDField):
        try:
            before = old.stored(connection).from_db(value)
            same = before == number and _time(old, before) == _time(new, number)
        except (ValueError, TypeError, AttributeError):
            return None  # It was no id before.
        if not same:
            return f"{shown} would become another {title}, or get another time."
        return _lost_text(number, new, old)
    return None


def _lost_text(number: int, new: SortableIDField, old: SortableIDField) -> str | None:
    """Why an id is not found by its public text after a change of the scheme; None if it is found,
    or if the scheme stays, where only the spelling may change."""
    if old.scheme.name == new.scheme.name:
        return None
    try:
        text = old.public_text.format(old.scheme.from_trusted(number))
    except InvalidID:  # A UUID of another version, by accept_other_versions.
        return None
    try:
        if new.scheme.to_int(new.public_text.parse(text)) == number:
            return None
    except InvalidID:
        pass
    written = new.public_text.format(new.scheme.from_trusted(number))
    return f"the public id {text} would become {written}, and the old text would not be found."


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
    """Makes a UUID that was read comparable with one to write, whose types may differ."""
    if isinstance(value, uuid.UUID):
        return str(value)
    return _hashable(value)


def _shown(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
