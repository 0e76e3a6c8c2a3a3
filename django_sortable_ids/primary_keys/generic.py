"""Columns of ``GenericForeignKey`` and their like, which contain keys of several models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import BigIntegerField, IntegerField, QuerySet

from ..db import tables
from ..db.queries import rows, value
from ..errors import BackfillError
from .changes import Change, Key
from .changes.moved import GenericReference

_CONTENT_TYPES = "django_content_type"
_KEYS = 500
"""Keys that are looked up in one statement."""


def replace_values(editor: Any, change: Change) -> None:
    """Replace the keys in the columns of all generic references.

    Values that are no key of a row stay as they are: the database has no foreign key there, so the
    rows may be gone. Raises ``BackfillError`` if a new key is also an old one.
    """
    connection, quote = editor.connection, editor.quote_name
    for reference in change.generic:
        table, column, content_type = map(quote, reference)
        if not tables.kind(connection, reference.table):
            continue
        sql = f"UPDATE {table} SET {column} = %s WHERE {content_type} = %s AND {column} = %s"
        for key in change.keys:
            for number in _content_types(connection, key):
                old = f"SELECT DISTINCT {column} FROM {table} WHERE {content_type} = %s"
                found = {str(each) for (each,) in rows(connection, old, [number])}
                new = dict(_new_values(key, found, connection.alias))
                _refuse_ambiguous(reference, key, found, new)
                with connection.cursor() as cursor:
                    cursor.executemany(sql, [(new[each], number, each) for each in sorted(new)])


def problems(editor: Any, change: Change) -> Iterator[str]:
    """Columns of numbers that contain keys which are no numbers afterwards."""
    connection, quote = editor.connection, editor.quote_name
    for reference in change.generic:
        if not _is_numeric(connection, reference):
            continue
        table, column, content_type = map(quote, reference)
        for key in change.keys:
            numbers = _content_types(connection, key)
            if isinstance(key.after, IntegerField | BigIntegerField) or not numbers:
                continue
            listed = ", ".join(map(str, numbers))
            sql = f"SELECT COUNT({column}) FROM {table} WHERE {content_type} IN ({listed})"
            if count := value(connection, sql):
                yield (
                    f"{count:,} rows of {reference.table}.{reference.column} contain keys of "
                    f"{key.label}, and the column has room for numbers only: make it a "
                    f"CharField(max_length=36), migrate, and try again"
                )


def _is_numeric(connection: Any, reference: GenericReference) -> bool:
    if tables.kind(connection, reference.table) != "table":
        return False
    found = tables.column_info(connection, reference.table, reference.column)
    return found is not None and "int" in found.kind.lower()


def _content_types(connection: Any, key: Key) -> list[Any]:
    """The keys of the content types whose rows the key identifies."""
    if not tables.kind(connection, _CONTENT_TYPES):
        return []
    name = connection.ops.quote_name(_CONTENT_TYPES)
    known = rows(connection, f"SELECT id, app_label, model FROM {name}")
    return [number for number, *each in known if tuple(each) in key.content_types]


def _new_values(key: Key, found: set[str], using: str) -> Iterator[tuple[str, str]]:
    """The text of each next value, by the text that was found."""
    texts: dict[Any, list[str]] = {}
    for text in sorted(found):
        try:
            texts.setdefault(key.before.to_python(text), []).append(text)
        except ValidationError:
            continue
    keys = [each for each in texts if each is not None]
    models: QuerySet[Any] = QuerySet(key.next_field.model, using=using)
    for start in range(0, len(keys), _KEYS):
        part = models.filter(pk__in=keys[start : start + _KEYS])
        for old, new in part.values_list("pk", key.next_field.name):
            yield from ((text, str(new)) for text in texts[old])


def _refuse_ambiguous(
    reference: GenericReference, key: Key, found: set[str], new: dict[str, str]
) -> None:
    if both := sorted(found & set(new.values())):
        raise BackfillError(
            f"{reference.table}.{reference.column} contains {both[0]}, which is an old and a new "
            f"key of {key.label}: correct these rows, and migrate again"
        )
