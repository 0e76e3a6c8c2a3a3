"""Columns of texts that contain keys: those of ``GenericForeignKey`` and their like, which contain
keys of several models, and adopted ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import BigIntegerField, IntegerField, QuerySet, UUIDField

from ..backfill.engines.mysql_tables import kept_assignments
from ..db import tables
from ..db.queries import rows, value
from ..errors import BackfillError
from ..fields import SortableIDField
from .changes import Change, Key, Texts, Values

_KEYS = 500
"""Keys that are looked up in one statement."""
_UUID = 36
"""Characters of a UUID as text."""


def replace_values(editor: Any, change: Change) -> None:
    """Replace the keys in all columns of texts.

    Values that are no key of a row stay as they are: the database has no foreign key there, so the
    rows may be gone. Raises ``BackfillError`` if a new key is also an old one.
    """
    connection, quote = editor.connection, editor.quote_name
    for texts in change.texts:
        if not tables.kind(connection, texts.table):
            continue
        table, column = quote(texts.table), quote(texts.column)
        kept = kept_assignments(connection, texts.table)
        for key in change.keys:
            for condition in _conditions(connection, texts, key):
                found = _found(connection, texts, condition)
                new = dict(_new_values(connection, key, found))
                _refuse_ambiguous(texts, key, found, new)
                place = f"{condition} AND {column} = %s"
                sql = f"UPDATE {table} SET {column} = %s{kept} WHERE {place}"
                with connection.cursor() as cursor:
                    cursor.executemany(sql, [(new[each], each) for each in sorted(new)])


def problems(editor: Any, change: Change) -> Iterator[str]:
    """Columns without room for the keys."""
    connection, quote = editor.connection, editor.quote_name
    for texts in change.texts:
        if tables.kind(connection, texts.table) != "table":
            continue
        is_numeric = _is_numeric(connection, texts)
        for key in change.keys:
            is_number = isinstance(key.after, IntegerField | BigIntegerField)
            needed = _length(key.after)
            is_short = texts.room is not None and texts.room < needed
            conditions = _conditions(connection, texts, key)
            if is_number or not conditions or not (is_numeric or is_short):
                continue
            sql = f"SELECT COUNT({quote(texts.column)}) FROM {quote(texts.table)} WHERE "
            if count := value(connection, f"{sql}{' OR '.join(conditions)}"):
                room = "numbers" if is_numeric else f"{texts.room} characters"
                yield (
                    f"{count:,} rows of {texts.table}.{texts.column} contain keys of "
                    f"{key.label}, and the column has room for {room} only: make it a "
                    f"CharField(max_length={needed}), migrate, and try again"
                )


def deleted_keys(connection: Any, texts: Texts, key: Key) -> set[Any]:
    """The values of the column that may be keys, but are not those of rows."""
    found = set[str]()
    for condition in _conditions(connection, texts, key):
        found |= _found(connection, texts, condition)
    keys = {each for each in _by_key(connection, key, found) if each is not None}
    for values in key.values:
        now = values.key_field.name
        keys -= {each for (each,) in _looked_up(connection, values, list(keys), now)}
    return keys


def _conditions(connection: Any, texts: Texts, key: Key) -> list[str]:
    """The conditions in SQL for rows that contain values of the key."""
    if not texts.has(key):
        return []
    if texts.content_type is None:
        return [f"{connection.ops.quote_name(texts.column)} IS NOT NULL"]
    if not tables.kind(connection, texts.content_types):
        return []
    column, found = map(connection.ops.quote_name, (texts.content_type, texts.content_types))
    # Their keys may be any, and may move, too.
    return [
        f"{column} = (SELECT id FROM {found} WHERE app_label = '{app_label}' AND model = '{model}')"
        for app_label, model in key.content_types
    ]


def _found(connection: Any, texts: Texts, condition: str) -> set[str]:
    table, column = map(connection.ops.quote_name, (texts.table, texts.column))
    sql = f"SELECT DISTINCT {column} FROM {table} WHERE {condition}"
    return {str(each) for (each,) in rows(connection, sql) if each is not None}


def _length(field: Any) -> int:
    """Characters of a key as text."""
    if isinstance(field, SortableIDField):
        return field.scheme.canonical.length
    return _UUID if isinstance(field, UUIDField) else field.max_length or 0


def _is_numeric(connection: Any, texts: Texts) -> bool:
    found = tables.column_info(connection, texts.table, texts.column)
    return found is not None and "int" in found.kind.lower()


def _by_key(connection: Any, key: Key, found: Iterable[str]) -> dict[Any, list[str]]:
    """The texts that may stand for a key, by its value."""
    texts: dict[Any, list[str]] = {}
    is_number = isinstance(key.before, IntegerField)
    kind = key.before.get_internal_type()
    least, most = connection.ops.integer_field_range(kind) if is_number else (0, 0)
    for text in sorted(found):
        try:
            found_key = key.before.to_python(text)
        except ValidationError:
            continue
        if not is_number or least <= found_key <= most:
            texts.setdefault(found_key, []).append(text)
    return texts


def _new_values(connection: Any, key: Key, found: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The text of each next value, by the text that was found."""
    texts = _by_key(connection, key, found)
    keys = [each for each in texts if each is not None]
    for values in key.values:
        names = values.key_field.name, values.next_field.name
        for old, new in _looked_up(connection, values, keys, *names):
            yield from ((text, str(new)) for text in texts[old])


def _looked_up(connection: Any, values: Values, keys: list[Any], *names: str) -> Iterator[Any]:
    """Fields of the rows that have these keys."""
    if not tables.kind(connection, values.table):
        return
    known: QuerySet[Any] = QuerySet(values.model, using=connection.alias)
    for start in range(0, len(keys), _KEYS):
        part = known.filter(**{f"{values.key_field.name}__in": keys[start : start + _KEYS]})
        yield from part.values_list(*names)


def _refuse_ambiguous(texts: Texts, key: Key, found: set[str], new: dict[str, str]) -> None:
    if both := sorted(found & set(new.values())):
        raise BackfillError(
            f"{texts.table}.{texts.column} contains {both[0]}, which is an old and a new "
            f"key of {key.label}: correct these rows, and migrate again"
        )
